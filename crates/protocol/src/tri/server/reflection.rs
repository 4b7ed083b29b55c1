//! Server reflection, `v1` and `v1alpha`: lets tools such as grpcurl list and describe services.
//!
//! # Rule
//!
//! Each request of the stream is answered in turn. `list_services` names every registered service,
//! described or not; the other questions are answered from the descriptor sets the server was
//! given and those of the built-in services; what is not known is an error answer with code 5,
//! and the stream goes on. The stream ends with the client's, or with the server.
//!
//! # References
//!
//! *GRPC Server Reflection Protocol*; `grpc/reflection/v1/reflection.proto`. The two versions have
//! the same messages.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use prost::Message;

use crate::server::lifecycle::{Lifecycle, Phase};
use crate::status::{Status, code};
use crate::tri::server::body::Answers;
use crate::tri::server::descriptors::Files;
use crate::tri::server::stream::{Requests, StreamHandler};

pub(crate) const NAMES: [&str; 2] =
    ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];

/// The service.
#[derive(Debug)]
pub(crate) struct Service {
    known: Arc<Known>,
    lifecycle: Arc<Lifecycle>,
}

#[derive(Debug)]
struct Known {
    files: Files,
    services: Vec<String>,
}

impl Service {
    pub(crate) fn new(files: Files, services: Vec<String>, lifecycle: Arc<Lifecycle>) -> Self {
        Self { known: Arc::new(Known { files, services }), lifecycle }
    }
}

impl StreamHandler for Service {
    fn open(&self, method: &str, requests: Requests) -> Result<Answers, Status> {
        if method != "ServerReflectionInfo" {
            return Err(Status::unknown_method("ServerReflection", method));
        }
        let (known, lifecycle) = (self.known.clone(), self.lifecycle.clone());
        Ok(Box::pin(stream::try_unfold(requests, move |mut requests| {
            let (known, lifecycle) = (known.clone(), lifecycle.clone());
            async move {
                let next = tokio::select! {
                    biased;
                    next = requests.next() => next?,
                    () = lifecycle.reached(Phase::Draining) => {
                        return Err(Status::new(code::UNAVAILABLE, "the server is ending"));
                    }
                };
                let Some(next) = next else { return Ok(None) };
                let request = InfoRequest::decode(next)
                    .map_err(|error| Status::new(code::INVALID_ARGUMENT, error.to_string()))?;
                let answer = known.answer(request).encode_to_vec();
                Ok(Some((Bytes::from(answer), requests)))
            }
        })))
    }
}

impl Known {
    fn answer(&self, request: InfoRequest) -> InfoResponse {
        let answer = match &request.question {
            Some(Question::FileByFilename(name)) => {
                file(self.files.by_name(name), || format!("file {name:?}"))
            }
            Some(Question::FileContainingSymbol(symbol)) => {
                file(self.files.by_symbol(symbol), || format!("symbol {symbol:?}"))
            }
            Some(Question::FileContainingExtension(of)) => {
                let found = self.files.by_extension(&of.containing_type, of.extension_number);
                file(found, || {
                    format!("extension {} of {:?}", of.extension_number, of.containing_type)
                })
            }
            Some(Question::AllExtensionNumbersOfType(of)) => {
                match self.files.extension_numbers(of) {
                    Some(numbers) => Answer::AllExtensionNumbers(ExtensionNumbers {
                        base_type_name: of.clone(),
                        extension_number: numbers,
                    }),
                    None => unknown(&format!("type {of:?}")),
                }
            }
            Some(Question::ListServices(_)) => {
                let named = |name: &String| ServiceName { name: name.clone() };
                Answer::ListServices(ServiceNames {
                    service: self.services.iter().map(named).collect(),
                })
            }
            None => Answer::Error(ErrorAnswer {
                error_code: code::INVALID_ARGUMENT,
                error_message: "the request asks nothing that is known here".to_owned(),
            }),
        };
        InfoResponse {
            valid_host: request.host.clone(),
            original_request: Some(request),
            answer: Some(answer),
        }
    }
}

fn file(found: Option<&Bytes>, what: impl FnOnce() -> String) -> Answer {
    match found {
        Some(file) => {
            Answer::FileDescriptor(FileAnswer { file_descriptor_proto: vec![file.clone()] })
        }
        None => unknown(&what()),
    }
}

fn unknown(what: &str) -> Answer {
    let error_message = format!("there is no {what} here");
    Answer::Error(ErrorAnswer { error_code: code::NOT_FOUND, error_message })
}

#[derive(Clone, PartialEq, prost::Message)]
struct InfoRequest {
    #[prost(string, tag = "1")]
    host: String,
    #[prost(oneof = "Question", tags = "3, 4, 5, 6, 7")]
    question: Option<Question>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Question {
    #[prost(string, tag = "3")]
    FileByFilename(String),
    #[prost(string, tag = "4")]
    FileContainingSymbol(String),
    #[prost(message, tag = "5")]
    FileContainingExtension(ExtensionOf),
    #[prost(string, tag = "6")]
    AllExtensionNumbersOfType(String),
    #[prost(string, tag = "7")]
    ListServices(String),
}

#[derive(Clone, PartialEq, prost::Message)]
struct ExtensionOf {
    #[prost(string, tag = "1")]
    containing_type: String,
    #[prost(int32, tag = "2")]
    extension_number: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
struct InfoResponse {
    #[prost(string, tag = "1")]
    valid_host: String,
    #[prost(message, optional, tag = "2")]
    original_request: Option<InfoRequest>,
    #[prost(oneof = "Answer", tags = "4, 5, 6, 7")]
    answer: Option<Answer>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Answer {
    #[prost(message, tag = "4")]
    FileDescriptor(FileAnswer),
    #[prost(message, tag = "5")]
    AllExtensionNumbers(ExtensionNumbers),
    #[prost(message, tag = "6")]
    ListServices(ServiceNames),
    #[prost(message, tag = "7")]
    Error(ErrorAnswer),
}

#[derive(Clone, PartialEq, prost::Message)]
struct FileAnswer {
    #[prost(bytes = "bytes", repeated, tag = "1")]
    file_descriptor_proto: Vec<Bytes>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ExtensionNumbers {
    #[prost(string, tag = "1")]
    base_type_name: String,
    #[prost(int32, repeated, tag = "2")]
    extension_number: Vec<i32>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ServiceNames {
    #[prost(message, repeated, tag = "1")]
    service: Vec<ServiceName>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ServiceName {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ErrorAnswer {
    #[prost(int32, tag = "1")]
    error_code: i32,
    #[prost(string, tag = "2")]
    error_message: String,
}
