//! What the code of the macros calls. Not for people, and not covered by any promise.
#![doc(hidden)]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use bytes::Bytes as Buffer;
use equipoise_client::hash_argument;
use equipoise_core::hash::key::Argument;
use equipoise_core::outcome::{Failure, FailureKind};
use equipoise_core::port::{Arguments, BodyFormat, Reply};
use equipoise_hessian::{Decoder, Encoder};
use equipoise_protocol::java::{JavaArguments, JavaValues};
use equipoise_protocol::{CallContext, Status, code};
use serde::de::{self, DeserializeOwned, Deserializer, EnumAccess, VariantAccess as _, Visitor};
use serde::ser::{SerializeStruct as _, Serializer};
use serde::{Deserialize, Serialize};

use crate::java::CodecError;
use crate::java::fault::{Fault, Thrown};
use crate::provider::Context;

/// The descriptors of all parameters as one.
pub fn descriptor(parts: &[&str]) -> Arc<str> {
    parts.concat().into()
}

/// Reads one value.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CodecError> {
    equipoise_hessian::from_slice(bytes)
}

/// Writes one value.
pub fn encode<T: Serialize>(value: &T) -> Result<Buffer, CodecError> {
    equipoise_hessian::to_vec(value).map(Buffer::from)
}

/// One argument, whatever its type.
trait Value: Send + Sync {
    fn put(&self, encoder: &mut Encoder) -> Result<(), CodecError>;
    fn hashed(&self) -> Argument;
}

impl<T: Serialize + Send + Sync> Value for T {
    fn put(&self, encoder: &mut Encoder) -> Result<(), CodecError> {
        encoder.put(self)
    }

    fn hashed(&self) -> Argument {
        serde_json::to_value(self).map_or(Argument::Null, hash_argument)
    }
}

/// The arguments of a call. Encoded once per form, when a protocol asks.
pub struct Outgoing {
    descriptor: Arc<str>,
    values: Vec<Box<dyn Value>>,
    joined: OnceLock<Result<Buffer, String>>,
    each: OnceLock<Result<Vec<Buffer>, String>>,
}

impl Outgoing {
    /// Without arguments yet.
    pub fn new(descriptor: &Arc<str>) -> Self {
        let (joined, each) = (OnceLock::new(), OnceLock::new());
        Self { descriptor: descriptor.clone(), values: Vec::new(), joined, each }
    }

    /// Adds the next argument.
    pub fn put(&mut self, value: impl Serialize + Send + Sync + 'static) {
        self.values.push(Box::new(value));
    }

    fn encoded<'v>(
        &'v self,
        values: impl Iterator<Item = (usize, &'v Box<dyn Value>)>,
    ) -> Result<Buffer, String> {
        let mut encoder = Encoder::new();
        for (at, value) in values {
            let put = value.put(&mut encoder);
            put.map_err(|error| format!("argument {at} cannot be written: {error}"))?;
        }
        Ok(encoder.into_bytes())
    }
}

impl Arguments for Outgoing {
    fn descriptor(&self) -> &str {
        &self.descriptor
    }

    fn joined(&self) -> Result<Buffer, Failure> {
        let joined = self.joined.get_or_init(|| self.encoded(self.values.iter().enumerate()));
        joined.clone().map_err(unwritable)
    }

    fn each(&self) -> Result<Vec<Buffer>, Failure> {
        let each = self.each.get_or_init(|| {
            let values = self.values.iter().enumerate();
            values.map(|one| self.encoded(std::iter::once(one))).collect()
        });
        each.clone().map_err(unwritable)
    }

    fn hashed(&self) -> Vec<Argument> {
        self.values.iter().map(|value| value.hashed()).collect()
    }
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing").field("descriptor", &self.descriptor).finish_non_exhaustive()
    }
}

fn unwritable(reason: String) -> Failure {
    Failure::not_sent(FailureKind::Invalid, reason)
}

/// The methods of a provider.
#[derive(Debug)]
pub struct Methods {
    interface: &'static str,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    name: &'static str,
    descriptor: Arc<str>,
    parameters: usize,
}

