//! The built-in services over a bare gRPC client: health, reflection.
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

mod common;

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use common::{connect, framed, request, serve, status};
use equipoise_core::port::Request;
use equipoise_core::service::ServiceKey;
use equipoise_protocol::Server;
use equipoise_protocol::{BindError, code};
use h2::client::SendRequest;
use h2::{RecvStream, SendStream};
use http::HeaderMap;
use prost::Message;
use prost_types::{FileDescriptorProto, FileDescriptorSet, ServiceDescriptorProto};
use tokio::net::TcpStream;

/// A bare HTTP/2 client.
async fn client(server: &equipoise_protocol::RunningServer) -> SendRequest<Bytes> {
    let socket = TcpStream::connect(server.local_addr()).await.unwrap();
    let (sender, connection) = h2::client::handshake(socket).await.unwrap();
    tokio::spawn(async move {
        let _ = connection.await;
    });
    sender
}

/// A stream of messages both ways.
struct Stream {
    send: SendStream<Bytes>,
    receive: RecvStream,
    held: Vec<u8>,
}

impl Stream {
    async fn open(client: &SendRequest<Bytes>, path: &str) -> Self {
        let request = http::Request::post(format!("http://x{path}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers");
        let mut client = client.clone();
        let (response, send) = client.send_request(request.body(()).unwrap(), false).unwrap();
        let receive = response.await.unwrap().into_body();
        Self { send, receive, held: Vec::new() }
    }

    fn send(&mut self, message: &impl Message) {
        self.send.send_data(framed(&message.encode_to_vec()), false).unwrap();
    }

    fn end(&mut self) {
        self.send.send_data(Bytes::new(), true).unwrap();
    }

    async fn next<M: Message + Default>(&mut self) -> Option<M> {
        loop {
            if let Some(head) = self.held.first_chunk::<5>() {
                let len = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
                let end = 5 + usize::try_from(len).unwrap();
                if self.held.len() >= end {
                    let message = M::decode(&self.held[5..end]).unwrap();
                    self.held.drain(..end);
                    return Some(message);
                }
            }
            self.held.extend_from_slice(&self.receive.data().await?.unwrap());
        }
    }

    async fn trailers(&mut self) -> HeaderMap {
        self.receive.trailers().await.unwrap().unwrap()
    }
}

#[derive(Clone, PartialEq, Message)]
struct HealthRequest {
    #[prost(string, tag = "1")]
    service: String,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct HealthResponse {
    #[prost(int32, tag = "1")]
    status: i32,
}

#[derive(Clone, PartialEq, Message)]
struct HealthList {
    #[prost(map = "string, message", tag = "1")]
    statuses: HashMap<String, HealthResponse>,
}

const SERVING: i32 = 1;
const NOT_SERVING: i32 = 2;
const SERVICE_UNKNOWN: i32 = 3;

fn health(method: &str, service: &str) -> Request {
    let message = HealthRequest { service: service.to_owned() };
    let mut call = request(method, message.encode_to_vec());
    call.service = Arc::new(ServiceKey::new("grpc.health.v1.Health"));
    call
}

#[tokio::test]
async fn health_is_checked_listed_and_set() {
    let (server, _hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    let check = async |service: &str| {
        let reply = connection.send(health("Check", service)).await?;
        Ok::<_, equipoise_core::outcome::Failure>(
            HealthResponse::decode(reply.body).unwrap().status,
        )
    };
    assert_eq!(check("").await.unwrap(), SERVING);
    assert_eq!(check("test.Temper").await.unwrap(), SERVING);
    assert_eq!(status(&check("test.Nobody").await.unwrap_err()), code::NOT_FOUND);
    server.health().set("test.Temper", false);
    assert_eq!(check("test.Temper").await.unwrap(), NOT_SERVING);
    assert_eq!(server.health().serves("test.Temper"), Some(false));
    let reply = connection.send(health("List", "")).await.unwrap();
    let mut listed: Vec<_> = HealthList::decode(reply.body).unwrap().statuses.into_iter().collect();
    listed.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    let of = |name: &str, status| (name.to_owned(), HealthResponse { status });
    assert_eq!(listed, [of("", SERVING), of("test.Temper", NOT_SERVING)]);
    let failure = connection.send(health("Nothing", "")).await.unwrap_err();
    assert_eq!(status(&failure), code::UNIMPLEMENTED);
    let mut json = health("Check", "");
    json.body = equipoise_core::port::Body::json(Bytes::new());
    assert_eq!(status(&connection.send(json).await.unwrap_err()), code::UNIMPLEMENTED);
}

#[tokio::test]
async fn health_is_watched_to_the_end_of_the_server() {
    let (server, _hold) = serve(|server| server).await;
    let client = client(&server).await;
    let mut watch = Stream::open(&client, "/grpc.health.v1.Health/Watch").await;
    watch.send(&HealthRequest { service: "later".to_owned() });
    watch.end();
    let mut next = async || watch.next::<HealthResponse>().await.map(|told| told.status);
    assert_eq!(next().await, Some(SERVICE_UNKNOWN));
    server.health().set("later", true);
    assert_eq!(next().await, Some(SERVING));
    server.health().set("other", true);
    server.health().set("later", false);
    assert_eq!(next().await, Some(NOT_SERVING));
    server.health().set("later", true);
    assert_eq!(next().await, Some(SERVING));
    // An open watch does not hold the server up: it is told, and ended.
    let ending = tokio::spawn(server.shutdown(std::time::Duration::from_secs(60)));
    assert_eq!(next().await, Some(NOT_SERVING));
    assert_eq!(next().await, None);
    assert_eq!(watch.trailers().await["grpc-status"], "14");
    assert!(ending.await.unwrap());
}

#[tokio::test]
async fn health_may_be_left_out() {
    let (server, _hold) = serve(|server| server.health(false)).await;
    let connection = connect(server.local_addr()).await;
    let failure = connection.send(health("Check", "")).await.unwrap_err();
    assert_eq!(status(&failure), code::UNIMPLEMENTED);
}

#[derive(Clone, PartialEq, Message)]
struct InfoRequest {
    #[prost(string, tag = "1")]
    host: String,
    #[prost(string, optional, tag = "3")]
    file_by_filename: Option<String>,
    #[prost(string, optional, tag = "4")]
    file_containing_symbol: Option<String>,
    #[prost(string, optional, tag = "6")]
    all_extension_numbers_of_type: Option<String>,
    #[prost(string, optional, tag = "7")]
    list_services: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct InfoResponse {
    #[prost(string, tag = "1")]
    valid_host: String,
    #[prost(message, optional, tag = "2")]
    original_request: Option<InfoRequest>,
    #[prost(message, optional, tag = "4")]
    file: Option<FileAnswer>,
    #[prost(message, optional, tag = "6")]
    services: Option<ServiceNames>,
    #[prost(message, optional, tag = "7")]
    error: Option<ErrorAnswer>,
}

#[derive(Clone, PartialEq, Message)]
struct FileAnswer {
    #[prost(bytes = "vec", repeated, tag = "1")]
    file_descriptor_proto: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct ServiceNames {
    #[prost(message, repeated, tag = "1")]
    service: Vec<HealthRequest>,
}

#[derive(Clone, PartialEq, Message)]
struct ErrorAnswer {
    #[prost(int32, tag = "1")]
    error_code: i32,
    #[prost(string, tag = "2")]
    error_message: String,
}

fn described() -> Bytes {
    let service = ServiceDescriptorProto { name: Some("Temper".to_owned()), ..Default::default() };
    let file = FileDescriptorProto {
        name: Some("temper.proto".to_owned()),
        package: Some("test".to_owned()),
        service: vec![service],
        ..Default::default()
    };
    FileDescriptorSet { file: vec![file] }.encode_to_vec().into()
}

#[tokio::test]
async fn services_are_listed_and_described() {
    let (server, _hold) = serve(|server| server.descriptors(described())).await;
    let client = client(&server).await;
    for version in ["v1", "v1alpha"] {
        let path = format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo");
        let mut stream = Stream::open(&client, &path).await;
        let list = InfoRequest {
            host: "h".to_owned(),
            list_services: Some(String::new()),
            ..Default::default()
        };
        stream.send(&list);
        let answer: InfoResponse = stream.next().await.unwrap();
        assert_eq!((answer.valid_host.as_str(), answer.original_request), ("h", Some(list)));
        let names: Vec<_> =
            answer.services.unwrap().service.into_iter().map(|named| named.service).collect();
        assert_eq!(
            names,
            [
                "grpc.health.v1.Health",
                "grpc.reflection.v1.ServerReflection",
                "grpc.reflection.v1alpha.ServerReflection",
                "test.Temper",
            ]
        );
        for symbol in names.iter().map(String::as_str).chain([
            "grpc.health.v1.HealthCheckResponse.ServingStatus",
            "grpc.health.v1.Health.Watch",
            "grpc.reflection.v1.ServerReflectionRequest",
        ]) {
            let of = InfoRequest {
                file_containing_symbol: Some(symbol.to_owned()),
                ..Default::default()
            };
            stream.send(&of);
            let answer: InfoResponse = stream.next().await.unwrap();
            let files = answer.file.unwrap().file_descriptor_proto;
            let file = FileDescriptorProto::decode(&files[0][..]).unwrap();
            assert!(symbol.starts_with(file.package()), "{symbol} in {}", file.name());
            stream.send(&InfoRequest { file_by_filename: file.name, ..Default::default() });
            let again: InfoResponse = stream.next().await.unwrap();
            assert_eq!(again.file.unwrap().file_descriptor_proto, files);
        }
        // What is not known is answered so, and the stream goes on.
        for unknown in [
            InfoRequest { file_by_filename: Some("no.proto".to_owned()), ..Default::default() },
            InfoRequest {
                file_containing_symbol: Some("no.Name".to_owned()),
                ..Default::default()
            },
            InfoRequest {
                all_extension_numbers_of_type: Some("no.Name".to_owned()),
                ..Default::default()
            },
        ] {
            stream.send(&unknown);
            let answer: InfoResponse = stream.next().await.unwrap();
            assert_eq!(answer.error.unwrap().error_code, code::NOT_FOUND);
        }
        stream.end();
        assert_eq!(stream.next::<InfoResponse>().await, None);
        assert_eq!(stream.trailers().await["grpc-status"], "0");
    }
}

#[tokio::test]
async fn an_open_reflection_stream_does_not_hold_the_server_up() {
    let (server, _hold) = serve(|server| server.reflection(true)).await;
    let client = client(&server).await;
    let path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    let mut stream = Stream::open(&client, path).await;
    assert!(server.shutdown(std::time::Duration::from_secs(60)).await);
    assert_eq!(stream.next::<InfoResponse>().await, None);
    assert_eq!(stream.trailers().await["grpc-status"], "14");
}

#[tokio::test]
async fn reflection_is_offered_when_there_is_something_to_tell() {
    let (server, _hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    let mut call = request("ServerReflectionInfo", "");
    call.service = Arc::new(ServiceKey::new("grpc.reflection.v1.ServerReflection"));
    assert_eq!(status(&connection.send(call).await.unwrap_err()), code::UNIMPLEMENTED);
    let broken = Server::builder().descriptors(&b"\xff"[..]).bind("127.0.0.1:0").await;
    assert!(matches!(broken, Err(BindError::Descriptors(_))));
}
