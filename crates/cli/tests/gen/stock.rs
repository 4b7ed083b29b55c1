//! Written by `equipoise gen` from `classes`.
#![allow(clippy::all, dead_code, missing_docs, unreachable_pub)]

use equipoise::java;

/// Java interface `com.acme.shop.Stock`.
#[equipoise::interface(java = "com.acme.shop.Stock")]
pub trait Stock {
    /// `void ping()`
    async fn ping(&self) -> Result<(), java::Fault>;

    /// `long count(long since)`
    async fn count(&self, since: i64) -> Result<i64, java::Fault>;

    /// `Order reserve(Order order, int count) throws OutOfStock`
    #[java(name = "reserve")]
    async fn reserve_order_int(
        &self,
        order: Option<Order>,
        count: i32,
    ) -> Result<Option<Order>, java::Fault<OutOfStock>>;

    /// `Order reserve(String sku) throws OutOfStock, IOException`
    #[java(name = "reserve")]
    async fn reserve_string(
        &self,
        sku: Option<String>,
    ) -> Result<Option<Order>, java::Fault<ReserveStringFault>>;

    /// `void reserve()`
    async fn reserve(&self) -> Result<(), java::Fault>;

    /// `Order get(Long id)`
    async fn get(&self, id: Option<i64>) -> Result<Option<Order>, java::Fault>;

    /// `boolean URLExists(String URL)`
    #[java(name = "URLExists")]
    async fn url_exists(&self, url: Option<String>) -> Result<bool, java::Fault>;

