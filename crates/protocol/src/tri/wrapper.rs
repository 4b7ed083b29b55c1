//! The messages that carry Java values over `tri`: methods without an IDL have their arguments and
//! results, each encoded with Hessian, in a protobuf wrapper.
//!
//! Dubbo's own parser of these messages fails on fields it does not know and answers nothing at all
//! then, so no more is ever written than it expects.
//!
//! # References
//!
//! `triple_wrapper.proto` of Apache Dubbo 3.

use std::sync::Arc;

use bytes::Bytes;
use equipoise_core::outcome::{Exception, Failure, FailureKind};
use equipoise_core::port::Arguments;
use prost::Message;

use crate::java::exception::JavaException;
use crate::java::{JavaArguments, JavaType, JavaValues, types};
use crate::status::{Status, code};

/// What the serialization of values is called; the second name is the one that Dubbo's Java clients
/// use for the same.
const HESSIAN: [&str; 2] = ["hessian2", "hessian4"];

/// What a streaming method has among its parameters, and never among its arguments.
const OBSERVER: &str = "org.apache.dubbo.common.stream.StreamObserver";

/// What Dubbo's server answers when its own clock says that the call took too long.
const TIMEOUT: &str = ".HttpRequestTimeout";

/// A request.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TripleRequestWrapper {
    #[prost(string, tag = "1")]
    serialize_type: String,
    /// Each a Hessian value in a stream of its own.
    #[prost(bytes = "bytes", repeated, tag = "2")]
    args: Vec<Bytes>,
    /// As `Class.getName()` has them.
    #[prost(string, repeated, tag = "3")]
    arg_types: Vec<String>,
}

/// An answer.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TripleResponseWrapper {
    #[prost(string, tag = "1")]
    serialize_type: String,
    #[prost(bytes = "bytes", tag = "2")]
    data: Bytes,
    /// The declared type of the result.
    #[prost(string, tag = "3")]
    r#type: String,
}

/// Why a wrapper cannot be taken.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum WrapperError {
    #[error("the message is no wrapper of Java values: {0}")]
    Malformed(String),
    #[error(
        "serialization {0:?} is not supported: set prefer.serialization=hessian2 on the other side"
    )]
    Serialization(String),
    #[error("a type of the wrapper: {0}")]
    Type(#[from] types::TypeError),
    #[error("the wrapper has {types} types for {args} arguments")]
    Count { types: usize, args: usize },
}

impl From<WrapperError> for Status {
    fn from(error: WrapperError) -> Self {
        Status::new(code::INVALID_ARGUMENT, error.to_string())
    }
}

impl WrapperError {
    /// What an answer that cannot be taken is to its caller.
    fn failure(&self) -> Failure {
        Failure::new(FailureKind::Serialization, self.to_string()).with_status(code::INTERNAL)
    }
}

/// The message of a call with these arguments.
pub(crate) fn request(arguments: &dyn Arguments) -> Result<Bytes, Failure> {
    Ok(wrap(arguments)?.encode_to_vec().into())
}

fn wrap(arguments: &dyn Arguments) -> Result<TripleRequestWrapper, Failure> {
    let types = types::parse_descriptor(arguments.descriptor())
        .map_err(|error| Failure::not_sent(FailureKind::Invalid, error.to_string()))?;
    Ok(TripleRequestWrapper {
        serialize_type: HESSIAN[0].to_owned(),
        args: arguments.each()?,
        arg_types: types.iter().map(JavaType::class_name).collect(),
    })
}

/// The same for a message of a stream. A method that answers with many has an observer of them among
/// its parameters, as `observed` says.
pub(crate) fn streamed(arguments: &dyn Arguments, observed: bool) -> Result<Bytes, Failure> {
    let mut wrapper = wrap(arguments)?;
    if observed {
        wrapper.arg_types.push(OBSERVER.to_owned());
    }
    Ok(wrapper.encode_to_vec().into())
}

