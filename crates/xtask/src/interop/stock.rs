//! `io.equipoise.interop.Stock` and its types, in Rust.

use std::collections::{BTreeMap, HashMap};

use equipoise::JavaObject;
use equipoise::java::{self, Context, Fault, Value};

/// Its name in Java.
pub(crate) const STOCK: &str = "io.equipoise.interop.Stock";

/// The interface of plain Java types that both sides provide and consume.
#[equipoise::interface(java = "io.equipoise.interop.Stock")]
pub(crate) trait Stock {
    async fn greet(&self, name: String, times: i32) -> Result<String, Fault>;
    async fn price(&self, order: Order) -> Result<Order, Fault>;
    async fn everything(&self, everything: Everything) -> Result<Everything, Fault>;
    #[java(name = "find")]
    async fn find_name(&self, name: String) -> Result<String, Fault>;
    #[java(name = "find")]
    async fn find_number(&self, number: i32) -> Result<String, Fault>;
    #[java(name = "find")]
    async fn find_both(&self, name: String, number: i32) -> Result<String, Fault>;
    async fn reserve(&self, sku: String, amount: i32) -> Result<i32, Fault<OutOfStock>>;
    async fn fail(&self, kind: String, message: String) -> Result<(), Fault>;
    async fn sleep(&self, millis: i64) -> Result<i64, Fault>;
    async fn blob(&self, size: i32) -> Result<Vec<u8>, Fault>;
    async fn echo_bytes(&self, bytes: Vec<u8>) -> Result<Vec<u8>, Fault>;
    async fn nothing(&self, maybe: Option<String>) -> Result<Option<String>, Fault>;
    async fn touch(&self) -> Result<(), Fault>;
    async fn attachments(
        &self,
        call: &Context,
        prefix: String,
    ) -> Result<HashMap<String, String>, Fault>;
    async fn later(&self, text: String) -> Result<String, Fault>;
    async fn note(&self, text: String) -> Result<(), Fault>;
    async fn notes(&self) -> Result<i32, Fault>;
    async fn echo(&self, value: Value) -> Result<Value, Fault>;
    async fn users(&self, users: Vec<User>) -> Result<Vec<User>, Fault>;
    async fn index(&self, users: BTreeMap<String, User>) -> Result<BTreeMap<String, User>, Fault>;
    async fn who(&self) -> Result<String, Fault>;
}

/// The business exception.
#[derive(Clone, Debug, Default, PartialEq, JavaObject)]
#[java(class = "io.equipoise.interop.OutOfStock", throwable)]
pub(crate) struct OutOfStock {
    pub(crate) message: Option<String>,
    pub(crate) sku: Option<String>,
    pub(crate) left: i32,
}

/// An enum in objects.
#[derive(Clone, Debug, Default, PartialEq, JavaObject)]
#[java(class = "io.equipoise.interop.Kind")]
pub(crate) enum Kind {
    #[default]
    Food,
    Tool,
    Book,
}

/// A plain object.
#[derive(Clone, Debug, Default, PartialEq, JavaObject)]
#[java(class = "io.equipoise.interop.User")]
pub(crate) struct User {
    pub(crate) name: Option<String>,
    pub(crate) age: i32,
    pub(crate) likes: Option<Kind>,
}

/// A plain object whose class has a superclass.
#[derive(Clone, Debug, Default, PartialEq, JavaObject)]
#[java(class = "io.equipoise.interop.Customer")]
pub(crate) struct Customer {
    pub(crate) name: Option<String>,
    pub(crate) age: i32,
    pub(crate) likes: Option<Kind>,
    pub(crate) address: Option<String>,
    pub(crate) since: i64,
}

/// One line of an order.
#[derive(Clone, Debug, Default, PartialEq, JavaObject)]
#[java(class = "io.equipoise.interop.Line")]
pub(crate) struct Line {
    pub(crate) sku: Option<String>,
    pub(crate) amount: i32,
    pub(crate) price: Option<java::BigDecimal>,
    pub(crate) kind: Option<Kind>,
}

