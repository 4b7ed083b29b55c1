//! The provider's side: what every service of Java values has beside its own methods.

use std::sync::Arc;

use bytes::Bytes;
use equipoise_core::attachments::{AttachmentValue, Attachments};
use equipoise_core::port::{BodyFormat, Reply};
use equipoise_hessian::{Limits, Node, Value};

use super::{ECHO, GENERIC, INVOKE, INVOKE_ASYNC, general, is_builtin};
use crate::java::types::{self, JavaType};
use crate::java::{JavaArguments, JavaValues, graph, json};
use crate::server::{CallContext, Handler};
use crate::status::{Status, code};

/// How many times the places of a call may be copied into arguments, which do not share them any more.
const COPIES: usize = 4;

/// Whether a request of this method holds Java values.
pub(crate) fn is_wrapped(handler: &dyn Handler, method: &str) -> bool {
    is_builtin(method) || handler.form(method) == BodyFormat::Java
}

/// The declared type of a method's result, if it is known.
pub(crate) fn returns<'h>(
    handler: &'h dyn Handler,
    method: &str,
    types: Option<&str>,
) -> Option<&'h str> {
    if is_builtin(method) { Some("java.lang.Object") } else { handler.returns(method, types) }
}

/// Answers one call of Java values: by the handler, or here if the method is one that every service
/// has. The reply is one Hessian value.
pub(crate) async fn serve(handler: &dyn Handler, call: CallContext) -> Result<Reply, Status> {
    match call.method() {
        ECHO => echo(&call),
        INVOKE | INVOKE_ASYNC => invoke(handler, call).await,
        _ => handler.call(call).await,
    }
}

fn wrong(text: impl Into<String>) -> Status {
    Status::new(code::INVALID_ARGUMENT, text)
}

/// The values of the arguments, of which there must be `count`.
fn values(call: &CallContext, count: usize) -> Result<Vec<Value>, Status> {
    let unreadable = |error: equipoise_hessian::Error| wrong(format!("the arguments: {error}"));
    let values: Vec<Value> = match call.java.as_ref().map(|java| &java.values) {
        Some(JavaValues::Joined(bytes)) => {
            let limits = Limits::for_payload(bytes.len().max(crate::MAX_MESSAGE_BYTES));
            let all = Value::decode_sequence(bytes, &limits).map_err(unreadable)?;
            // Parts are copies: no more of them than are wanted.
            all.roots().iter().take(count + 1).map(|root| all.part(*root)).collect()
        }
        Some(JavaValues::Each(each)) => {
            let each = each.iter().take(count + 1).map(|bytes| json::decode(bytes));
            each.collect::<Result<_, _>>().map_err(unreadable)?
        }
        None => Vec::new(),
    };
    if values.len() == count {
        return Ok(values);
    }
    Err(wrong(format!("{} takes {count} arguments", call.method())))
}

fn echo(call: &CallContext) -> Result<Reply, Status> {
    let body = match values(call, 1)?.first() {
        Some(value) => value.encode().into(),
        None => Bytes::new(),
    };
    Ok(Reply { body, attachments: Attachments::new() })
}

async fn invoke(handler: &dyn Handler, call: CallContext) -> Result<Reply, Status> {
    let call = unpacked(handler, call)?;
    match handler.call(call).await {
        Ok(reply) if reply.body.is_empty() => Ok(reply),
        Ok(reply) => {
            let body = general::result(&reply.body, &|class| handler.is_enum(class));
            let body = body.map_err(|error| {
                Status::new(code::INTERNAL, format!("the result has no general form: {error}"))
            })?;
            Ok(Reply { body: body.into(), ..reply })
        }
        Err(mut status) => {
            if let Some(exception) = &mut status.exception {
                **exception = general::exception(exception);
            }
            Err(status)
        }
    }
}

