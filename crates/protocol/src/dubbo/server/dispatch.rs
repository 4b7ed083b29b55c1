//! From a request to the call of the service that answers it.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use equipoise_core::port::Reply;
use tokio::time::Instant;

use crate::dubbo::frame::{Header, status};
use crate::dubbo::server::request::{Heads, Invocation};
use crate::dubbo::server::response::{self, Asked, Frame};
use crate::java::{self, JavaArguments, JavaValues};
use crate::load;
use crate::server::Shared;
use crate::server::call::{CallContext, Handler};
use crate::server::services::{Entry, Missing};
use crate::server::terms::Refused;
use crate::status::Status;
use crate::tri::server::grpc::answered;

/// Services that an error names.
const NAMED: usize = 16;

/// The work of a handler.
pub(crate) type Work = Pin<Box<dyn Future<Output = Result<Reply, Status>> + Send>>;

/// A call that may begin.
pub(crate) struct Call {
    pub(crate) work: Work,
    pub(crate) deadline: Option<Instant>,
    pub(crate) reply: ReplyTo,
}

/// How to answer a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplyTo {
    asked: Asked,
    pub(crate) two_way: bool,
    /// Whether the caller wants to know how loaded the provider is.
    feedback: bool,
    peer: SocketAddr,
}

/// Why a request is not answered by a service.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) status: u8,
    pub(crate) text: String,
}

impl Refusal {
    fn new(status: u8, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    /// What cannot be read.
    pub(crate) fn unreadable(error: impl std::fmt::Display) -> Self {
        Self::new(status::BAD_REQUEST, format!("Fail to decode request due to: {error}"))
    }
}

/// Prepares the call that a request asks for.
pub(crate) fn open(
    shared: &Arc<Shared>,
    heads: &mut Heads,
    (header, body): (&Header, &Bytes),
    peer: SocketAddr,
) -> Result<Call, Refusal> {
    let invocation = heads
        .read(body, shared.limits.max_message)
        .map_err(|error| Refusal::new(status::BAD_REQUEST, error.to_string()))?;
    let (entry, handler) = find(shared, &invocation)?;
    let head = &invocation.head;
    let admitted = entry.terms.admit(&head.method, invocation.token.as_deref());
    let admitted = admitted.map_err(|refused| not_admitted(refused, entry, &invocation, peer))?;
    let running = shared.admit();
    let running =
        running.map_err(|full| Refusal::new(status::THREADPOOL_EXHAUSTED, full.message))?;
    let deadline = invocation.deadline(header.two_way);
    if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
        return Err(overdue());
    }
    let reply = ReplyTo {
        asked: Asked { id: header.id, attached: head.attached },
        two_way: header.two_way,
        feedback: load::asked(&invocation.attachments),
        peer,
    };
    let (handler, key, method) = (handler.clone(), entry.key.clone(), head.method.clone());
    let values = JavaValues::Joined(invocation.arguments);
    let arguments = JavaArguments { types: Some(head.descriptor.clone()), values };
    let context =
        CallContext::of_java(key, method, arguments, invocation.attachments, deadline, peer);
    Ok(Call { work: work(handler, context, (admitted, running)), deadline, reply })
}

/// Everything of the handler's, its panics included, happens when this is polled.
fn work(handler: Arc<dyn Handler>, context: CallContext, permits: impl Send + 'static) -> Work {
    Box::pin(answered(async move {
        let _permits = permits;
        java::serve(handler.as_ref(), context).await
    }))
}

/// The refusal of a call whose time is up.
pub(crate) fn overdue() -> Refusal {
    Refusal::new(status::SERVER_TIMEOUT, "the deadline is over")
}

fn find<'s>(
    shared: &'s Shared,
    invocation: &Invocation,
) -> Result<(&'s Entry, &'s Arc<dyn Handler>), Refusal> {
    let (path, group, version) = (invocation.path(), &invocation.group, invocation.version());
    shared.services.find_exact(path, group, version).map_err(|missing| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let (status, what, there) = match missing {
            Missing::Interface => (status::BAD_REQUEST, "no such service", shared.services.keys(None)),
            Missing::Version => {
                (status::BAD_REQUEST, "no such version", shared.services.keys(Some(name)))
            }
            Missing::Group => {
                (status::SERVICE_ERROR, "no such group", shared.services.keys(Some(name)))
            }
        };
        let (group, slash) = if group.is_empty() { ("", "") } else { (group.as_str(), "/") };
        let (colon, version) = if version.is_empty() { ("", "") } else { (":", version) };
        let more = if there.len() > NAMED { ", …" } else { "" };
        let there = there.get(..there.len().min(NAMED)).unwrap_or_default().join(", ");
        let text = format!(
            "Not found exported service: {group}{slash}{path}{colon}{version} in [{there}{more}]: {what}"
        );
        Refusal::new(status, text)
    })
}

fn not_admitted(
    refused: Refused,
    entry: &Entry,
    invocation: &Invocation,
    peer: SocketAddr,
) -> Refusal {
    let (service, method) = (&entry.key, &invocation.head.method);
    match refused {
        Refused::Token => {
            let text = format!(
                "org.apache.dubbo.rpc.RpcException: Invalid token! Forbid invoke remote service \
                 {service} method {method}() from consumer {peer}: {refused}"
            );
            Refusal::new(status::SERVICE_ERROR, text)
        }
        Refused::Executes(_) => {
            let text = format!("{service} method {method}: {refused}");
            Refusal::new(status::THREADPOOL_EXHAUSTED, text)
        }
    }
}

impl ReplyTo {
    /// The frame with a result.
    pub(crate) fn frame(&self, shared: &Shared, mut result: Result<Reply, Status>) -> Frame {
        if self.feedback {
            let attachments = match &mut result {
                Ok(reply) => &mut reply.attachments,
                Err(status) => &mut status.attachments,
            };
            load::answer(shared.load.as_ref(), attachments);
        }
        response::result(self.asked, result, shared.limits.max_message, &self.peer)
    }

    /// The frame of a refusal.
    pub(crate) fn refuse(&self, refusal: &Refusal) -> Frame {
        Frame::error(self.asked.id, refusal.status, &refusal.text)
    }
}
