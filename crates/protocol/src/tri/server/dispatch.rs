//! From an HTTP request to the service that answers it, in the flavour it was asked in.

use std::net::SocketAddr;
use std::sync::Arc;

use equipoise_core::attachments::Attachments;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, HeaderName, Method, Request, Response, StatusCode, Version};
use hyper::body::Incoming;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::load;
use crate::server::call::{Head, Path};
use crate::server::lifecycle::{Conn, InFlight};
use crate::server::services::{Answers, Entry};
use crate::server::{Shared, deadline};
use crate::status::{Status, code};
use crate::tri::headers::{self, GRPC_TIMEOUT, SERVICE_GROUP, SERVICE_TIMEOUT, SERVICE_VERSION};
use crate::tri::server::body::Answer;
use crate::tri::server::json::Refusal;
use crate::tri::server::stream::Requests;
use crate::tri::server::streaming::{self, Begin};
use crate::tri::server::{body, grpc, json};
use crate::tri::{gzip, timeout};

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
    shared: &Shared,
    in_flight: InFlight,
    request: Request<Incoming>,
) -> Response<Answer> {
    let (parts, body) = request.into_parts();
    let timeout = parts.headers.get(GRPC_TIMEOUT).map(|value| value.as_bytes());
    let deadline = timeout.and_then(timeout::parse_grpc).and_then(deadline::after);
    let Some(head) = head(&parts, deadline, in_flight.peer()) else {
        return grpc::trailers_only(&no_service(parts.uri.path()));
    };
    let asked = load::asked(&head.attachments);
    let gzip = match gzip::announced(&parts.headers) {
        Ok(gzip) => gzip,
        Err(text) => return grpc::trailers_only(&Status::new(code::UNIMPLEMENTED, text)),
    };
    let limit = shared.limits.max_message;
    let pack = shared.limits.gzip && gzip::accepted(&parts.headers);
    let mut result = match find(shared, &head.path, &parts.headers) {
        Err(status) => Err(status),
        Ok(Entry { answers: Answers::Stream(service), .. }) => {
            let requests = Requests::new(body, limit, gzip);
            return match service.open(head.path.method(), requests) {
                Err(status) => grpc::trailers_only(&status),
                Ok(answers) => streamed(answers, pack, in_flight),
            };
        }
        Ok(entry @ Entry { answers: Answers::Unary(handler), .. })
            if handler.is_stream(head.path.method()) =>
        {
            match admit(shared, entry, &head) {
                Ok(admitted) => {
                    let requests = Requests::new(body, limit, gzip);
                    let load = asked.then(|| shared.load.clone());
                    let handler = handler.clone();
                    let begin = Begin { entry, handler, head, requests, limit, load };
                    return streamed(streaming::start(begin, admitted), pack, in_flight);
                }
                Err(status) => Err(status),
            }
        }
        Ok(entry @ Entry { answers: Answers::Unary(handler), .. }) => {
            match admit(shared, entry, &head) {
                Ok(_admitted) => {
                    grpc::unary(shared, entry, handler.as_ref(), head, body, gzip).await
                }
                Err(status) => Err(status),
            }
        }
    };
    if asked {
        let attachments = match &mut result {
            Ok(reply) => &mut reply.attachments,
            Err(status) => &mut status.attachments,
        };
        load::answer(shared.load.as_ref(), attachments);
    }
    grpc::response(result, pack)
}

fn streamed(answers: body::Answers, pack: bool, in_flight: InFlight) -> Response<Answer> {
    let answer = Answer::Stream { answers: Some(answers), pack, _running: in_flight };
    let mut response = grpc::http(answer);
    grpc::packed(&mut response, pack);
    response
}

async fn in_json(
    shared: &Shared,
    in_flight: &InFlight,
    request: Request<Incoming>,
) -> Response<Answer> {
    let (parts, body) = request.into_parts();
    let timeout = parts.headers.get(SERVICE_TIMEOUT).map(|value| value.as_bytes());
    let deadline = timeout.and_then(timeout::parse_millis).and_then(deadline::after);
    let Some(head) = head(&parts, deadline, in_flight.peer()) else {
        return json::refused(no_service(parts.uri.path()).into());
    };
    let asked = load::asked(&head.attachments);
    let mut result = match find(shared, &head.path, &parts.headers) {
        Err(status) => Err(status.into()),
        Ok(Entry { key, answers: Answers::Stream(_), .. }) => Err(no_json(&key.interface).into()),
        Ok(Entry { key, answers: Answers::Unary(handler), .. })
            if handler.is_stream(head.path.method()) =>
        {
            Err(no_json(&key.interface).into())
        }
        Ok(entry @ Entry { answers: Answers::Unary(handler), .. }) => {
            match admit(shared, entry, &head) {
                Ok(_admitted) => json::unary(shared, entry, handler.as_ref(), head, body).await,
                Err(status) => Err(status.into()),
            }
        }
    };
    if asked {
        let attachments = match &mut result {
            Ok(reply) => &mut reply.attachments,
            Err(refusal) => refusal.attachments(),
        };
        load::answer(shared.load.as_ref(), attachments);
    }
    json::response(result)
}

/// What the headers say of a call; `None` when the path names no method.
fn head(parts: &Parts, deadline: Option<Instant>, peer: SocketAddr) -> Option<Head> {
    let path = Path::cut(parts.uri.path_and_query()?)?;
    let mut attachments = Attachments::new();
    headers::read(&parts.headers, &mut attachments);
    Some(Head { path, attachments, deadline, peer })
}

fn find<'a>(shared: &'a Shared, path: &Path, headers: &HeaderMap) -> Result<&'a Entry, Status> {
    let (group, version) = (text(headers, &SERVICE_GROUP), text(headers, &SERVICE_VERSION));
    let service = path.service();
    shared.services.find(service, group, version).ok_or_else(|| no_service(service))
}

/// A call's place among those of its method and of the server.
type Admitted = (Option<OwnedSemaphorePermit>, Option<OwnedSemaphorePermit>);

/// Lets a call in that brings what the service asks for, while there are not too many.
fn admit(shared: &Shared, entry: &Entry, head: &Head) -> Result<Admitted, Status> {
    let admitted = entry.terms.admit(head.path.method(), head.attachments.text("token"))?;
    Ok((admitted, shared.admit()?))
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn no_service(name: &str) -> Status {
    Status::new(code::UNIMPLEMENTED, format!("no service {name} in this version and group"))
}

fn no_json(service: &str) -> Status {
    Status::new(code::UNIMPLEMENTED, format!("service {service} has no JSON form"))
}

impl InFlight {
    fn peer(&self) -> SocketAddr {
        self.conn().peer()
    }
}