/// The Hessian value in the message of an answer.
pub(crate) fn result(message: Bytes) -> Result<Bytes, Failure> {
    let wrapper = TripleResponseWrapper::decode(message)
        .map_err(|error| WrapperError::Malformed(error.to_string()).failure())?;
    check(&wrapper.serialize_type).map_err(|error| error.failure())?;
    Ok(wrapper.data)
}

/// The failure of a call whose answer is an exception with this code.
pub(crate) fn exception(of: i32, message: Option<Bytes>, overdue: bool) -> Failure {
    let failure = |text: String| Failure::new(FailureKind::Business, text).with_status(of);
    let bare = || format!("the provider answered with an exception (code {of})");
    let Some(message) = message else { return failure(bare()) };
    let body = match result(message) {
        Ok(body) => body,
        Err(error) => return failure(format!("{}; {}", bare(), error.message)),
    };
    let read = match JavaException::decode(&body) {
        Ok(read) => read,
        Err(error) => return failure(format!("{}, which cannot be read: {error}", bare())),
    };
    let mut failure = failure(read.to_string());
    if overdue && read.class.ends_with(TIMEOUT) {
        failure.kind = FailureKind::Timeout;
        failure.status = Some(code::DEADLINE_EXCEEDED);
    }
    failure.exception = Some(Box::new(Exception { class: read.class, body }));
    failure
}

/// What a call was wrapped in, so that its answer is wrapped alike.
#[derive(Clone, Debug)]
pub(crate) struct Wrapped {
    serialize_type: String,
}

impl Default for Wrapped {
    fn default() -> Self {
        Self { serialize_type: HESSIAN[0].to_owned() }
    }
}

impl Wrapped {
    /// Reads the message of a request.
    pub(crate) fn open(message: Bytes) -> Result<(Self, JavaArguments), WrapperError> {
        let wrapper = TripleRequestWrapper::decode(message)
            .map_err(|error| WrapperError::Malformed(error.to_string()))?;
        check(&wrapper.serialize_type)?;
        let types = descriptor(&wrapper)?;
        let mut serialize_type = wrapper.serialize_type;
        if serialize_type.is_empty() {
            HESSIAN[0].clone_into(&mut serialize_type);
        }
        let values = JavaValues::Each(wrapper.args);
        Ok((Self { serialize_type }, JavaArguments { types, values }))
    }

    /// The message of a result; `ty` is its declared type. Nothing at all is null.
    pub(crate) fn result(&self, value: Bytes, ty: Option<&str>) -> Bytes {
        let value = if value.is_empty() { Bytes::from_static(b"N") } else { value };
        // Dubbo writes the name of the class.
        let named =
            ty.map(|ty| JavaType::parse(ty).map_or_else(|_| ty.to_owned(), |ty| ty.class_name()));
        self.answer(value, named.unwrap_or_default())
    }

    /// The message of an exception; Dubbo names no type beside it.
    pub(crate) fn exception(&self, body: Bytes) -> Bytes {
        self.answer(body, String::new())
    }

    fn answer(&self, data: Bytes, r#type: String) -> Bytes {
        let serialize_type = self.serialize_type.clone();
        TripleResponseWrapper { serialize_type, data, r#type }.encode_to_vec().into()
    }
}

/// The types of the arguments as a descriptor; `None` when they were left out.
fn descriptor(wrapper: &TripleRequestWrapper) -> Result<Option<Arc<str>>, WrapperError> {
    let observers = wrapper.arg_types.iter().rev().take_while(|name| *name == OBSERVER).count();
    let (types, args) = (wrapper.arg_types.len() - observers, wrapper.args.len());
    if types == 0 && args > 0 {
        return Ok(None);
    }
    if types != args {
        return Err(WrapperError::Count { types, args });
    }
    let mut text = String::new();
    for name in wrapper.arg_types.iter().take(types) {
        text.push_str(&JavaType::parse(name)?.descriptor());
    }
    Ok(Some(text.into()))
}

/// No name at all is Dubbo's default.
fn check(serialization: &str) -> Result<(), WrapperError> {
    if serialization.is_empty() || HESSIAN.contains(&serialization) {
        return Ok(());
    }
    let shown = serialization.floor_char_boundary(40);
    Err(WrapperError::Serialization(serialization.get(..shown).unwrap_or_default().to_owned()))
}

#[cfg(test)]
mod tests {
    use equipoise_hessian::{Node, Value, unhex};
    use proptest::prelude::*;

