//! The open connections to one provider: the `Connection` door of `core`.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use bytes::Bytes;
use equipoise_core::attachments::Attachments;
use equipoise_core::outcome::{Failure, FailureKind};
use equipoise_core::port::{Arguments, Body, BoxFuture, Connection, Reply, Request};
use equipoise_core::service::ServiceKey;

use crate::dubbo::client::answer::{self, Asked};
use crate::dubbo::client::channel::{Channel, PARTS, Shared};
use crate::dubbo::client::heads::Heads;
use crate::dubbo::client::settings::Settings;
use crate::dubbo::frame::FrameError;
use crate::dubbo::outgoing::Part;
use crate::java::generic;

/// The connections to one provider, shared by all calls. When one of them is lost or told to go
/// away, none takes new calls.
pub(crate) struct DubboConnection {
    channels: Vec<Arc<Channel>>,
    turn: AtomicUsize,
    shared: Arc<Shared>,
    heads: Heads,
    payload: usize,
}

impl DubboConnection {
    pub(crate) fn new(
        channels: Vec<Arc<Channel>>,
        shared: Arc<Shared>,
        settings: Settings,
    ) -> Self {
        let payload = settings.payload;
        Self { channels, turn: AtomicUsize::new(0), shared, heads: Heads::new(settings), payload }
    }

    async fn exchange(&self, request: Request) -> Result<Reply, Failure> {
        match &request.body {
            Body::Java(arguments) => {
                let types = arguments.descriptor();
                let asked = self.asked(&request.service, &request.method, types);
                self.ask(&asked, &request, arguments.as_ref()).await
            }
            Body::Json(_) => self.invoke(request).await,
            Body::Protobuf(_) => Err(Failure::not_sent(
                FailureKind::Invalid,
                "dubbo carries Java values and JSON (generic calls), no protobuf: use tri",
            )),
        }
    }

    /// A call with JSON travels as a generic one, and comes back as JSON.
    async fn invoke(&self, request: Request) -> Result<Reply, Failure> {
        let (method, types) = (request.method.clone(), request.types.clone());
        let (request, generic) = generic::request(request)?;
        let Body::Java(arguments) = &request.body else {
            return Err(Failure::not_sent(FailureKind::Invalid, "no generic call"));
        };
        let asked = self.asked(&request.service, &method, types.as_deref().unwrap_or("?"));
        generic.answer(self.ask(&asked, &request, arguments.as_ref()).await)
    }

    fn asked<'a>(&'a self, service: &'a ServiceKey, method: &'a str, types: &'a str) -> Asked<'a> {
        Asked { address: self.address(), service, method, types }
    }

    /// Sends the call and waits for its answer, if one is wanted. `asked` is the call as its caller
    /// knows it.
    async fn ask(
        &self,
        asked: &Asked<'_>,
        request: &Request,
        arguments: &dyn Arguments,
    ) -> Result<Reply, Failure> {
        let head = self.heads.head(&request.service, &request.method, arguments.descriptor());
        let values = arguments.joined()?;
        let rest = self.heads.attachments(request);
        let parts: [Part<'_>; PARTS] = [
            Part::Copy(&head.before),
            Part::Share(&values),
            Part::Copy(&head.after),
            Part::Copy(&rest),
        ];
        let size = parts.iter().map(Part::len).sum();
        if size > self.payload {
            let error = FrameError::TooLarge { size, limit: self.payload };
            return Err(Failure::not_sent(FailureKind::Serialization, format!("{asked}: {error}")));
        }
        let channel = self.channel()?;
        if request.one_way {
            channel.tell(parts).await?;
            return Ok(Reply { body: Bytes::new(), attachments: Attachments::new() });
        }
        answer::read(asked, channel.call(parts).await?, self.payload)
    }

    fn channel(&self) -> Result<&Channel, Failure> {
        let availability = &self.shared.availability;
        let turn = match self.channels.len() {
            0 | 1 => 0,
            count => self.turn.fetch_add(1, Relaxed) % count,
        };
        self.channels.get(turn).filter(|_| availability.is_available()).map(Arc::as_ref).ok_or_else(
            || {
                let text = format!("{}: {}", self.address(), availability.reason());
                Failure::not_sent(FailureKind::Network, text)
            },
        )
    }

    #[cfg(test)]
    pub(crate) fn only_channel(&self) -> &Channel {
        &self.channels[0]
    }

    fn address(&self) -> &str {
        self.channels.first().map_or("", |channel| &channel.address)
    }
}

impl Connection for DubboConnection {
    fn send<'a>(&'a self, request: Request) -> BoxFuture<'a, Result<Reply, Failure>> {
        Box::pin(self.exchange(request))
    }

    fn is_available(&self) -> bool {
        self.shared.availability.is_available()
    }

    fn unavailable<'a>(&'a self) -> BoxFuture<'a, ()> {
        Box::pin(self.shared.availability.unavailable())
    }

    fn drain(&self) {
        self.shared.drain("the connection is being drained");
        self.channels.iter().for_each(|channel| channel.outbox.wake());
    }
}

impl Drop for DubboConnection {
    fn drop(&mut self) {
        self.drain();
    }
}

impl fmt::Debug for DubboConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DubboConnection")
            .field("address", &self.address())
            .field("connections", &self.channels.len())
            .field("available", &self.is_available())
            .finish_non_exhaustive()
    }
}