/// A nested object of about a kibibyte.
#[derive(Clone, Debug, Default, PartialEq, JavaObject)]
#[java(class = "io.equipoise.interop.Order")]
pub(crate) struct Order {
    pub(crate) id: i64,
    pub(crate) customer: Option<Customer>,
    pub(crate) lines: Option<Vec<Line>>,
    pub(crate) notes: Option<BTreeMap<String, String>>,
    pub(crate) placed: Option<java::Date>,
    pub(crate) signature: Option<Vec<u8>>,
    pub(crate) total: Option<java::BigDecimal>,
    pub(crate) paid: bool,
}

/// A field for every Java type that crosses the wire unharmed.
#[derive(Clone, Debug, Default, PartialEq, JavaObject)]
#[java(class = "io.equipoise.interop.Everything")]
pub(crate) struct Everything {
    pub(crate) flag: bool,
    pub(crate) octet: i8,
    pub(crate) small: i16,
    pub(crate) letter: char,
    pub(crate) number: i32,
    pub(crate) large: i64,
    pub(crate) real: f64,
    pub(crate) boxed_flag: Option<bool>,
    pub(crate) boxed_octet: Option<i8>,
    pub(crate) boxed_small: Option<i16>,
    pub(crate) boxed_letter: Option<char>,
    pub(crate) boxed_number: Option<i32>,
    pub(crate) boxed_large: Option<i64>,
    pub(crate) boxed_single: Option<f32>,
    pub(crate) boxed_real: Option<f64>,
    pub(crate) text: Option<String>,
    pub(crate) missing: Option<String>,
    pub(crate) bytes: Option<Vec<u8>>,
    #[java(type = "int[]")]
    pub(crate) numbers: Option<Vec<i32>>,
    #[java(type = "long[]")]
    pub(crate) larges: Option<Vec<i64>>,
    #[java(type = "double[]")]
    pub(crate) reals: Option<Vec<f64>>,
    #[java(type = "boolean[]")]
    pub(crate) flags: Option<Vec<bool>>,
    #[java(type = "char[]")]
    pub(crate) letters: Option<String>,
    #[java(type = "java.lang.String[]")]
    pub(crate) texts: Option<Vec<Option<String>>>,
    #[java(type = "java.lang.Object[]")]
    pub(crate) objects: Option<Vec<Value>>,
    #[java(type = "io.equipoise.interop.User[]")]
    pub(crate) users: Option<Vec<User>>,
    #[java(type = "int[][]")]
    pub(crate) grid: Option<Vec<Vec<i32>>>,
    pub(crate) list: Option<Vec<String>>,
    #[java(type = "java.util.LinkedList")]
    pub(crate) linked: Option<Vec<i32>>,
    #[java(type = "java.util.Set")]
    pub(crate) set: Option<Vec<String>>,
    pub(crate) map: Option<BTreeMap<String, i32>>,
    #[java(type = "java.util.TreeMap")]
    pub(crate) sorted: Option<BTreeMap<String, i32>>,
    #[java(type = "java.util.LinkedHashMap")]
    pub(crate) ordered: Option<BTreeMap<i32, String>>,
    pub(crate) date: Option<java::Date>,
    pub(crate) local_date: Option<java::LocalDate>,
    pub(crate) local_time: Option<java::LocalTime>,
    pub(crate) local_date_time: Option<java::LocalDateTime>,
    pub(crate) offset_date_time: Option<java::OffsetDateTime>,
    pub(crate) zoned_date_time: Option<java::ZonedDateTime>,
    pub(crate) instant: Option<java::Instant>,
    pub(crate) duration: Option<java::Duration>,
    pub(crate) decimal: Option<java::BigDecimal>,
    pub(crate) integer: Option<java::BigInteger>,
    pub(crate) kind: Option<Kind>,
    pub(crate) uuid: Option<java::Uuid>,
    pub(crate) locale: Option<java::Locale>,
    pub(crate) user: Option<User>,
    #[java(type = "io.equipoise.interop.User")]
    pub(crate) heir: Option<Customer>,
    pub(crate) people: Option<Vec<Customer>>,
}