    use super::*;

    /// Arguments that are there already.
    #[derive(Debug)]
    struct Ready(&'static str, Vec<Bytes>);

    impl Arguments for Ready {
        fn descriptor(&self) -> &str {
            self.0
        }

        fn joined(&self) -> Result<Bytes, Failure> {
            Ok(self.1.concat().into())
        }

        fn each(&self) -> Result<Vec<Bytes>, Failure> {
            Ok(self.1.clone())
        }

        fn hashed(&self) -> Vec<equipoise_core::hash::key::Argument> {
            Vec::new()
        }
    }

    fn hex(text: &str) -> Bytes {
        unhex(&text.replace(' ', "")).unwrap().into()
    }

    fn value(node: Node) -> Bytes {
        Value::of(node).encode().into()
    }

    /// `greet("world", 7)` as captured from a consumer of Dubbo Java, which says `hessian4` where we
    /// say `hessian2`.
    const GREET: &str = "0a086865737369616e34 1206 05776f726c64 1201 97 \
        1a106a6176612e6c616e672e537472696e67 1a03696e74";

    #[test]
    fn requests_are_those_of_java() {
        let world = value(Node::Str("world".into()));
        let arguments = Ready("Ljava/lang/String;I", vec![world.clone(), value(Node::Int(7))]);
        let java = GREET.replace("6e34", "6e32");
        assert_eq!(request(&arguments).unwrap(), hex(&java));
        let (wrapped, read) = Wrapped::open(hex(GREET)).unwrap();
        assert_eq!(wrapped.serialize_type, "hessian4");
        assert_eq!(read.types.as_deref(), Some("Ljava/lang/String;I"));
        assert_eq!(read.values, JavaValues::Each(vec![world, value(Node::Int(7))]));
        let arrays = Ready("[I[[Ljava/lang/String;", vec![value(Node::Null), value(Node::Null)]);
        let read = Wrapped::open(request(&arrays).unwrap()).unwrap().1;
        assert_eq!(read.types.as_deref(), Some("[I[[Ljava/lang/String;"));
    }

    #[test]
    fn a_call_without_arguments_names_the_serialization_only() {
        let bare = request(&Ready("", vec![])).unwrap();
        assert_eq!(bare, hex("0a086865737369616e32"));
        for message in [bare, Bytes::new()] {
            let read = Wrapped::open(message).unwrap().1;
            assert_eq!(
                read,
                JavaArguments { types: Some("".into()), values: JavaValues::Each(vec![]) }
            );
        }
    }

    #[test]
    fn answers_are_those_of_java() {
        let (wrapped, _) = Wrapped::open(hex(GREET)).unwrap();
        let greeting = value(Node::Str("hello world x7".into()));
        let java = hex("0a086865737369616e34 120f 0e68656c6c6f20776f726c64207837 \
             1a106a6176612e6c616e672e537472696e67");
        assert_eq!(wrapped.result(greeting.clone(), Some("java.lang.String")), java);
        assert_eq!(result(java).unwrap(), greeting);
        let void = hex("0a086865737369616e34 12014e 1a04766f6964");
        assert_eq!(wrapped.result(Bytes::new(), Some("void")), void);
        assert_eq!(result(void).unwrap(), value(Node::Null));
        let array = wrapped.result(value(Node::Null), Some("java.lang.String[]"));
        assert!(array.ends_with(b"[Ljava.lang.String;"), "{array:?}");
    }

    #[test]
    fn types_may_be_left_out_and_observers_are_no_arguments() {
        let wrapper = |types: &[&str], args: usize| {
            let message = TripleRequestWrapper {
                serialize_type: "hessian2".into(),
                args: vec![value(Node::Null); args],
                arg_types: types.iter().map(|ty| (*ty).to_owned()).collect(),
            };
            Wrapped::open(message.encode_to_vec().into()).map(|(_, java)| java.types)
        };
        assert_eq!(wrapper(&[], 2), Ok(None));
        assert_eq!(wrapper(&["int", OBSERVER], 1), Ok(Some("I".into())));
        assert_eq!(wrapper(&["int"], 2), Err(WrapperError::Count { types: 1, args: 2 }));
        let bad = wrapper(&["a b"], 1).unwrap_err().to_string();
        assert!(bad.contains("\"a b\"") && bad.contains("byte 1"), "{bad}");
    }

    #[test]
    fn other_serializations_are_refused_with_the_way_out() {
        let request = TripleRequestWrapper {
            serialize_type: "fastjson2".into(),
            ..TripleRequestWrapper::default()
        };
        let status = Status::from(Wrapped::open(request.encode_to_vec().into()).unwrap_err());
        assert_eq!(status.code, code::INVALID_ARGUMENT);
        let answer = TripleResponseWrapper {
            serialize_type: "fastjson2".into(),
            ..TripleResponseWrapper::default()
        };
        let failure = result(answer.encode_to_vec().into()).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Serialization);
        for text in [status.message, failure.message] {
            assert!(text.contains("fastjson2") && text.contains("prefer.serialization=hessian2"));
        }
    }

