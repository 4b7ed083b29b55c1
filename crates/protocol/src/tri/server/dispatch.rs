//! From an HTTP request to the service that answers it, in the flavour it was asked in.

use std::net::SocketAddr;
use std::sync::Arc;

use equipoise_core::attachments::Attachments;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, Request, Response, StatusCode, Version};
use hyper::body::Incoming;

use crate::tri::adaptive;
use crate::tri::headers::{self, GRPC_ENCODING, GRPC_TIMEOUT, SERVICE_TIMEOUT};
use crate::tri::server::body::Answer;
use crate::tri::server::call::{Head, Path};
use crate::tri::server::json::Refusal;
use crate::tri::server::lifecycle::{Conn, InFlight};
use crate::tri::server::services::{Answers, Entry};
use crate::tri::server::stream::Requests;
use crate::tri::server::{Shared, deadline, grpc, json};
use crate::tri::status::{Status, code};
use crate::tri::timeout;

/// Answers one request.
pub(crate) async fn serve(
    shared: Arc<Shared>,
    conn: Arc<Conn>,
    request: Request<Incoming>,
) -> Response<Answer> {
    let in_flight = InFlight::new(conn);
    match flavour(&request) {
        Ok(Flavour::Grpc) => in_grpc(&shared, in_flight, request).await,
        Ok(Flavour::Json) => in_json(&shared, &in_flight, request).await,
        Err(refusal) => json::refused(refusal),
    }
}

enum Flavour {
    Grpc,
    Json,
}

fn flavour(request: &Request<Incoming>) -> Result<Flavour, Refusal> {
    let kind = request.headers().get(CONTENT_TYPE).map_or(&b""[..], |kind| kind.as_bytes());
    let refuse = |status, text: &str| Err(Refusal::new(status, text));
    if request.method() != Method::POST {
        return refuse(StatusCode::METHOD_NOT_ALLOWED, "only POST calls a method");
    }
    match kind {
        b"application/grpc" | b"application/grpc+proto" => {}
        _ if kind.starts_with(b"application/grpc;") => {}
        _ if media_type(kind).eq_ignore_ascii_case(b"application/json") => {
            return Ok(Flavour::Json);
        }
        _ => {
            return refuse(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "the content type must be application/grpc or application/json",
            );
        }
    }
    if request.version() != Version::HTTP_2 {
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "gRPC needs HTTP/2");
    }
    Ok(Flavour::Grpc)
}

/// A content type without its parameters.
fn media_type(kind: &[u8]) -> &[u8] {
    kind.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii()
}

async fn in_grpc(
    shared: &Arc<Shared>,
    in_flight: InFlight,
    request: Request<Incoming>,
) -> Response<Answer> {
    let (parts, body) = request.into_parts();
    let timeout = parts.headers.get(GRPC_TIMEOUT).map(|value| value.as_bytes());
    let head = Head {
        path: match parts.uri.path_and_query().and_then(Path::cut) {
            Some(path) => path,
            None => return grpc::trailers_only(&no_service(parts.uri.path())),
        },
        attachments: attachments(&parts.headers),
        deadline: timeout.and_then(timeout::parse_grpc).and_then(deadline::after),
        peer: in_flight.peer(),
    };
    let asked = adaptive::asked(&head.attachments);
    let mut result = match find(shared, &head.path, &parts.headers) {
        Err(status) => Err(status),
        Ok(entry) => match &entry.answers {
            Answers::Unary(handler) => match shared.admit() {
                Ok(_admitted) => grpc::unary(shared, entry, handler.as_ref(), head, body).await,
                Err(status) => Err(status),
            },
            Answers::Stream(service) => {
                let requests = Requests::new(body, shared.limits.max_message);
                match service.open(head.path.method(), requests) {
                    Ok(answers) => {
                        let answers = Some(answers);
                        return grpc::http(Answer::Stream { answers, _running: in_flight });
                    }
                    Err(status) => Err(status),
                }
            }
        },
    };
    if asked {
        feedback(
            shared,
            match &mut result {
                Ok(reply) => &mut reply.attachments,
                Err(status) => &mut status.attachments,
            },
        );
    }
    grpc::response(result)
}

async fn in_json(
    shared: &Shared,
    in_flight: &InFlight,
    request: Request<Incoming>,
) -> Response<Answer> {
    let (parts, body) = request.into_parts();
    let timeout = parts.headers.get(SERVICE_TIMEOUT).map(|value| value.as_bytes());
    let Some(path) = parts.uri.path_and_query().and_then(Path::cut) else {
        return json::refused(no_service(parts.uri.path()).into());
    };
    let head = Head {
        path,
        attachments: attachments(&parts.headers),
        deadline: timeout.and_then(timeout::parse_millis).and_then(deadline::after),
        peer: in_flight.peer(),
    };
    let asked = adaptive::asked(&head.attachments);
    let mut result = match find(shared, &head.path, &parts.headers) {
        Err(status) => Err(status.into()),
        Ok(Entry { key, answers: Answers::Stream(_) }) => Err(no_json(&key.interface).into()),
        Ok(entry @ Entry { answers: Answers::Unary(handler), .. }) => match shared.admit() {
            Ok(_admitted) => json::unary(shared, entry, handler.as_ref(), head, body).await,
            Err(status) => Err(status.into()),
        },
    };
    if asked {
        feedback(
            shared,
            match &mut result {
                Ok(reply) => &mut reply.attachments,
                Err(refusal) => refusal.attachments(),
            },
        );
    }
    json::response(result)
}

fn find<'a>(shared: &'a Shared, path: &Path, headers: &HeaderMap) -> Result<&'a Entry, Status> {
    let encoding = headers.get(GRPC_ENCODING);
    if let Some(encoding) = encoding.filter(|encoding| *encoding != "identity") {
        let text = format!("the encoding {encoding:?} is not supported");
        return Err(Status::new(code::UNIMPLEMENTED, text));
    }
    shared.services.find(path, headers).ok_or_else(|| no_service(path.service()))
}

fn no_service(name: &str) -> Status {
    Status::new(code::UNIMPLEMENTED, format!("no service {name} in this version and group"))
}

fn no_json(service: &str) -> Status {
    Status::new(code::UNIMPLEMENTED, format!("service {service} has no JSON form"))
}

fn attachments(headers: &HeaderMap) -> Attachments {
    let mut attachments = Attachments::new();
    headers::read(headers, &mut attachments);
    attachments
}

fn feedback(shared: &Shared, attachments: &mut Attachments) {
    adaptive::answer(shared.load.as_ref(), attachments);
}

impl InFlight {
    fn peer(&self) -> SocketAddr {
        self.conn().peer()
    }
}