impl Methods {
    /// In the order of the trait.
    pub fn new(interface: &'static str, rows: Vec<(&'static str, Arc<str>)>) -> Self {
        let row = |(name, descriptor): (_, Arc<str>)| {
            let parameters = equipoise_protocol::java::parameters(&descriptor);
            Row { name, descriptor, parameters }
        };
        Self { interface, rows: rows.into_iter().map(row).collect() }
    }

    /// Which method is called, by its place in the trait.
    pub fn open(&self, call: CallContext) -> Result<(usize, Context), Status> {
        let method = self.find(&call)?;
        Ok((method, Context::new(call)))
    }

    fn find(&self, call: &CallContext) -> Result<usize, Status> {
        let name = call.method();
        let named = || self.rows.iter().enumerate().filter(|(_, row)| row.name == name);
        if named().next().is_none() {
            return Err(Status::unknown_method(self.interface, name));
        }
        let fitting: Vec<usize> = match types(call) {
            Some(types) => {
                named().filter(|(_, row)| *row.descriptor == *types).map(|(at, _)| at).collect()
            }
            None => {
                let count = count(call)?;
                let fits = |row: &Row| count.is_none_or(|count| row.parameters == count);
                named().filter(|(_, row)| fits(row)).map(|(at, _)| at).collect()
            }
        };
        match fitting[..] {
            [one] => Ok(one),
            _ => Err(self.unclear(name, call, fitting.len())),
        }
    }

    fn unclear(&self, name: &str, call: &CallContext, fitting: usize) -> Status {
        let there: Vec<_> = self.rows.iter().filter(|row| row.name == name).collect();
        let there: Vec<_> = there.iter().map(|row| format!("({})", row.descriptor)).collect();
        let asked = types(call).unwrap_or("its number of arguments");
        let text = format!(
            "{} methods {name} of {} fit {asked}; there are {}",
            if fitting == 0 { "no" } else { "several" },
            self.interface,
            there.join(", "),
        );
        Status::new(code::UNIMPLEMENTED, text)
    }
}

fn types(call: &CallContext) -> Option<&str> {
    call.java.as_ref()?.types.as_deref()
}

/// How many arguments there are; `None` when that can only be told by reading them.
fn count(call: &CallContext) -> Result<Option<usize>, Status> {
    match (&call.java, call.format) {
        (Some(JavaArguments { values: JavaValues::Each(values), .. }), _) => Ok(Some(values.len())),
        (None, BodyFormat::Json) => Ok(Some(json(&call.body)?.len())),
        _ => Ok(None),
    }
}

fn json(body: &[u8]) -> Result<Vec<serde_json::Value>, Status> {
    match serde_json::from_slice(body) {
        Ok(serde_json::Value::Array(all)) => Ok(all),
        Ok(one) => Ok(vec![one]),
        Err(error) if body.is_empty() => {
            tracing::trace!(%error, "a call without a body has no arguments");
            Ok(Vec::new())
        }
        Err(error) => Err(Status::new(code::INVALID_ARGUMENT, format!("the body: {error}"))),
    }
}

/// The arguments of a call that has arrived.
pub struct Incoming<'c> {
    source: Source<'c>,
    read: usize,
}

#[expect(clippy::large_enum_variant, reason = "the large one is the usual one, on the stack")]
enum Source<'c> {
    Joined(Decoder<'c>),
    Each(std::slice::Iter<'c, Buffer>),
    Json(std::vec::IntoIter<serde_json::Value>),
}

impl Incoming<'_> {
    /// The next argument.
    pub fn take<T: DeserializeOwned>(&mut self) -> Result<T, Status> {
        let at = self.read;
        self.read += 1;
        let missing = || wrong(at, &"it is missing");
        match &mut self.source {
            Source::Joined(decoder) => decoder.next().map_err(|error| wrong(at, &error)),
            Source::Each(values) => {
                let value = values.next().ok_or_else(missing)?;
                equipoise_hessian::from_slice(value).map_err(|error| wrong(at, &error))
            }
            Source::Json(values) => {
                let value = values.next().ok_or_else(missing)?;
                serde_json::from_value(value).map_err(|error| wrong(at, &error))
            }
        }
    }
}

fn wrong(at: usize, reason: &dyn fmt::Display) -> Status {
    Status::new(code::INVALID_ARGUMENT, format!("argument {at} cannot be read: {reason}"))
}

impl Context {
    /// The arguments, from the first on.
    #[doc(hidden)]
    pub fn arguments(&self) -> Result<Incoming<'_>, Status> {
        let source = match (&self.call.java, self.call.format) {
            (Some(JavaArguments { values: JavaValues::Joined(bytes), .. }), _) => {
                Source::Joined(Decoder::new(bytes))
            }
            (Some(JavaArguments { values: JavaValues::Each(values), .. }), _) => {
                Source::Each(values.iter())
            }
            (None, BodyFormat::Json) => Source::Json(json(&self.call.body)?.into_iter()),
            (None, _) => {
                let text = "a method of a Java interface takes Java values or JSON";
                return Err(Status::new(code::UNIMPLEMENTED, text));
            }
        };
        Ok(Incoming { source, read: 0 })
    }

    /// The answer to a method that is none.
    #[doc(hidden)]
    pub fn unknown(&self) -> Status {
        Status::unknown_method(&self.call.service.interface, self.call.method())
    }

    /// The answer.
    #[doc(hidden)]
    pub fn reply<T: Serialize, E: Thrown>(
        &self,
        result: Result<T, Fault<E>>,
    ) -> Result<Reply, Status> {
        let attachments = self.take_answer();
        let value = match result {
            Ok(value) => value,
            Err(fault) => return Err(fault.status().with_attachments(attachments)),
        };
        let body = match self.call.format {
            BodyFormat::Json => serde_json::to_vec(&value).map_err(|error| unwritten(&error)),
            _ => equipoise_hessian::to_vec(&value).map_err(|error| unwritten(&error)),
        };
        Ok(Reply { body: body?.into(), attachments })
    }
}