    /// `String type(String self, List<String> list, int match)`
    async fn r#type(
        &self,
        self_: Option<String>,
        list: Option<Vec<String>>,
        r#match: i32,
    ) -> Result<Option<String>, java::Fault>;

    /// `Collection<Item> find(Set<String> tags, int[] sizes, Map<String, Item> like, byte[] photo)`
    #[java(type = "java.util.Collection")]
    async fn find(
        &self,
        #[java(type = "java.util.Set")] tags: Option<Vec<String>>,
        #[java(type = "int[]")] sizes: Option<Vec<i32>>,
        like: Option<java::Map<String, ShopItem>>,
        photo: Option<Vec<u8>>,
    ) -> Result<Option<Vec<ShopItem>>, java::Fault>;

    /// `Set<String> tags(Level level, Date since)`
    #[java(type = "java.util.Set")]
    async fn tags(
        &self,
        level: Option<Level>,
        since: Option<java::Date>,
    ) -> Result<Option<Vec<String>>, java::Fault>;

    /// `Page<Order> page(int number)`
    async fn page(&self, number: i32) -> Result<Option<PageOfOrder>, java::Fault>;

    /// `Page<Map<String, Item>> pages(Page<Item> like)`
    async fn pages(
        &self,
        like: Option<PageOfItem>,
    ) -> Result<Option<PageOfMapOfStringAndItem>, java::Fault>;

    /// `Result<Page<Item>> result()`
    async fn result(&self) -> Result<Option<ResultOfPageOfItem>, java::Fault>;

    /// `Result raw()`
    async fn raw(&self) -> Result<Option<ShopResult>, java::Fault>;

    /// `<T extends Item> T generic(T item, List<T> more)`
    async fn generic(
        &self,
        item: Option<ShopItem>,
        more: Option<Vec<ShopItem>>,
    ) -> Result<Option<ShopItem>, java::Fault>;

    /// `<T> T open(T anything)`
    async fn open(&self, anything: java::Value) -> Result<java::Value, java::Fault>;

    /// `CompletableFuture<Order> reserveLater(Order order)`
    async fn reserve_later(&self, order: Option<Order>) -> Result<Option<Order>, java::Fault>;

    /// `CompletableFuture<Void> pingLater()`
    async fn ping_later(&self) -> Result<(), java::Fault>;

    /// `CompletableFuture<List<Level>> levels()`
    async fn levels(&self) -> Result<Option<Vec<Level>>, java::Fault>;

    /// `Optional<Item> maybe(Optional<String> sku)`
    async fn maybe(
        &self,
        sku: java::Optional<String>,
    ) -> Result<java::Optional<ShopItem>, java::Fault>;

    /// `Item bill(Item item)`
    async fn bill(&self, item: Option<ShopItem>) -> Result<Option<BillingItem>, java::Fault>;

    /// `String[] names(Item[] items, String[][] table, byte[][] chunks)`
    #[java(type = "java.lang.String[]")]
    async fn names(
        &self,
        #[java(type = "com.acme.shop.Item[]")] items: Option<Vec<ShopItem>>,
        #[java(type = "java.lang.String[][]")] table: Option<Vec<Vec<String>>>,
        #[java(type = "byte[][]")] chunks: Option<Vec<java::Value>>,
    ) -> Result<Option<Vec<String>>, java::Fault>;

    /// `Object any(Object value, Shape shape, Locale locale)`
    async fn any(
        &self,
        value: java::Value,
        #[java(type = "com.acme.shop.Shape")] shape: java::Value,
        locale: Option<java::Locale>,
    ) -> Result<java::Value, java::Fault>;

    /// `void everything() throws Exception`
    async fn everything(&self) -> Result<(), java::Fault>;

    /// `Foreign foreign(Gone gone, ItemList list) throws GoneException`
    async fn foreign(
        &self,
        #[java(type = "com.vendor.Gone")] gone: java::Value,
        #[java(type = "com.acme.shop.ItemList")] list: java::Value,
    ) -> Result<Option<Foreign>, java::Fault<GoneException>>;

    /// `Growing<Integer> growing(Growing<Item>[] all)`
    async fn growing(
        &self,
        #[java(type = "com.acme.shop.Growing[]")] all: Option<Vec<GrowingOfItem>>,
    ) -> Result<Option<GrowingOfInteger>, java::Fault>;

    /// `char[] letters(char[] letters, char[][] lines, boolean arguments, boolean context)`
    #[java(type = "char[]")]
    async fn letters(
        &self,
        #[java(type = "char[]")] letters: Option<String>,
        #[java(type = "char[][]")] lines: Option<Vec<String>>,
        arguments_: bool,
        context_: bool,
    ) -> Result<Option<String>, java::Fault>;

    /// `void builder()`
    async fn builder_(&self) -> Result<(), java::Fault>;

    /// `void __()`
    #[java(name = "__")]
    async fn field(&self) -> Result<(), java::Fault>;

    /// `Integer boxed(Integer a, Long b, Boolean c, Character d)`
    async fn boxed(
        &self,
        a: Option<i32>,
        b: Option<i64>,
        c: Option<bool>,
        d: Option<char>,
    ) -> Result<Option<i32>, java::Fault>;

    // Left out, because StreamObserver streams: `void watch(String sku, StreamObserver<Item> observer)`

    // Left out, because StreamObserver streams: `StreamObserver<Item> upload(StreamObserver<Integer> answers)`

    /// `void aMethodWithSoManyParametersThatItDoesNotFit(String theFirstParameter, String theSecondParameter, Set<String> theThird, int fourth)`
    async fn a_method_with_so_many_parameters_that_it_does_not_fit(
        &self,
        the_first_parameter: Option<String>,
        the_second_parameter: Option<String>,
        #[java(type = "java.util.Set")] the_third: Option<Vec<String>>,
        fourth: i32,
    ) -> Result<(), java::Fault>;

    /// `String described(String name, int times)`
    async fn described(
        &self,
        name: Option<String>,
        times: i32,
    ) -> Result<Option<String>, java::Fault>;

    // Left out, because its class file is not there: `java.lang.AutoCloseable`

    /// `List<T> all()`
    async fn all(&self) -> Result<Option<Vec<Order>>, java::Fault>;

    /// `T save(T arg0) throws ShopException`
    async fn save(
        &self,
        #[java(type = "java.lang.Object")] arg0: Option<Order>,
    ) -> Result<Option<Order>, java::Fault<ShopException>>;

    /// `T first(K from, long skip, double share, int take)`
    async fn first(
        &self,
        #[java(type = "java.lang.Object")] from: Option<i64>,
        skip: i64,
        share: f64,
        take: i32,
    ) -> Result<Option<Order>, java::Fault>;

    /// `int size()`
    async fn size(&self) -> Result<i32, java::Fault>;
}