/// The call of the method that a generic call means.
fn unpacked(handler: &dyn Handler, mut call: CallContext) -> Result<CallContext, Status> {
    check_mode(call.attachments.remove(GENERIC))?;
    let values = values(&call, 3)?;
    let [method, types, arguments] = values.as_slice() else {
        return Err(wrong("a generic call takes 3 arguments"));
    };
    let method: Arc<str> = match method.str(method.root()) {
        Some(method) => method.into(),
        None => return Err(wrong("the first argument of a generic call is a method's name")),
    };
    if is_builtin(&method) || handler.form(&method) != BodyFormat::Java {
        let text = format!("{method} of {} cannot be called generically", call.service.interface);
        return Err(Status::new(code::UNIMPLEMENTED, text));
    }
    let types = read_types(types)?;
    let values = read_arguments(arguments, types.as_deref())?;
    let types = types.map(|types| types::descriptor(&types).into());
    let java = JavaArguments { types, values: JavaValues::Each(values) };
    Ok(call.into_java(method, java))
}

fn check_mode(mode: Option<AttachmentValue>) -> Result<(), Status> {
    match mode {
        None => Ok(()),
        Some(AttachmentValue::Text(mode))
            if mode.is_empty() || mode.eq_ignore_ascii_case("true") =>
        {
            Ok(())
        }
        Some(AttachmentValue::Text(mode)) => {
            let text = format!("generic={mode} is not supported; generic=true is");
            Err(Status::new(code::UNIMPLEMENTED, text))
        }
        Some(AttachmentValue::Binary(_)) => Err(wrong("the attachment generic is no text")),
    }
}

/// The types of the parameters; null is none.
fn read_types(types: &Value) -> Result<Option<Vec<JavaType>>, Status> {
    let names = match types.root_node() {
        Node::Null => return Ok(None),
        Node::List(_, names) => names,
        _ => return Err(wrong("the second argument of a generic call is a list of types")),
    };
    let ty = |(at, name)| {
        let name = types.str(name);
        let name = name.ok_or_else(|| wrong(format!("the type of parameter {at} is no text")))?;
        JavaType::parse(name).map_err(|error| wrong(error.to_string()))
    };
    names.iter().copied().enumerate().map(ty).collect::<Result<_, _>>().map(Some)
}

/// The arguments, each as it would have come in a call that is not generic.
fn read_arguments(values: &Value, types: Option<&[JavaType]>) -> Result<Vec<Bytes>, Status> {
    let items = match values.root_node() {
        Node::Null => &[][..],
        Node::List(_, items) => items,
        _ => return Err(wrong("the third argument of a generic call is a list of arguments")),
    };
    if let Some(types) = types
        && types.len() != items.len()
    {
        let text = format!("{} arguments for {} types", items.len(), types.len());
        return Err(wrong(text));
    }
    let mut room = graph::places(values, values.root()).saturating_mul(COPIES);
    let mut arguments = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        let argument = values.part(*item);
        room = room
            .checked_sub(graph::places(&argument, argument.root()))
            .ok_or_else(|| wrong("the arguments refer to the same parts too often"))?;
        let ty = types.and_then(|types| types.get(at));
        arguments.push(typed(argument, ty).encode().into());
    }
    Ok(arguments)
}

/// A value by its declared type, where generic callers write it in another way: a date as text, an
/// `int` where a `long` is declared. What does not fit stays, for the method to refuse.
fn typed(value: Value, ty: Option<&JavaType>) -> Value {
    let Some(ty) = ty else { return value };
    let is_plain = |node: &Node| {
        matches!(
            node,
            Node::Null
                | Node::Bool(_)
                | Node::Int(_)
                | Node::Long(_)
                | Node::Double(_)
                | Node::Str(_)
        )
    };
    let plain = match value.root_node() {
        Node::List(_, items) => {
            ty.dimensions > 0 && items.iter().all(|item| is_plain(value.node(*item)))
        }
        node => is_plain(node),
    };
    if !plain {
        return value;
    }
    let typed = json::from_value(&value).and_then(|json| json::to_value(&json, Some(ty)));
    typed.unwrap_or(value)
}