fn unwritten(error: &dyn fmt::Display) -> Status {
    Status::new(code::INTERNAL, format!("the result cannot be written: {error}"))
}

/// A value under the name of its Java type.
#[derive(Clone, Copy, Debug)]
pub struct Named<T> {
    /// `$list:…` or `$map:…`.
    pub name: &'static str,
    /// The value.
    pub value: T,
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(self.name, &self.value)
    }
}

/// Bytes as bytes.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<T>(pub T);

impl<T: AsRef<[u8]>> Serialize for Bytes<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0.as_ref())
    }
}

/// Bytes as bytes, or null.
#[derive(Clone, Copy, Debug)]
pub struct MaybeBytes<T>(pub Option<T>);

impl<T: AsRef<[u8]>> Serialize for MaybeBytes<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(bytes) => serializer.serialize_some(&Bytes(bytes)),
            None => serializer.serialize_none(),
        }
    }
}

/// Bytes, read.
#[derive(Clone, Debug, Default)]
pub struct ByteBuf(Vec<u8>);

impl From<ByteBuf> for Vec<u8> {
    fn from(bytes: ByteBuf) -> Self {
        bytes.0
    }
}

impl<'de> Deserialize<'de> for ByteBuf {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(ByteVisitor).map(Self)
    }
}

/// Bytes or null, read.
#[derive(Clone, Debug, Default)]
pub struct MaybeByteBuf(Option<Vec<u8>>);

impl From<MaybeByteBuf> for Option<Vec<u8>> {
    fn from(bytes: MaybeByteBuf) -> Self {
        bytes.0
    }
}

impl<'de> Deserialize<'de> for MaybeByteBuf {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Option::<ByteBuf>::deserialize(deserializer)?;
        Ok(Self(bytes.map(Vec::from)))
    }
}

struct ByteVisitor;

impl<'de> Visitor<'de> for ByteVisitor {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<u8>, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = seq.next_element()? {
            bytes.push(byte);
        }
        Ok(bytes)
    }
}

/// The object that this stands in: what the cause of an exception without one is.
#[derive(Clone, Copy, Debug)]
pub struct This;

impl Serialize for This {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit_struct("$this")
    }
}

/// The stack trace of an exception that comes from no Java code.
#[derive(Clone, Copy, Debug)]
pub struct NoStackTrace;

impl Serialize for NoStackTrace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct("$list:[java.lang.StackTraceElement", &[(); 0])
    }
}

/// No suppressed exceptions.
#[derive(Clone, Copy, Debug)]
pub struct NoSuppressed;

impl Serialize for NoSuppressed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct("$list:java.util.Collections$EmptyList", &[(); 0])
    }
}

/// A constant of an enum: an object with its name, or plain text where people read.
pub fn constant<S: Serializer>(
    serializer: S,
    class: &'static str,
    name: &str,
) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() {
        return serializer.serialize_str(name);
    }
    remember(class);
    let mut object = serializer.serialize_struct(class, 1)?;
    object.serialize_field("name", name)?;
    object.end()
}

/// Classes of constants that were written. On the wire a constant looks like an object with a field
/// `name`; generic calls, which must tell them apart, look only at what was written just before. The
/// names are those in the program, so there are no more of them than the program has enums.
static CONSTANTS: RwLock<BTreeSet<&'static str>> = RwLock::new(BTreeSet::new());

thread_local! {
    /// What this thread has told already, so that it asks for no lock twice.
    static TOLD: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

fn remember(class: &'static str) {
    TOLD.with_borrow_mut(|told| {
        if !told.iter().any(|known| std::ptr::eq(*known, class)) {
            told.push(class);
            CONSTANTS.write().unwrap_or_else(PoisonError::into_inner).insert(class);
        }
    });
}

/// Whether constants of this class were written.
pub fn is_constant(class: &str) -> bool {
    CONSTANTS.read().unwrap_or_else(PoisonError::into_inner).contains(class)
}

/// Reads a constant of an enum.
pub fn constant_name<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    class: &'static str,
    names: &'static [&'static str],
    named: fn(&str) -> Result<T, D::Error>,
) -> Result<T, D::Error> {
    deserializer.deserialize_enum(class, names, ConstantVisitor(class, named))
}

struct ConstantVisitor<T, E>(&'static str, fn(&str) -> Result<T, E>);

impl<'de, T, E: de::Error> Visitor<'de> for ConstantVisitor<T, E> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a constant of {}", self.0)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<T, A::Error> {
        let (name, rest): (String, _) = access.variant()?;
        rest.unit_variant()?;
        (self.1)(&name).map_err(de::Error::custom)
    }
}
