//! The classes of Java that have a type in Rust already.

use super::classfile::signature::Primitive;

/// A class that the runtime has a type for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// Its class.
    pub(crate) java: &'static str,
    /// Its path in generated code.
    pub(crate) rust: &'static str,
}

const KNOWN: [Known; 26] = [
    Known { java: "java.util.Date", rust: "java::Date" },
    Known { java: "java.sql.Date", rust: "java::SqlDate" },
    Known { java: "java.sql.Time", rust: "java::SqlTime" },
    Known { java: "java.sql.Timestamp", rust: "java::Timestamp" },
    Known { java: "java.time.LocalDate", rust: "java::LocalDate" },
    Known { java: "java.time.LocalTime", rust: "java::LocalTime" },
    Known { java: "java.time.LocalDateTime", rust: "java::LocalDateTime" },
    Known { java: "java.time.Instant", rust: "java::Instant" },
    Known { java: "java.time.Duration", rust: "java::Duration" },
    Known { java: "java.time.Period", rust: "java::Period" },
    Known { java: "java.time.Year", rust: "java::Year" },
    Known { java: "java.time.YearMonth", rust: "java::YearMonth" },
    Known { java: "java.time.MonthDay", rust: "java::MonthDay" },
    Known { java: "java.time.ZoneId", rust: "java::ZoneId" },
    Known { java: "java.time.ZoneOffset", rust: "java::ZoneOffset" },
    Known { java: "java.time.OffsetDateTime", rust: "java::OffsetDateTime" },
    Known { java: "java.time.OffsetTime", rust: "java::OffsetTime" },
    Known { java: "java.time.ZonedDateTime", rust: "java::ZonedDateTime" },
    Known { java: "java.math.BigDecimal", rust: "java::BigDecimal" },
    Known { java: "java.math.BigInteger", rust: "java::BigInteger" },
    Known { java: "java.util.UUID", rust: "java::Uuid" },
    Known { java: "java.util.Locale", rust: "java::Locale" },
    Known { java: "java.lang.Class", rust: "java::Class" },
    Known { java: "java.io.File", rust: "java::File" },
    Known { java: "java.lang.Throwable", rust: "java::Throwable" },
    Known { java: "java.lang.StackTraceElement", rust: "java::StackTraceElement" },
];

/// The type of a class.
pub(crate) fn known(class: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.java == class)
}

/// What a class of the Java library is, apart from [`known`] ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    Boxed(Primitive),
    Text,
    Object,
    Void,
    /// A collection. What every peer makes of a list that comes without its type is told apart: only
    /// that can stand inside another collection.
    List {
        untyped: bool,
    },
    Map {
        untyped: bool,
    },
    Optional,
    /// The result of a method that answers later.
    Future,
    /// Something that streams.
    Stream,
}

/// What a class is; none for a class that is not special.
pub(crate) fn library(class: &str) -> Option<Library> {
    Some(match class {
        "java.lang.Boolean" => Library::Boxed(Primitive::Boolean),
        "java.lang.Byte" => Library::Boxed(Primitive::Byte),
        "java.lang.Character" => Library::Boxed(Primitive::Char),
        "java.lang.Short" => Library::Boxed(Primitive::Short),
        "java.lang.Integer" => Library::Boxed(Primitive::Int),
        "java.lang.Long" => Library::Boxed(Primitive::Long),
        "java.lang.Float" => Library::Boxed(Primitive::Float),
        "java.lang.Double" => Library::Boxed(Primitive::Double),
        "java.lang.String" | "java.lang.CharSequence" => Library::Text,
        "java.lang.Object" => Library::Object,
        "java.lang.Void" => Library::Void,
        "java.util.Optional" => Library::Optional,
        "java.util.concurrent.CompletableFuture" => Library::Future,
        "java.util.List"
        | "java.util.Collection"
        | "java.lang.Iterable"
        | "java.util.ArrayList" => Library::List { untyped: true },
        "java.util.Map" | "java.util.HashMap" => Library::Map { untyped: true },
        class if TYPED_LISTS.contains(&class) => Library::List { untyped: false },
        class if TYPED_MAPS.contains(&class) => Library::Map { untyped: false },
        class if STREAMS.contains(&class) => Library::Stream,
        _ => return None,
    })
}

const TYPED_LISTS: [&str; 12] = [
    "java.util.Set",
    "java.util.HashSet",
    "java.util.LinkedHashSet",
    "java.util.SortedSet",
    "java.util.NavigableSet",
    "java.util.TreeSet",
    "java.util.LinkedList",
    "java.util.Vector",
    "java.util.Queue",
    "java.util.Deque",
    "java.util.ArrayDeque",
    "java.util.concurrent.CopyOnWriteArrayList",
];

const TYPED_MAPS: [&str; 7] = [
    "java.util.LinkedHashMap",
    "java.util.SortedMap",
    "java.util.NavigableMap",
    "java.util.TreeMap",
    "java.util.Hashtable",
    "java.util.concurrent.ConcurrentMap",
    "java.util.concurrent.ConcurrentHashMap",
];

const STREAMS: [&str; 7] = [
    "org.apache.dubbo.common.stream.StreamObserver",
    "io.grpc.stub.StreamObserver",
    "org.reactivestreams.Publisher",
    "java.util.concurrent.Flow$Publisher",
    "reactor.core.publisher.Flux",
    "reactor.core.publisher.Mono",
    "java.util.stream.Stream",
];

/// Whether a class belongs to Java itself, whose class files nobody has at hand.
pub(crate) fn of_java(class: &str) -> bool {
    ["java.", "javax.", "jdk."].iter().any(|package| class.starts_with(package))
}

/// Whether a class of Java itself is an exception; there, names tell.
pub(crate) fn is_exception_of_java(class: &str) -> bool {
    of_java(class)
        && (class == "java.lang.Throwable"
            || class.ends_with("Exception")
            || class.ends_with("Error"))
}

/// Exceptions that say nothing: every method may throw one of their subclasses.
pub(crate) fn is_any_exception(class: &str) -> bool {
    matches!(
        class,
        "java.lang.Throwable"
            | "java.lang.Exception"
            | "java.lang.RuntimeException"
            | "java.lang.Error"
    )
}

impl Primitive {
    /// The class around it.
    pub(crate) fn boxed(self) -> &'static str {
        match self {
            Primitive::Boolean => "java.lang.Boolean",
            Primitive::Byte => "java.lang.Byte",
            Primitive::Char => "java.lang.Character",
            Primitive::Short => "java.lang.Short",
            Primitive::Int => "java.lang.Integer",
            Primitive::Long => "java.lang.Long",
            Primitive::Float => "java.lang.Float",
            Primitive::Double => "java.lang.Double",
        }
    }

    /// Its type in Rust.
    pub(crate) fn rust(self) -> &'static str {
        match self {
            Primitive::Boolean => "bool",
            Primitive::Byte => "i8",
            Primitive::Char => "char",
            Primitive::Short => "i16",
            Primitive::Int => "i32",
            Primitive::Long => "i64",
            Primitive::Float => "f32",
            Primitive::Double => "f64",
        }
    }
}
