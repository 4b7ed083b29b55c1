//! One call, put together by the caller: what it is routed and hashed by, how long it may take, and
//! its arguments as a protobuf message, as JSON, as Java values or as bytes.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use equipoise_core::attachments::Attachments;
use equipoise_core::call::{Call, Method};
use equipoise_core::hash::key::Argument;
use equipoise_core::outcome::{Failure, FailureKind};
use equipoise_core::port::{Arguments, Body, BodyFormat, Reply, Request};
use equipoise_core::stream::{StreamKind, StreamRequest};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use crate::consumer::Shared;
use crate::error::CallError;
use crate::flow::Flow;
use crate::intercept::NextCall;
use crate::key::OwnKey;
use crate::streaming::{MessageReceiver, MessageStream, Opener, Streaming};

/// A call that has not been sent.
#[must_use = "nothing is sent until it is awaited"]
pub struct CallBuilder {
    shared: Arc<Shared>,
    method: Arc<str>,
    key: OwnKey,
    tag: Option<String>,
    force_tag: Option<bool>,
    timeout: Option<Duration>,
    deadline: Option<Duration>,
    retries: Option<i64>,
    types: Option<Arc<str>>,
    one_way: bool,
    attachments: Attachments,
}

impl CallBuilder {
    pub(crate) fn new(shared: Arc<Shared>, method: &str) -> Self {
        Self {
            attachments: shared.attachments.clone(),
            shared,
            method: Arc::from(method),
            key: OwnKey::Missing,
            tag: None,
            force_tag: None,
            timeout: None,
            deadline: None,
            retries: None,
            types: None,
            one_way: false,
        }
    }

    /// What `consistenthash` hashes.
    pub fn key(mut self, text: impl Into<String>) -> Self {
        self.key = OwnKey::Text(text.into());
        self
    }

    /// The arguments, of which `hash.arguments` selects the key. An empty list says that the method
    /// has none.
    pub fn arguments(mut self, arguments: impl IntoIterator<Item = Argument>) -> Self {
        self.key = OwnKey::Arguments(arguments.into_iter().collect());
        self
    }