/// `Stock.MAX_COUNT`
pub const MAX_COUNT: i32 = 100;

/// `Stock.GROUP`
pub const GROUP: &str = "blue \"one\"";

/// `Stock.BIG`
pub const BIG: i64 = 1099511627776;

/// `Stock.RATE`
pub const RATE: f64 = 0.5;

/// `Stock.STRICT`
pub const STRICT: bool = true;

/// `Stock.MARK`
pub const MARK: u16 = 120;

/// What `reserve_string` throws.
#[derive(Clone, Debug, PartialEq, equipoise::JavaObject)]
#[java(throwable)]
pub enum ReserveStringFault {
    OutOfStock(OutOfStock),
    IOException(IOException),
}

/// Java class `com.acme.shop.Order`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.acme.shop.Order")]
pub struct Order {
    pub id: Option<i64>,
    pub user_id: Option<String>,
    /// Hides the one of `com.acme.shop.Entity`.
    pub note: Option<OrderNote>,
    pub count: i32,
    pub discount: Option<i32>,
    pub paid: bool,
    pub flags: i8,
    pub zone: i16,
    pub grade: char,
    pub mark: Option<char>,
    pub ratio: f32,
    pub total: f64,
    pub gift: Option<bool>,
    pub rating: Option<f32>,
    pub photo: Option<Vec<u8>>,
    #[java(type = "int[]")]
    pub sizes: Option<Vec<i32>>,
    #[java(type = "java.lang.String[]")]
    pub labels: Option<Vec<String>>,
    #[java(type = "long[][]")]
    pub grid: Option<Vec<Vec<i64>>>,
    #[java(type = "com.acme.shop.Item[]")]
    pub samples: Option<Vec<ShopItem>>,
    pub items: Option<Vec<ShopItem>>,
    #[java(type = "java.util.Set")]
    pub tags: Option<Vec<String>>,
    pub by_shelf: Option<java::Map<String, Vec<ShopItem>>>,
    #[java(type = "java.util.LinkedHashMap")]
    pub ranks: Option<java::Map<i64, i32>>,
    pub groups: Option<Vec<java::Value>>,
    pub extras: Option<Vec<ShopItem>>,
    pub anything: Option<Vec<java::Value>>,
    pub raw: Option<Vec<java::Value>>,
    pub payload: java::Value,
    #[java(type = "java.lang.Comparable")]
    pub comparable: java::Value,
    pub level: Option<Level>,
    pub status: Option<Status>,
    pub created: Option<java::Date>,
    pub due: Option<java::LocalDate>,
    pub at: Option<java::LocalTime>,
    pub moment: Option<java::LocalDateTime>,
    pub instant: Option<java::Instant>,
    pub grace: Option<java::Duration>,
    pub price: Option<java::BigDecimal>,
    pub serial: Option<java::BigInteger>,
    pub token: Option<java::Uuid>,
    pub billed: Option<BillingItem>,
    #[java(type = "com.acme.shop.Shape")]
    pub shape: java::Value,
    pub point: Option<Point>,
    pub category: Option<Category>,
    pub r#type: Option<String>,
    pub self_: Option<String>,
    #[java(name = "URLPath")]
    pub url_path: Option<String>,
    #[java(name = "_hidden")]
    pub hidden: Option<String>,
    pub über: Option<String>,
    #[java(type = "java.lang.CharSequence")]
    pub text: Option<String>,
}

/// Java exception `com.acme.shop.OutOfStock`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.acme.shop.OutOfStock", throwable)]
pub struct OutOfStock {
    pub message: Option<String>,
    pub code: i32,
    pub level: Option<Level>,
    pub item: Option<ShopItem>,
    #[java(name = "message")]
    pub own_message: Option<String>,
}

/// Java exception `java.io.IOException`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "java.io.IOException", throwable)]
pub struct IOException {
    pub message: Option<String>,
}

/// Java class `com.acme.shop.Item`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.acme.shop.Item")]
pub struct ShopItem {
    pub sku: Option<String>,
    pub bundled_with: Option<Box<ShopItem>>,
}

/// Java enum `com.acme.shop.Level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, equipoise::JavaObject)]
#[java(class = "com.acme.shop.Level")]
pub enum Level {
    Low,
    VeryHigh,
    #[java(name = "mixedCase")]
    MixedCase,
}

