//! tonic's servers and clients, with its own balancer and with tower's.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Instant;

use tonic::body::Body;
use tonic::client::{Grpc, GrpcService};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::codegen::http::{Request as HttpRequest, Response as HttpResponse};
use tonic::server::NamedService;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;
use tower::Service;
use tower::balance::p2c::Balance;
use tower::buffer::Buffer;
use tower::discover::ServiceList;
use tower::load::{CompleteOnResponse, PendingRequests};

use super::load::{Echo, Future, until};
use super::{Payload, SIZE, TIMEOUT};
use crate::alloc;

/// The service, as generated code would have it.
#[derive(Clone)]
struct EchoServer;

impl NamedService for EchoServer {
    const NAME: &'static str = super::SERVICE;
}

impl Service<HttpRequest<Body>> for EchoServer {
    type Response = HttpResponse<Body>;
    type Error = Infallible;
    type Future = Future<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequest<Body>) -> Self::Future {
        Box::pin(async move {
            let codec = ProstCodec::<Payload, Payload>::default();
            Ok(tonic::server::Grpc::new(codec).unary(Unary, request).await)
        })
    }
}

struct Unary;

impl Service<Request<Payload>> for Unary {
    type Response = Response<Payload>;
    type Error = Status;
    type Future = std::future::Ready<Result<Self::Response, Status>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Payload>) -> Self::Future {
        alloc::tell();
        std::future::ready(Ok(Response::new(request.into_inner())))
    }
}

/// Starts servers that send back what they get.
pub(super) async fn serve(count: usize) -> Vec<SocketAddr> {
    let mut addresses = Vec::new();
    for _ in 0..count {
        let any = "127.0.0.1:0".parse().expect("an address");
        let incoming = TcpIncoming::bind(any).expect("a port").with_nodelay(Some(true));
        addresses.push(incoming.local_addr().expect("an address"));
        tokio::spawn(Server::builder().add_service(EchoServer).serve_with_incoming(incoming));
    }
    addresses
}

fn endpoint(address: &SocketAddr) -> Endpoint {
    Endpoint::from_shared(format!("http://{address}")).expect("an address").tcp_nodelay(true)
}

async fn channels(addresses: &[SocketAddr]) -> Vec<Channel> {
    let mut channels = Vec::new();
    for address in addresses {
        channels.push(endpoint(address).connect().await.expect("a connection"));
    }
    channels
}

/// One call through whatever service.
async fn call<S>(service: S, message: Payload)
where
    S: GrpcService<Body>,
    S::ResponseBody: tonic::codegen::Body<Data = bytes::Bytes> + Send + 'static,
    <S::ResponseBody as tonic::codegen::Body>::Error: Into<tonic::codegen::StdError>,
{
    let mut grpc = Grpc::new(service);
    let ready = grpc.ready().await.map_err(|_| "not ready");
    ready.expect("a service that is ready");
    let path = PathAndQuery::from_static("/bench.Echo/Unary");
    let codec = ProstCodec::<Payload, Payload>::default();
    let mut request = Request::new(message);
    request.set_timeout(TIMEOUT);
    let answer = grpc.unary(request, path, codec).await.expect("an answer");
    assert_eq!(answer.get_ref().data.len(), SIZE);
}

/// Channels used in turn, nothing else.
pub(super) struct Plain {
    channels: Arc<[Channel]>,
    next: Arc<AtomicUsize>,
}

impl Plain {
    pub(super) async fn connect(addresses: &[SocketAddr]) -> Self {
        Self { channels: channels(addresses).await.into(), next: Arc::default() }
    }
}

impl Echo for Plain {
    fn caller(&self, end: Instant) -> Future<Vec<f64>> {
        let (channels, next) = (self.channels.clone(), self.next.clone());
        let message = Payload::new();
        Box::pin(until(end, move || {
            let at = next.fetch_add(1, Relaxed) % channels.len();
            call(channels[at].clone(), message.clone())
        }))
    }
}

/// tonic's own balancer. Its connections all report a load of 0, so its choice is a random one.
pub(super) struct Listed(Channel);

impl Listed {
    pub(super) fn new(addresses: &[SocketAddr]) -> Self {
        Self(Channel::balance_list(addresses.iter().map(endpoint)))
    }
}

impl Echo for Listed {
    fn caller(&self, end: Instant) -> Future<Vec<f64>> {
        let (channel, message) = (self.0.clone(), Payload::new());
        Box::pin(until(end, move || call(channel.clone(), message.clone())))
    }
}

type Call = HttpRequest<Body>;
type Balanced = Balance<ServiceList<Vec<PendingRequests<Channel>>>, Call>;

/// tower's balancer by calls in flight; shared by all callers, so it needs a queue in front.
#[derive(Clone)]
pub(super) struct P2c(Buffer<Call, <Balanced as Service<Call>>::Future>);

impl P2c {
    pub(super) async fn connect(addresses: &[SocketAddr]) -> Self {
        let counted = |channel| PendingRequests::new(channel, CompleteOnResponse::default());
        let all = channels(addresses).await.into_iter().map(counted).collect();
        let balanced: Balanced = Balance::new(ServiceList::new::<Call>(all));
        Self(Buffer::new(balanced, 1024))
    }
}

impl Service<Call> for P2c {
    type Response = HttpResponse<Body>;
    type Error = tower::BoxError;
    type Future = Future<Result<Self::Response, tower::BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), tower::BoxError>> {
        Service::poll_ready(&mut self.0, context)
    }

    fn call(&mut self, request: Call) -> Self::Future {
        Box::pin(Service::call(&mut self.0, request))
    }
}

impl Echo for P2c {
    fn caller(&self, end: Instant) -> Future<Vec<f64>> {
        let (service, message) = (self.clone(), Payload::new());
        Box::pin(until(end, move || call(service.clone(), message.clone())))
    }
}
