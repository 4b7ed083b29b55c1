//! Reads the answer of one call: result, exception, or a status that is an error; and says what
//! each means for the caller.

use std::fmt;

use bytes::Bytes;
use equipoise_core::attachments::{AttachmentValue, Attachments};
use equipoise_core::outcome::{Exception, Failure, FailureKind, Sent};
use equipoise_core::port::Reply;
use equipoise_core::service::ServiceKey;
use equipoise_hessian::{Error, Limits, Reader, Token};

use crate::dubbo::client::pending::Answer;
use crate::dubbo::frame::{Header, status};

/// Longest text of a provider's in a failure, in bytes. Stack traces are longer.
const LONGEST: usize = 4096;

/// The value of a method that gives none.
const NULL: &[u8] = b"N";

/// The question that an answer is for. Its text says what providers leave out of theirs.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) address: &'a str,
    pub(crate) service: &'a ServiceKey,
    pub(crate) method: &'a str,
    /// The parameter types, in whatever form the caller gave them.
    pub(crate) types: &'a str,
}

impl fmt::Display for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, service, method, types } = self;
        write!(f, "{address}: {service} {method}({types})")
    }
}

/// Reads what came.
pub(crate) fn read(asked: &Asked<'_>, answer: Answer, payload: usize) -> Result<Reply, Failure> {
    let (header, body) = match answer {
        Answer::Response(header, body) => (header, body),
        Answer::Unread(error) => {
            let text =
                format!("{asked}: the answer is not read: {error} (status 90, CLIENT_ERROR)");
            return Err(Failure::new(FailureKind::Serialization, text));
        }
    };
    if let Err(error) = header.check_serialization() {
        return Err(Failure::new(FailureKind::Serialization, format!("{asked}: {error}")));
    }
    if header.status != status::OK {
        return Err(refused(asked, header, &body));
    }
    result(&body, payload).unwrap_or_else(|error| {
        let text = format!("{asked}: the answer cannot be read: {error} (status 50, BAD_RESPONSE)");
        Err(Failure::new(FailureKind::Serialization, text))
    })
}

/// The body of a response with status 20.
fn result(body: &Bytes, payload: usize) -> Result<Result<Reply, Failure>, Error> {
    let mut reader = Reader::with_limits(body, &Limits::for_payload(payload));
    let flag = match reader.next()? {
        Token::Int(flag @ 0..=5) => flag,
        other => return Err(unexpected(&reader, "a flag from 0 to 5", &other)),
    };
    let start = reader.position();
    let mut thrown = None;
    let value = match flag {
        2 | 5 => Bytes::from_static(NULL),
        _ => {
            if matches!(flag, 0 | 3) {
                thrown = Some(Thrown::read(&mut reader)?);
            } else {
                reader.skip_value()?;
            }
            body.slice(start..reader.position())
        }
    };
    let attachments = if flag >= 3 { attachments(&mut reader)? } else { Attachments::new() };
    if !reader.at_end() {
        // dubbo-go ends every answer with a null.
        tracing::debug!(bytes = reader.rest().len(), "an answer has more than belongs to it");
    }
    Ok(match thrown {
        None => Ok(Reply { body: value, attachments }),
        Some(thrown) => Err(thrown.failure(value, attachments)),
    })
}

fn unexpected(reader: &Reader<'_>, expected: &'static str, found: &Token<'_>) -> Error {
    let found = match found {
        Token::Null => "null",
        Token::Int(_) | Token::Long(_) | Token::Double(_) => "another number",
        Token::Str(_) => "a string",
        Token::Map { .. } => "a map",
        _ => "another value",
    };
    reader.error(equipoise_hessian::ErrorKind::Unexpected { expected, found })
}

/// An exception, as far as a caller is told in words.
#[derive(Default)]
struct Thrown {
    class: String,
    message: Option<String>,
    /// Class and message of the one that a generic call's exception stands for.
    inner: (Option<String>, Option<String>),
}

