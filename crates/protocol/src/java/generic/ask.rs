//! The caller's side: JSON and types in, JSON out.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use equipoise_core::hash::key::Argument;
use equipoise_core::outcome::{Failure, FailureKind, Sent};
use equipoise_core::port::{Arguments, Body, Reply, Request};
use equipoise_hessian::{Node, NodeId, Value};

use super::{EXCEPTION_CLASS, EXCEPTION_MESSAGE, GENERIC, INVOKE, INVOKE_TYPES};
use crate::java::exception::JavaException;
use crate::java::json;
use crate::java::types::{self, JavaType};

/// What reading the answer needs to know of the question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Generic {
    /// Whether the caller gave the types of the parameters.
    typed: bool,
}

/// Turns a call with JSON into a generic call. Every other call stays as it is.
pub(crate) fn request(request: Request) -> Result<(Request, Generic), Failure> {
    let invalid = |text: String| Failure::not_sent(FailureKind::Invalid, text);
    let generic = Generic { typed: request.types.is_some() };
    let Body::Json(document) = &request.body else { return Ok((request, generic)) };
    let types = request.types.as_deref().map(types::parse_list).transpose();
    let types = types.map_err(|error| invalid(error.to_string()))?;
    let values = json::arguments(document, types.as_deref())
        .map_err(|error| invalid(format!("{}: {error}", request.method)))?;
    let body = Body::Java(Arc::new(Invoke::new(&request.method, types.as_deref(), &values)));
    let mut attachments = request.attachments;
    attachments.set(GENERIC, "true");
    let method = INVOKE.into();
    Ok((Request { method, body, types: None, attachments, ..request }, generic))
}

impl Generic {
    /// The answer to the call as it was before [`request`].
    pub(crate) fn answer(self, result: Result<Reply, Failure>) -> Result<Reply, Failure> {
        match result {
            Ok(reply) if reply.body.is_empty() => Ok(reply),
            Ok(reply) => match json::document(&reply.body) {
                Ok(body) => Ok(Reply { body, ..reply }),
                Err(error) => {
                    let text = format!("the result cannot be read: {error}");
                    Err(Failure::new(FailureKind::Serialization, text))
                }
            },
            Err(failure) => Err(self.failure(thrown(failure))),
        }
    }

    /// Says what is missing, where that may be the cause.
    fn failure(self, mut failure: Failure) -> Failure {
        use FailureKind::{Business, NoAnswer, Serialization};
        let refused = matches!(failure.kind, Business | NoAnswer | Serialization)
            && failure.exception.is_none()
            && failure.sent == Sent::Maybe;
        if !self.typed && refused {
            failure.message +=
                " (the call names no types: overloaded methods need them, as java.lang.String,int)";
        }
        failure
    }
}

/// The failure with the exception that the method threw, which a generic call has in another one.
fn thrown(mut failure: Failure) -> Failure {
    let Some(exception) = &failure.exception else { return failure };
    if !exception.class.ends_with(".GenericException") {
        return failure;
    }
    let Ok(generic) = JavaException::decode(&exception.body) else { return failure };
    let Some(class) = generic.text(EXCEPTION_CLASS) else { return failure };
    let thrown = JavaException {
        class: class.to_owned(),
        message: generic.text(EXCEPTION_MESSAGE).map(str::to_owned),
        stack: generic.stack.clone(),
        ..JavaException::default()
    };
    failure.message = thrown.to_string();
    failure.exception = Some(Box::new(thrown.to_exception()));
    failure
}

/// The three arguments of the generic call.
#[derive(Debug)]
struct Invoke {
    /// One root for each.
    values: Value,
    joined: OnceLock<Bytes>,
}

impl Invoke {
    fn new(method: &str, types: Option<&[JavaType]>, arguments: &[Value]) -> Self {
        let mut values = Value::empty();
        let method = values.add_text(method);
        let types = match types {
            Some(types) => {
                let names = types.iter().map(|ty| values.add_text(ty.to_string())).collect();
                values.add(Node::typed_list("[string", names))
            }
            None => values.add(Node::Null),
        };
        let arguments: Vec<NodeId> = arguments.iter().map(|value| values.graft(value)).collect();
        let arguments = values.add(Node::typed_list("[object", arguments));
        for root in [method, types, arguments] {
            values.add_root(root);
        }
        Self { values, joined: OnceLock::new() }
    }
}

impl Arguments for Invoke {
    fn descriptor(&self) -> &str {
        INVOKE_TYPES
    }

    fn joined(&self) -> Result<Bytes, Failure> {
        Ok(self.joined.get_or_init(|| self.values.encode().into()).clone())
    }

    fn each(&self) -> Result<Vec<Bytes>, Failure> {
        let value = |root: &NodeId| Bytes::from(self.values.part(*root).encode());
        Ok(self.values.roots().iter().map(value).collect())
    }

    // The caller's own arguments are what is hashed, before they become these.
    fn hashed(&self) -> Vec<Argument> {
        Vec::new()
    }
}