    /// Tag of the request, instead of the configured one.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tag = Some(tag.into());
        self
    }

    /// Whether the tag must be met.
    pub fn force_tag(mut self, force: bool) -> Self {
        self.force_tag = Some(force);
        self
    }

    /// Time for one attempt, instead of the configured one.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = Some(time);
        self
    }

    /// Time for all attempts together, instead of the configured one.
    pub fn deadline(mut self, time: Duration) -> Self {
        self.deadline = Some(time);
        self
    }

    /// Attempts after the first, instead of the configured number.
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = Some(i64::from(retries));
        self
    }

    /// Java types of the parameters of a call with JSON arguments, in source form and separated by
    /// commas (`java.lang.String,int`). Needed where a method has overloads; protocols whose calls
    /// carry no types do not look at it.
    pub fn types(mut self, types: impl Into<Arc<str>>) -> Self {
        self.types = Some(types.into());
        self
    }

    /// Wants no answer: over `dubbo` the call ends when it is sent. `tri` has no such thing, and there
    /// it ends, as in Dubbo's own consumer, when it is answered. The reply is empty either way.
    pub fn one_way(mut self) -> Self {
        self.one_way = true;
        self
    }

    /// An attachment that travels.
    pub fn attachment(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.attachments.set(key, value);
        self
    }

    /// An attachment of bytes that travels.
    pub fn binary_attachment(mut self, key: impl Into<String>, value: impl Into<Bytes>) -> Self {
        self.attachments.set_binary(key, value);
        self
    }

    /// Sends a protobuf message and reads one.
    ///
    /// # Errors
    /// The call got no answer, or one that is no such message.
    pub async fn typed<R: prost::Message + Default>(
        self,
        message: &impl prost::Message,
    ) -> Result<R, CallError> {
        let flow = self.flow(Body::Protobuf(Bytes::from(message.encode_to_vec())))?;
        let reply = run(flow.clone()).await?;
        R::decode(reply.body).map_err(|e| unreadable(&flow, &e))
    }

    /// Sends JSON and reads JSON. A list of arguments is an array.
    ///
    /// # Errors
    /// The arguments cannot be written, the call got no answer, or one that cannot be read as `R`.
    pub async fn json<R: DeserializeOwned>(
        self,
        arguments: &impl Serialize,
    ) -> Result<R, CallError> {
        let body = match serde_json::to_vec(arguments) {
            Ok(body) => Bytes::from(body),
            Err(e) => {
                let flow = self.flow(Body::Json(Bytes::new()))?;
                let reason = format!("the arguments cannot be written: {e}");
                return Err(flow.error(Failure::not_sent(FailureKind::Serialization, reason)));
            }
        };
        let flow = self.flow(Body::Json(body))?;
        let reply = run(flow.clone()).await?;
        serde_json::from_slice(&reply.body).map_err(|e| unreadable(&flow, &e))
    }

    /// Sends bytes as they are and returns the answer as it is, with its attachments.
    ///
    /// # Errors
    /// The call got no answer.
    pub async fn raw(self, body: Body) -> Result<Reply, CallError> {
        run(self.flow(body)?).await
    }

    /// Sends Java values; the reply's body is one Hessian value. An exception that the method threw
    /// is in [`CallError::failure`].
    ///
    /// # Errors
    /// The call got no answer, or an exception.
    pub async fn java(self, arguments: Arc<dyn Arguments>) -> Result<Reply, CallError> {
        self.raw(Body::Java(arguments)).await
    }

    /// Sends Java values and reads the result with `read`; gives the answer's attachments, too.
    ///
    /// # Errors
    /// As [`java`](Self::java), or `read` cannot.
    pub async fn java_read<R, E: std::fmt::Display>(
        self,
        arguments: Arc<dyn Arguments>,
        read: impl FnOnce(&[u8]) -> Result<R, E>,
    ) -> Result<(R, Attachments), CallError> {
        let flow = self.flow(Body::Java(arguments))?;
        let reply = run(flow.clone()).await?;
        let result = read(&reply.body).map_err(|error| unreadable(&flow, &error))?;
        Ok((result, reply.attachments))
    }

    /// Opens a stream whose method takes one protobuf message and answers with many.
    ///
    /// # Errors
    /// The stream cannot be opened at anybody.
    pub async fn server_streaming<R: prost::Message + Default>(
        self,
        message: &impl prost::Message,
    ) -> Result<MessageReceiver<R>, CallError> {
        let message = Body::protobuf(message.encode_to_vec());
        self.raw_server_streaming(message).await.map(MessageReceiver::new)
    }

    /// Opens a stream whose method takes many protobuf messages and answers with one:
    /// [`MessageStream::answer`].
    ///
    /// # Errors
    /// The stream cannot be opened at anybody.
    pub async fn client_streaming<M, R>(self) -> Result<MessageStream<M, R>, CallError>
    where
        M: prost::Message,
        R: prost::Message + Default,
    {
        let open = self.raw_stream(StreamKind::Client, BodyFormat::Protobuf).await;
        open.map(MessageStream::new)
    }

    /// Opens a stream of protobuf messages both ways.
    ///
    /// # Errors
    /// The stream cannot be opened at anybody.
    pub async fn bidi<M, R>(self) -> Result<MessageStream<M, R>, CallError>
    where
        M: prost::Message,
        R: prost::Message + Default,
    {
        let open = self.raw_stream(StreamKind::Both, BodyFormat::Protobuf).await;
        open.map(MessageStream::new)
    }

    /// Opens a stream whose method takes one message, protobuf or Java values, and answers with many
    /// of that form.
    ///
    /// # Errors
    /// The stream cannot be opened at anybody.
    pub async fn raw_server_streaming(self, message: Body) -> Result<Streaming, CallError> {
        self.opened(StreamKind::Server, message.format(), Some(message)).await
    }

    /// Opens a stream of messages of this form, protobuf or Java. What `consistenthash` hashes must
    /// be given with [`key`](Self::key) or [`arguments`](Self::arguments). A stream of kind
    /// [`StreamKind::Server`] takes one message and then [`Streaming::finish`].
    ///
    /// # Errors
    /// The stream cannot be opened at anybody.
    pub async fn raw_stream(
        self,
        kind: StreamKind,
        format: BodyFormat,
    ) -> Result<Streaming, CallError> {
        self.opened(kind, format, None).await
    }

    async fn opened(
        self,
        kind: StreamKind,
        format: BodyFormat,
        first: Option<Body>,
    ) -> Result<Streaming, CallError> {
        // A deadline in the configuration is meant for calls with one answer.
        let deadline = self.deadline.and_then(|time| Instant::now().checked_add(time));
        let body = first.clone().unwrap_or_else(|| Body::protobuf(Bytes::new()));
        let mut flow = self.flow(body)?;
        if let Some(flow) = Arc::get_mut(&mut flow) {
            flow.deadline = deadline;
        }
        let request = StreamRequest {
            service: flow.request.service.clone(),
            method: flow.request.method.clone(),
            kind,
            format,
            attachments: flow.request.attachments.clone(),
            timeout: None,
        };
        Streaming::open(Opener::new(flow, request, first)).await
    }

    fn flow(self, body: Body) -> Result<Arc<Flow>, CallError> {
        let view = self.shared.view.load();
        let method = view.method(Method::Name(&self.method));
        let mut call = Call::of(method);
        call.tag = self.tag.as_deref();
        call.force_tag = self.force_tag;
        let candidates = self.shared.candidates(&view, &call);
        let plan = candidates.plan().clone();
        let mut attachments = self.attachments;
        // The provider may call on behalf of this request, and must then keep its tag.
        if let Some(tag) = self.tag.as_deref().or(plan.tag.as_deref()).filter(|t| !t.is_empty()) {
            attachments.set("dubbo.tag", tag);
        }
        let request = Request {
            service: view.service().key.clone(),
            method: self.method,
            body,
            types: self.types,
            one_way: self.one_way,
            attachments,
            timeout: None,
        };
        let (hash, invalid) = match self.key.hash(candidates, &request) {
            Ok(hash) => (hash, None),
            Err(failure) => (None, Some(failure)),
        };
        drop(view);
        // A deadline beyond every clock is none.
        let deadline =
            self.deadline.or(plan.deadline).and_then(|time| Instant::now().checked_add(time));
        let flow = Arc::new(Flow {
            shared: self.shared,
            plan,
            method,
            request,
            key: self.key,
            hash,
            tag: self.tag,
            force_tag: self.force_tag,
            timeout: self.timeout,
            retries: self.retries,
            deadline,
            failed: Mutex::default(),
            moved: AtomicBool::new(false),
        });
        match invalid {
            None => Ok(flow),
            Some(failure) => Err(flow.error(failure)),
        }
    }
}

async fn run(flow: Arc<Flow>) -> Result<Reply, CallError> {
    let shared = flow.shared.clone();
    match &*shared.interceptors {
        [] => to_policy(flow).await,
        rest => NextCall { rest, flow: &flow }.run(flow.request.clone()).await,
    }
}

/// The call behind all interceptors.
pub(crate) async fn to_policy(flow: Arc<Flow>) -> Result<Reply, CallError> {
    let policy = match flow.shared.policy(&flow.plan.policy) {
        Ok(policy) => policy,
        Err(error) => {
            return Err(flow.error(Failure::not_sent(FailureKind::Invalid, error.to_string())));
        }
    };
    if let Some(budget) = &flow.shared.budget {
        budget.called();
    }
    policy.policy().run(flow).await
}

fn unreadable(flow: &Flow, error: &dyn std::fmt::Display) -> CallError {
    flow.error(Failure::new(
        FailureKind::Serialization,
        format!("the answer cannot be read: {error}"),
    ))
}