/// Java class `com.acme.shop.Page` as `Page<Order>`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.acme.shop.Page")]
pub struct PageOfOrder {
    pub items: Option<Vec<Order>>,
    pub first: Option<Order>,
    pub total: i64,
    pub next: Option<Box<PageOfOrder>>,
}

/// Java class `com.acme.shop.Page` as `Page<Item>`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.acme.shop.Page")]
pub struct PageOfItem {
    pub items: Option<Vec<ShopItem>>,
    pub first: Option<ShopItem>,
    pub total: i64,
    pub next: Option<Box<PageOfItem>>,
}

/// Java class `com.acme.shop.Page` as `Page<Map<String, Item>>`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.acme.shop.Page")]
pub struct PageOfMapOfStringAndItem {
    pub items: Option<Vec<java::Map<String, ShopItem>>>,
    pub first: Option<java::Map<String, ShopItem>>,
    pub total: i64,
    pub next: Option<Box<PageOfMapOfStringAndItem>>,
}

/// Java class `com.acme.shop.Result` as `Result<Page<Item>>`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.acme.shop.Result")]
pub struct ResultOfPageOfItem {
    pub code: i32,
    pub data: Option<PageOfItem>,
}

/// Java class `com.acme.shop.Result` as `Result<?>`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.acme.shop.Result")]
pub struct ShopResult {
    pub code: i32,
    pub data: java::Value,
}

/// Java class `com.acme.billing.Item`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.acme.billing.Item")]
pub struct BillingItem {
    pub cents: i64,
}

/// Java class `com.acme.shop.Foreign`.
///
/// The fields of `com.vendor.Base` are missing: its class file is not there.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.acme.shop.Foreign")]
pub struct Foreign {
    pub own: Option<String>,
}

/// Java exception `com.vendor.GoneException`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.vendor.GoneException", throwable)]
pub struct GoneException {
    pub message: Option<String>,
}

/// Java class `com.acme.shop.Growing` as `Growing<Item>`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.acme.shop.Growing")]
pub struct GrowingOfItem {
    pub value: Option<ShopItem>,
    pub next: Option<Growing>,
}

/// Java class `com.acme.shop.Growing` as `Growing<Integer>`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.acme.shop.Growing")]
pub struct GrowingOfInteger {
    pub value: Option<i32>,
    pub next: Option<Growing>,
}

/// Java exception `com.acme.shop.ShopException`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.acme.shop.ShopException", throwable)]
pub struct ShopException {
    pub message: Option<String>,
    pub code: i32,
    pub level: Option<Level>,
}

/// Java class `com.acme.shop.Order$Note`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.acme.shop.Order$Note")]
pub struct OrderNote {
    pub text: Option<String>,
    pub lines: Option<Vec<OrderLine>>,
}

/// Java enum `com.acme.shop.Status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, equipoise::JavaObject)]
#[java(class = "com.acme.shop.Status")]
pub enum Status {
    Open,
    A1B,
    #[java(name = "SELF")]
    Self_,
}

/// Java class `com.acme.shop.Point`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.acme.shop.Point")]
pub struct Point {
    pub x: i32,
    pub y: i32,
    pub path: Option<Vec<Point>>,
}

/// Java class `com.acme.shop.Category`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.acme.shop.Category")]
pub struct Category {
    pub parent: Option<Box<Category>>,
    pub children: Option<Vec<Category>>,
    pub named: Option<java::Map<String, Category>>,
    pub shelf: Option<Box<CategoryShelf>>,
}

/// Java class `com.acme.shop.Growing` as `Growing<?>`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.acme.shop.Growing")]
pub struct Growing {
    pub value: java::Value,
    pub next: Option<Box<Growing>>,
}

/// Java class `com.acme.shop.Order$Line`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.acme.shop.Order$Line")]
pub struct OrderLine {
    pub number: i32,
    pub item: Option<ShopItem>,
}

/// Java class `com.acme.shop.Category$Shelf`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.acme.shop.Category$Shelf")]
pub struct CategoryShelf {
    pub category: Option<Box<Category>>,
}
