//! Reads the body of a request: version of the protocol, service, version, method and descriptor, the
//! arguments, the attachments. The first five are the same bytes in every call of a method, so a
//! connection remembers what they said.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use equipoise_core::attachments::{AttachmentValue, Attachments};
use equipoise_hessian::{Error, ErrorKind, Limits, Reader, Text, Token};
use tokio::time::Instant;

use crate::java::parameters;
use crate::server::deadline;

/// Methods that a connection remembers.
const REMEMBERED: usize = 32;
/// Longest beginning of a body that is remembered, in bytes.
const LONGEST: usize = 1024;

/// Version of a service that has none.
const NO_VERSION: &str = "0.0.0";

/// What all calls of a method have in common.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Head {
    /// Whether the peer understands attachments in responses.
    pub(crate) attached: bool,
    pub(crate) path: String,
    /// Empty when there is none.
    pub(crate) version: String,
    pub(crate) method: Arc<str>,
    pub(crate) descriptor: Arc<str>,
    parameters: usize,
}

/// The heads of one connection.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    known: Vec<(Box<[u8]>, Arc<Head>)>,
    oldest: usize,
}

/// One call.
#[derive(Debug)]
pub(crate) struct Invocation {
    pub(crate) head: Arc<Head>,
    /// The attachments that overrule the head.
    path: Option<String>,
    version: Option<String>,
    pub(crate) group: String,
    pub(crate) token: Option<String>,
    timeout: Option<i64>,
    countdown: Option<i64>,
    /// The arguments, one after the other in a stream of their own.
    pub(crate) arguments: Bytes,
    /// What is left of the attachments for the service to see.
    pub(crate) attachments: Attachments,
}

/// What cannot be read, for the one who asked.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("Fail to decode request due to: {what}{of}: {error}")]
pub(crate) struct BadRequest {
    what: &'static str,
    of: String,
    error: Error,
}

impl Heads {
    /// Reads a body of at most `limit` bytes.
    ///
    /// # Errors
    /// The body is none, or exceeds a limit.
    pub(crate) fn read(&mut self, body: &Bytes, limit: usize) -> Result<Invocation, BadRequest> {
        let limits = Limits::for_payload(limit);
        let (head, len) = self.head(body, &limits)?;
        let body = body.slice(len..);
        let bad = |what| {
            let of = format!(" of {}.{}({})", head.path, head.method, head.descriptor);
            move |error| BadRequest { what, of, error }
        };
        let mut reader = Reader::with_limits(&body, &limits);
        for _ in 0..head.parameters {
            reader.skip_value().map_err(bad("the arguments"))?;
        }
        let arguments = body.slice(..reader.position());
        let mut invocation = Invocation::new(head.clone(), arguments);
        invocation.read_attachments(&mut reader).map_err(bad("the attachments"))?;
        if !reader.at_end() {
            tracing::debug!(bytes = reader.rest().len(), "a request has more than belongs to it");
        }
        Ok(invocation)
    }

    /// The head of a body and how many bytes it takes.
    fn head(&mut self, body: &[u8], limits: &Limits) -> Result<(Arc<Head>, usize), BadRequest> {
        if let Some((bytes, head)) = self.known.iter().find(|(known, _)| body.starts_with(known)) {
            return Ok((head.clone(), bytes.len()));
        }
        let mut reader = Reader::with_limits(body, limits);
        let bad =
            |error| BadRequest { what: "the method's name and types", of: String::new(), error };
        let head = Arc::new(Head::read(&mut reader).map_err(bad)?);
        let len = reader.position();
        if let Some(bytes) = body.get(..len).filter(|_| len <= LONGEST) {
            self.remember(bytes.into(), head.clone());
        }
        Ok((head, len))
    }

    fn remember(&mut self, bytes: Box<[u8]>, head: Arc<Head>) {
        if self.known.len() < REMEMBERED {
            self.known.push((bytes, head));
            return;
        }
        if let Some(oldest) = self.known.get_mut(self.oldest) {
            *oldest = (bytes, head);
        }
        self.oldest = (self.oldest + 1) % REMEMBERED;
    }
}

impl Head {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let attached = text_or_null(reader)?.is_some_and(|version| takes_attachments(&version));
        let path = text(reader, "the name of a service")?;
        let version = text_or_null(reader)?.filter(|version| version != NO_VERSION);
        let method = text(reader, "the name of a method")?;
        let descriptor = text(reader, "the types of the parameters")?;
        Ok(Self {
            attached,
            path,
            version: version.unwrap_or_default(),
            method: method.into(),
            parameters: parameters(&descriptor),
            descriptor: descriptor.into(),
        })
    }
}

impl Invocation {
    fn new(head: Arc<Head>, arguments: Bytes) -> Self {
        Self {
            head,
            path: None,
            version: None,
            group: String::new(),
            token: None,
            timeout: None,
            countdown: None,
            arguments,
            attachments: Attachments::new(),
        }
    }