impl Thrown {
    /// Reads one value.
    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let mut thrown = Self::default();
        match reader.next()? {
            Token::Object { class, number } => {
                let class = reader.class(class).clone();
                thrown.class = class.name.into_owned();
                for field in &class.fields {
                    let token = reader.next()?;
                    thrown.field(field, token, reader)?;
                }
                reader.finish(number);
            }
            // Of a class that the provider's encoder takes for a map.
            Token::Map { ty, number } => {
                if let Some(ty) = ty {
                    thrown.class = reader.type_name(ty).clone().into_owned();
                }
                loop {
                    match reader.next()? {
                        Token::End => break,
                        Token::Str(key) => {
                            let token = reader.next()?;
                            thrown.field(&key.to_string_lossy(), token, reader)?;
                        }
                        other => {
                            reader.skip_rest(other)?;
                            reader.skip_value()?;
                        }
                    }
                }
                reader.finish(number);
            }
            Token::Str(text) => thrown.message = Some(text.to_string_lossy()),
            other => reader.skip_rest(other)?,
        }
        Ok(thrown)
    }

    fn field<'a>(
        &mut self,
        name: &str,
        token: Token<'a>,
        reader: &mut Reader<'a>,
    ) -> Result<(), Error> {
        let place = match name {
            "detailMessage" => &mut self.message,
            "exceptionClass" => &mut self.inner.0,
            "exceptionMessage" => &mut self.inner.1,
            _ => return reader.skip_rest(token),
        };
        match token {
            Token::Str(text) => {
                *place = Some(text.to_string_lossy());
                Ok(())
            }
            other => reader.skip_rest(other),
        }
    }

    fn failure(self, body: Bytes, attachments: Attachments) -> Failure {
        let text = if self.class.ends_with(".rpc.service.GenericException") {
            words(self.inner.0.as_deref().unwrap_or(&self.class), self.inner.1.as_deref())
        } else {
            words(&self.class, self.message.as_deref())
        };
        let mut failure = Failure::new(FailureKind::Business, text);
        failure.attachments = attachments;
        failure.exception = Some(Box::new(Exception { class: self.class, body }));
        failure
    }
}

fn words(class: &str, message: Option<&str>) -> String {
    match message {
        Some(message) if class.is_empty() => cut(message).to_owned(),
        Some(message) => format!("{class}: {}", cut(message)),
        None => class.to_owned(),
    }
}

/// At most [`LONGEST`] bytes of it.
fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LONGEST)).unwrap_or(text)
}

/// The attachments of a response. What has no text is left out.
fn attachments(reader: &mut Reader<'_>) -> Result<Attachments, Error> {
    let mut attachments = Attachments::new();
    let number = match reader.next()? {
        Token::Null => return Ok(attachments),
        Token::Map { number, .. } => number,
        other => return Err(unexpected(reader, "a map of attachments", &other)),
    };
    loop {
        let key = match reader.next()? {
            Token::End => break,
            Token::Str(key) => key.to_string_lossy(),
            other => {
                reader.skip_rest(other)?;
                reader.skip_value()?;
                continue;
            }
        };
        let token = reader.next()?;
        // The version of the peer's protocol is no news.
        if let Some(value) = attachment(token, reader)?
            && key != "dubbo"
        {
            attachments.put(key, value);
        }
    }
    reader.finish(number);
    Ok(attachments)
}

fn attachment<'a>(
    token: Token<'a>,
    reader: &mut Reader<'a>,
) -> Result<Option<AttachmentValue>, Error> {
    let text = match token {
        Token::Str(text) => text.to_string_lossy(),
        Token::Binary(bytes) => {
            return Ok(Some(AttachmentValue::Binary(Bytes::copy_from_slice(&bytes))));
        }
        Token::Bool(value) => value.to_string(),
        Token::Int(value) => value.to_string(),
        Token::Long(value) | Token::Date(value) => value.to_string(),
        Token::Double(value) => value.to_string(),
        other => {
            reader.skip_rest(other)?;
            return Ok(None);
        }
    };
    Ok(Some(AttachmentValue::Text(text)))
}

/// A response whose status is an error: its body is one string.
fn refused(asked: &Asked<'_>, header: Header, body: &[u8]) -> Failure {
    let text = match Reader::new(body).next() {
        Ok(Token::Str(text)) => text.to_string_lossy(),
        _ => String::new(),
    };
    let (kind, sent) = meaning(header.status, &text);
    let name = status::name(header.status);
    let text = format!("{asked}: status {} ({name}): {}", header.status, cut(&text));
    Failure { sent, ..Failure::new(kind, text) }
}

/// What a status means. Those that say "this call is wrong" say it of the service, whichever
/// provider is asked: no other attempt helps, and the provider is not to blame.
fn meaning(code: u8, text: &str) -> (FailureKind, Sent) {
    match code {
        status::THREADPOOL_EXHAUSTED => (FailureKind::LimitExceeded, Sent::No),
        status::CHANNEL_INACTIVE => (FailureKind::Network, Sent::Maybe),
        status::CLIENT_TIMEOUT | status::SERVER_TIMEOUT => (FailureKind::Timeout, Sent::Maybe),
        status::SERVER_ERROR => (FailureKind::NoAnswer, Sent::Maybe),
        status::SERIALIZATION_ERROR => (FailureKind::Serialization, Sent::Maybe),
        status::BAD_REQUEST if refuses_hessian(text) => (FailureKind::Serialization, Sent::Maybe),
        _ => (FailureKind::Business, Sent::Maybe),
    }
}

/// Whether the provider does not allow the serialization of the request.
fn refuses_hessian(text: &str) -> bool {
    text.to_ascii_lowercase().contains("unexpected serialization")
}