    #[test]
    fn exceptions_keep_class_message_and_object() {
        let thrown = JavaException::new("a.Full", "no room").to_exception();
        let (wrapped, _) = Wrapped::open(Bytes::new()).unwrap();
        let message = wrapped.exception(thrown.body.clone());
        let failure = exception(3, Some(message), false);
        assert_eq!((failure.kind, failure.status), (FailureKind::Business, Some(3)));
        assert_eq!(failure.message, "a.Full: no room");
        assert_eq!(failure.exception.as_deref(), Some(&thrown));
        // What is missing or broken is an exception all the same.
        for message in
            [None, Some(Bytes::from_static(b"\xff")), Some(wrapped.exception("C".into()))]
        {
            let failure = exception(7, message, false);
            assert_eq!((failure.kind, failure.status), (FailureKind::Business, Some(7)));
            assert!(failure.message.contains("exception (code 7)"), "{failure}");
            assert_eq!(failure.exception, None);
        }
    }

    #[test]
    fn a_timeout_of_javas_server_is_one_when_it_is_ours_too() {
        let class = "org.apache.dubbo.remoting.http12.exception.HttpRequestTimeout";
        let thrown = JavaException::new(class, "too late").to_exception();
        let (wrapped, _) = Wrapped::open(Bytes::new()).unwrap();
        let failure = |overdue| exception(3, Some(wrapped.exception(thrown.body.clone())), overdue);
        assert_eq!(failure(true).kind, FailureKind::Timeout);
        assert_eq!(failure(false).kind, FailureKind::Business);
    }

    proptest! {
        #[test]
        fn arbitrary_messages_never_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..80),
            near in prop::collection::vec(
                prop_oneof![Just(0x0a_u8), Just(0x12), Just(0x1a), 0..12_u8], 0..40),
        ) {
            for bytes in [Bytes::from(bytes), near.into()] {
                let _ = Wrapped::open(bytes.clone());
                let _ = result(bytes.clone());
                prop_assert!(!exception(3, Some(bytes), false).message.is_empty());
            }
        }
    }
}