    /// The service that is asked for.
    pub(crate) fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(&self.head.path)
    }

    /// Its version; empty when it has none.
    pub(crate) fn version(&self) -> &str {
        self.version.as_deref().unwrap_or(&self.head.version)
    }

    /// When the caller stops waiting. Whoever waits for nothing (`two_way` is false) has only a
    /// budget of time, if it says so.
    pub(crate) fn deadline(&self, two_way: bool) -> Option<Instant> {
        // A budget that is used up is no budget; a timeout of nothing is no timeout.
        let millis = match (self.countdown, self.timeout) {
            (Some(left), _) => u64::try_from(left).unwrap_or(0),
            (None, Some(timeout)) if two_way && timeout > 0 => timeout.unsigned_abs(),
            _ => return None,
        };
        deadline::after(Duration::from_millis(millis))
    }

    fn read_attachments(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        match reader.next()? {
            Token::Null => return Ok(()),
            Token::Map { .. } => {}
            other => return Err(unexpected(reader, "a map of attachments", &other)),
        }
        loop {
            match reader.next()? {
                Token::End => return Ok(()),
                Token::Str(Text::Str(key)) => {
                    let value = reader.next()?;
                    self.put(&key, value, reader)?;
                }
                other => {
                    reader.skip_rest(other)?;
                    reader.skip_value()?;
                }
            }
        }
    }

    /// Takes one attachment. Those that belong to the protocol are read and kept from the service,
    /// as Dubbo does: its own calls must not inherit them.
    fn put<'a>(
        &mut self,
        key: &str,
        value: Token<'a>,
        reader: &mut Reader<'a>,
    ) -> Result<(), Error> {
        match (key, value) {
            ("path", Token::Str(text)) => self.path = other_than(&self.head.path, &text),
            ("version", Token::Str(text)) => {
                let version = text.as_str().filter(|text| *text != NO_VERSION).unwrap_or_default();
                self.version = (version != self.head.version).then(|| version.to_owned());
            }
            ("group", Token::Str(text)) => self.group = text.to_string_lossy(),
            ("token", Token::Str(text)) => self.token = Some(text.to_string_lossy()),
            ("timeout", value) if number(&value).is_some() => self.timeout = number(&value),
            ("_TO", value) if number(&value).is_some() => self.countdown = number(&value),
            ("interface" | "dubbo" | "path" | "version" | "group" | "token" | "timeout", value)
            | ("async" | "id" | "return" | "_TO", value) => reader.skip_rest(value)?,
            (key, value) => {
                if let Some(value) = attachment(value, reader)? {
                    self.attachments.put(key.to_owned(), value);
                }
            }
        }
        Ok(())
    }
}

fn other_than(known: &str, text: &Text<'_>) -> Option<String> {
    text.as_str().filter(|text| *text != known && !text.is_empty()).map(str::to_owned)
}

/// A number, or a text that is one.
fn number(value: &Token<'_>) -> Option<i64> {
    match value {
        Token::Str(text) => text.as_str()?.trim().parse().ok(),
        Token::Int(value) => Some(i64::from(*value)),
        Token::Long(value) => Some(*value),
        _ => None,
    }
}

/// A value as an attachment; `None` for null and for what is made of parts.
fn attachment<'a>(
    value: Token<'a>,
    reader: &mut Reader<'a>,
) -> Result<Option<AttachmentValue>, Error> {
    let text = match value {
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

fn text(reader: &mut Reader<'_>, what: &'static str) -> Result<String, Error> {
    match reader.next()? {
        Token::Str(text) => Ok(text.to_string_lossy()),
        other => Err(unexpected(reader, what, &other)),
    }
}

fn text_or_null(reader: &mut Reader<'_>) -> Result<Option<String>, Error> {
    match reader.next()? {
        Token::Null => Ok(None),
        Token::Str(text) => Ok(Some(text.to_string_lossy())),
        other => Err(unexpected(reader, "a version", &other)),
    }
}

fn unexpected(reader: &Reader<'_>, expected: &'static str, found: &Token<'_>) -> Error {
    let found = match found {
        Token::Null => "null",
        Token::Int(_) | Token::Long(_) | Token::Double(_) => "a number",
        Token::Str(_) => "a string",
        Token::List { .. } => "a list",
        Token::Map { .. } => "a map",
        _ => "another value",
    };
    reader.error(ErrorKind::Unexpected { expected, found })
}

/// Whether a peer with this version of the protocol reads attachments in responses: from 2.0.2 to
/// 2.0.99, since what called itself 2.1 and up were forks of old Dubbo.
fn takes_attachments(version: &str) -> bool {
    // Up to four numbers, each as two decimal places; text after digits does not count.
    let mut parts = version.split('.').map(|part| {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        part.get(..digits).unwrap_or_default().parse::<u32>().unwrap_or(0)
    });
    let [major, minor, patch] = [(); 3].map(|()| parts.next().unwrap_or(0));
    (major, minor) == (2, 0) && (2..=99).contains(&patch)
}

#[cfg(test)]
#[path = "request/tests.rs"]
mod tests;
