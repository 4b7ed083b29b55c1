//! Streams of users' services: what a handler takes its messages from and gives its own to, and the
//! task that it runs on.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use bytes::Bytes;
use equipoise_core::port::BodyFormat;
use futures_util::{FutureExt, Stream};
use prost::Message;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::java::{self, JavaArguments};
use crate::load::{self, LoadSource};
use crate::server::call::{Handler, Head};
use crate::server::deadline;
use crate::server::services::Entry;
use crate::status::{Status, code};
use crate::tri::frame::FrameError;
use crate::tri::server::body::Answers;
use crate::tri::server::{grpc, stream};
use crate::tri::wrapper::Wrapped;

/// How the first Java value that came was wrapped; the answers are wrapped alike.
type Wrapping = Arc<OnceLock<Wrapped>>;

/// The messages of the caller, in the order they come. They are read from the connection only as
/// they are asked for, so that a slow handler slows its caller down.
#[derive(Debug)]
pub struct Requests {
    raw: stream::Requests,
    format: BodyFormat,
    wrapping: Wrapping,
}

impl Requests {
    /// The next protobuf message as it came; `None` once the caller has said that there are no more.
    ///
    /// # Errors
    /// The stream broke off, or what came cannot be read; to be handed on. So are the messages of a
    /// method whose form is Java.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Status> {
        if self.format == BodyFormat::Java {
            return Err(Status::new(code::INTERNAL, "the messages are Java values"));
        }
        self.raw.next().await
    }

    /// The next message, decoded.
    ///
    /// # Errors
    /// As [`next`](Self::next); bytes that are no such message are status 3.
    pub async fn message<M: Message + Default>(&mut self) -> Result<Option<M>, Status> {
        let Some(bytes) = self.next().await? else { return Ok(None) };
        let message = M::decode(bytes);
        message.map(Some).map_err(|error| Status::new(code::INVALID_ARGUMENT, error.to_string()))
    }

    /// The next message where the form of the method is Java: nearly always one argument.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub async fn java(&mut self) -> Result<Option<JavaArguments>, Status> {
        if self.format != BodyFormat::Java {
            return Err(Status::new(code::INTERNAL, "the messages are no Java values"));
        }
        let Some(message) = self.raw.next().await? else { return Ok(None) };
        let (wrapped, arguments) = Wrapped::open(message)?;
        let _ = self.wrapping.set(wrapped);
        Ok(Some(arguments))
    }
}

/// Where the answers go.
#[derive(Debug)]
pub struct Responses {
    queue: mpsc::Sender<Result<Bytes, Status>>,
    format: BodyFormat,
    wrapping: Wrapping,
    returns: Option<String>,
    limit: usize,
}

impl Responses {
    /// Sends one message: protobuf, or one Hessian value where the form of the method is Java. Waits
    /// while the caller has not taken the ones before: at most two are held.
    ///
    /// # Errors
    /// Over the limit of messages (status 8), or the caller is gone (status 1); to be handed on.
    pub async fn send(&mut self, message: impl Into<Bytes>) -> Result<(), Status> {
        let mut message = message.into();
        if self.format == BodyFormat::Java {
            let wrapping = self.wrapping.get_or_init(Wrapped::default);
            message = wrapping.result(message, self.returns.as_deref());
        }
        if message.len() > self.limit {
            let error = FrameError::TooLarge { size: message.len(), limit: self.limit };
            return Err(Status::new(code::RESOURCE_EXHAUSTED, error.to_string()));
        }
        let gone = |_| Status::new(code::CANCELLED, "the caller is gone");
        self.queue.send(Ok(message)).await.map_err(gone)
    }

    /// Sends one protobuf message.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn message(&mut self, message: &impl Message) -> Result<(), Status> {
        self.send(message.encode_to_vec()).await
    }
}

/// What is known of a call when its stream begins.
pub(crate) struct Begin<'a> {
    pub(crate) entry: &'a Entry,
    pub(crate) handler: Arc<dyn Handler>,
    pub(crate) head: Head,
    pub(crate) requests: stream::Requests,
    /// Bytes of a message.
    pub(crate) limit: usize,
    /// Where the load comes from that the caller asked for.
    pub(crate) load: Option<Arc<dyn LoadSource>>,
}

/// Starts the handler on a task of its own, which ends with the answers; `held` lives as long.
pub(crate) fn start(begin: Begin<'_>, held: impl Send + 'static) -> Answers {
    let Begin { entry, handler, head, requests, limit, load } = begin;
    let until = head.deadline;
    let method = head.path.method();
    let wrapped = java::is_wrapped(&*handler, method);
    let format = if wrapped { BodyFormat::Java } else { BodyFormat::Protobuf };
    let returns = java::returns(&*handler, method, None).filter(|_| wrapped).map(str::to_owned);
    let wrapping = Wrapping::default();
    let requests = Requests { raw: requests, format, wrapping: wrapping.clone() };
    // One in the queue, and one with the connection.
    let (queue, answers) = mpsc::channel(1);
    let responses = Responses { queue: queue.clone(), format, wrapping, returns, limit };
    let call = head.context(entry.key.clone(), format, Bytes::new());
    let task = tokio::spawn(async move {
        let _held = held;
        let work = async { handler.stream(call, requests, responses).await };
        let work = AssertUnwindSafe(deadline::within(until, work)).catch_unwind();
        let mut end = match work.await {
            Ok(Ok(attachments)) => Status::new(code::OK, "").with_attachments(attachments),
            Ok(Err(status)) => grpc::no_success(status),
            Err(panic) => grpc::panicked(&*panic),
        };
        if let Some(load) = load {
            load::answer(&*load, &mut end.attachments);
        }
        // Nobody listens any more when this fails.
        let _ = queue.send(Err(end)).await;
    });
    Box::pin(Running { answers, task })
}

/// A handler that runs for as long as somebody wants its answers.
struct Running {
    answers: mpsc::Receiver<Result<Bytes, Status>>,
    task: JoinHandle<()>,
}

impl Stream for Running {
    type Item = Result<Bytes, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.answers.poll_recv(cx)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}
