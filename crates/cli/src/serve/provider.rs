//! What the provider answers, and what it makes of the time until then. Knows no socket.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use equipoise::core::attachments::Attachments;
use equipoise::core::port::BoxFuture;
use equipoise::core::rng::RngSource;
use equipoise::protocol::code;
use equipoise::protocol::{CallContext, Handler, Status};
use equipoise::{BodyFormat, Reply, SystemRng};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::lru::Lru;
use super::pauses::Pauses;

/// The service of `equipoise serve`.
pub(crate) struct Provider {
    delay: Duration,
    error_rate: f64,
    workers: Option<Semaphore>,
    cache: Mutex<Lru<Bytes>>,
    pauses: Option<Pauses>,
}

/// The attachment of an answer to `get` that says whether the cache had the key.
pub(crate) const CACHE: &str = "cache";

/// Its value when it had.
pub(crate) const HIT: &str = "hit";

impl Provider {
    /// Answers after `delay`; a share of `error_rate` (0 to 1) with an error.
    pub(crate) fn new(delay: Duration, error_rate: f64) -> Self {
        Self { delay, error_rate, workers: None, cache: Mutex::new(Lru::new(0)), pauses: None }
    }

    /// Works on so many calls at a time.
    pub(crate) fn concurrency(mut self, calls: Option<u32>) -> Self {
        self.workers = calls.map(|n| Semaphore::new((n as usize).min(Semaphore::MAX_PERMITS)));
        self
    }

    /// Remembers so many keys.
    pub(crate) fn cache(mut self, keys: usize) -> Self {
        self.cache = Mutex::new(Lru::new(keys));
        self
    }

    /// Stops the world now and then.
    pub(crate) fn pauses(mut self, pauses: Option<Pauses>) -> Self {
        self.pauses = pauses;
        self
    }

    async fn answer(&self, call: CallContext) -> Result<Reply, Status> {
        let known = matches!(call.method(), "echo" | "get");
        if !known {
            return Err(Status::unknown_method(&call.service.to_string(), call.method()));
        }
        // Dropped with the call, whoever gives it up.
        let _place = match &self.workers {
            Some(workers) => workers.acquire().await.ok(),
            None => None,
        };
        self.pass_pause().await;
        if drawn() < self.error_rate {
            return Err(Status::new(code::UNAVAILABLE, "failed as --error-rate has it"));
        }
        match call.method() {
            "get" => self.get(call).await,
            _ => {
                self.work().await;
                Ok(Reply { body: call.body, attachments: Attachments::new() })
            }
        }
    }

    /// A look-up: at once from the cache, after the delay from behind it.
    async fn get(&self, call: CallContext) -> Result<Reply, Status> {
        let key = match call.format {
            BodyFormat::Json => first_argument(&call.body)?,
            BodyFormat::Protobuf | BodyFormat::Java => Value::Null,
        };
        let text = match call.format {
            BodyFormat::Json => Bytes::from(key.to_string()),
            BodyFormat::Protobuf | BodyFormat::Java => call.body.clone(),
        };
        let hit = self.cache.lock().unwrap_or_else(PoisonError::into_inner).touch(text);
        if !hit {
            self.work().await;
        }
        let body = match call.format {
            BodyFormat::Json => Bytes::from(json!({ "key": key, "hit": hit }).to_string()),
            BodyFormat::Protobuf | BodyFormat::Java => call.body,
        };
        let said = HashMap::from([(CACHE, if hit { HIT } else { "miss" })]);
        Ok(Reply { body, attachments: said.into_iter().collect() })
    }

    async fn work(&self) {
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
        self.pass_pause().await;
    }

    async fn pass_pause(&self) {
        if let Some(pauses) = &self.pauses {
            pauses.pass().await;
        }
    }
}

impl Handler for Provider {
    fn call<'a>(&'a self, call: CallContext) -> BoxFuture<'a, Result<Reply, Status>> {
        Box::pin(self.answer(call))
    }
}

/// The first of a list of arguments; anything else is the only one.
fn first_argument(body: &[u8]) -> Result<Value, Status> {
    match serde_json::from_slice(body) {
        Ok(Value::Array(all)) => Ok(all.into_iter().next().unwrap_or(Value::Null)),
        Ok(one) => Ok(one),
        Err(error) => Err(Status::new(code::INVALID_ARGUMENT, format!("no JSON: {error}"))),
    }
}

/// A number from 0 up to 1, all equally likely.
fn drawn() -> f64 {
    (SystemRng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use equipoise::core::service::ServiceKey;

    use super::*;

    fn call(method: &str, body: &str) -> CallContext {
        let service = Arc::new(ServiceKey::new("a.B"));
        let peer = std::net::SocketAddr::from(([127, 0, 0, 1], 1));
        CallContext::new(service, method, BodyFormat::Json, body.to_owned(), peer)
    }

    #[tokio::test]
    async fn echo_answers_with_what_it_was_given() {
        let provider = Provider::new(Duration::ZERO, 0.0);
        let reply = provider.call(call("echo", "[1, \"a\"]")).await.unwrap();
        assert_eq!(&reply.body[..], b"[1, \"a\"]");
    }

    #[tokio::test]
    async fn get_says_whether_the_key_was_in_the_cache() {
        let provider = Provider::new(Duration::ZERO, 0.0).cache(1);
        let mut said = Vec::new();
        for key in ["[\"a\"]", "[\"a\"]", "[\"b\"]", "[\"a\"]"] {
            let reply = provider.call(call("get", key)).await.unwrap();
            said.push(reply.attachments.text(CACHE).unwrap().to_owned());
        }
        assert_eq!(said, ["miss", "hit", "miss", "miss"]);
        let refused = provider.call(call("get", "{")).await.unwrap_err();
        assert_eq!(refused.code, code::INVALID_ARGUMENT);
    }

    #[tokio::test]
    async fn errors_are_unavailable_and_other_methods_unknown() {
        let provider = Provider::new(Duration::ZERO, 1.0);
        let failed = provider.call(call("echo", "[]")).await.unwrap_err();
        assert_eq!(failed.code, code::UNAVAILABLE);
        let unknown = provider.call(call("drop", "[]")).await.unwrap_err();
        assert_eq!(unknown.code, code::UNIMPLEMENTED);
    }
}
