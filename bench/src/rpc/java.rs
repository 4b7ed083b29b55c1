//! The same echo as a Java interface: an object over `dubbo`, and wrapped over `tri`.

use std::net::SocketAddr;
use std::time::Instant;

use equipoise::JavaObject;
use equipoise::java::{Context, Fault};
use equipoise::protocol::{RunningServer, Server};

use super::load::{Echo, Future, until};
use super::{SIZE, TIMEOUT};
use crate::alloc;

/// What travels both ways.
#[derive(Clone, Debug, Default, PartialEq, JavaObject)]
#[java(class = "bench.Payload")]
pub(crate) struct Payload {
    data: Vec<u8>,
}

/// The service.
#[equipoise::interface(java = "bench.Echo")]
pub(crate) trait JavaEcho {
    async fn unary(&self, call: &Context, payload: Payload) -> Result<Payload, Fault>;
}

struct Same;

impl JavaEcho for Same {
    async fn unary(&self, _: &Context, payload: Payload) -> Result<Payload, Fault> {
        alloc::tell();
        Ok(payload)
    }
}

/// Starts a server that sends back what it gets, decoded and encoded in between.
pub(super) async fn serve() -> RunningServer {
    let server =
        Server::builder().service(JavaEchoProvider::<Same>::key(), JavaEchoProvider::new(Same));
    server.bind("127.0.0.1:0").await.expect("a port")
}

/// Our consumer of it.
pub(super) struct Consumed(JavaEchoClient);

impl Consumed {
    pub(super) fn new(scheme: &str, address: SocketAddr) -> Self {
        let consumer = JavaEchoClient::builder()
            .endpoints([format!("{scheme}://{address}")])
            .timeout(TIMEOUT)
            .build()
            .expect("a usable configuration");
        Self(JavaEchoClient::new(consumer))
    }
}

impl Echo for Consumed {
    fn caller(&self, end: Instant) -> Future<Vec<f64>> {
        let client = self.0.clone();
        let payload = Payload { data: vec![7; SIZE] };
        Box::pin(until(end, move || {
            let call = client.unary(payload.clone());
            async move {
                let answer = call.await.expect("an answer");
                assert_eq!(answer.data.len(), SIZE);
            }
        }))
    }
}
