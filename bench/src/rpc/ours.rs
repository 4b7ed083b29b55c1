//! Our servers, bare connections of our protocol, and our consumer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use equipoise::core::attachments::Attachments;
use equipoise::core::port::{Connection, Protocol, Request};
use equipoise::core::service::ServiceKey;
use equipoise::core::url::Url;
use equipoise::protocol::{CallContext, RunningServer, Server, Status, Tri};
use equipoise::{Body, Consumer, Reply};
use prost::Message;

use super::load::{Echo, Future, until};
use super::{METHOD, Payload, SERVICE, SIZE, TIMEOUT};
use crate::alloc;

/// Servers that run as long as this is kept.
pub(super) struct Servers {
    pub(super) addresses: Vec<SocketAddr>,
    running: Vec<RunningServer>,
}

/// Starts servers that send back what they get, decoded and encoded in between as tonic does.
pub(super) async fn serve(count: usize) -> Servers {
    let mut servers = Servers { addresses: Vec::new(), running: Vec::new() };
    for _ in 0..count {
        let answer = |call: CallContext| async move {
            let message = Payload::decode(call.body);
            alloc::tell();
            let message = message.map_err(|e| Status::new(3, e.to_string()))?;
            Ok(Reply { body: message.encode_to_vec().into(), attachments: Attachments::new() })
        };
        let server = Server::builder()
            .service(ServiceKey::new(SERVICE), Arc::new(answer))
            .bind("127.0.0.1:0")
            .await
            .expect("a port");
        servers.addresses.push(server.local_addr());
        servers.running.push(server);
    }
    servers
}

/// Connections used in turn, nothing else: what a balancer is compared with.
pub(super) struct Plain {
    connections: Arc<[Arc<dyn Connection>]>,
    next: Arc<AtomicUsize>,
}

impl Plain {
    pub(super) async fn connect(addresses: &[SocketAddr]) -> Self {
        let tri = Tri::new();
        let mut connections = Vec::new();
        for address in addresses {
            let target = Url::parse(&format!("tri://{address}")).expect("an address");
            connections.push(tri.connect(&target).await.expect("a connection"));
        }
        Self { connections: connections.into(), next: Arc::default() }
    }
}

impl Echo for Plain {
    fn caller(&self, end: Instant) -> Future<Vec<f64>> {
        let (connections, next) = (self.connections.clone(), self.next.clone());
        let (service, method) = (Arc::new(ServiceKey::new(SERVICE)), Arc::<str>::from(METHOD));
        let message = Payload::new();
        Box::pin(until(end, move || {
            let at = next.fetch_add(1, Relaxed) % connections.len();
            let connection = connections[at].clone();
            let request = Request {
                service: service.clone(),
                method: method.clone(),
                body: Body::protobuf(message.encode_to_vec()),
                types: None,
                one_way: false,
                attachments: Attachments::new(),
                timeout: Some(TIMEOUT),
            };
            async move {
                let reply = tokio::time::timeout(TIMEOUT, connection.send(request)).await;
                let reply = reply.expect("an answer in time").expect("an answer");
                let message = Payload::decode(reply.body).expect("the message");
                assert_eq!(message.data.len(), SIZE);
            }
        }))
    }
}

/// Our consumer.
pub(super) struct Consumed(Consumer);

impl Consumed {
    pub(super) fn new(addresses: &[SocketAddr], strategy: &str) -> Self {
        let consumer = equipoise::consumer(SERVICE)
            .endpoints(addresses.iter().map(|address| format!("tri://{address}")))
            .strategy(strategy)
            .timeout(TIMEOUT)
            .build()
            .expect("a usable configuration");
        Self(consumer)
    }
}

impl Echo for Consumed {
    fn caller(&self, end: Instant) -> Future<Vec<f64>> {
        let consumer = self.0.clone();
        let message = Payload::new();
        Box::pin(until(end, move || {
            let (call, message) = (consumer.call(METHOD), message.clone());
            async move {
                let answer: Payload = call.typed(&message).await.expect("an answer");
                assert_eq!(answer.data.len(), SIZE);
            }
        }))
    }
}
