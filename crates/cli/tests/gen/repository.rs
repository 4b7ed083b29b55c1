//! Written by `equipoise gen` from `classes`.
#![allow(clippy::all, dead_code, missing_docs, unreachable_pub)]

use equipoise::java;

/// Java interface `com.acme.shop.Repository`.
#[equipoise::interface(java = "com.acme.shop.Repository", group = "blue", version = "1.0")]
pub trait Repository {
    /// `T get(K arg0)`
    async fn get(&self, arg0: java::Value) -> Result<java::Value, java::Fault>;

    /// `List<T> all()`
    async fn all(&self) -> Result<Option<Vec<java::Value>>, java::Fault>;

    /// `T save(T arg0) throws ShopException`
    async fn save(&self, arg0: java::Value) -> Result<java::Value, java::Fault<ShopException>>;

    /// `T first(K from, long skip, double share, int take)`
    async fn first(
        &self,
        from: java::Value,
        skip: i64,
        share: f64,
        take: i32,
    ) -> Result<java::Value, java::Fault>;

    /// `int size()`
    async fn size(&self) -> Result<i32, java::Fault>;
}

/// Java exception `com.acme.shop.ShopException`.
#[derive(Clone, Debug, Default, PartialEq, equipoise::JavaObject)]
#[java(class = "com.acme.shop.ShopException", throwable)]
pub struct ShopException {
    pub message: Option<String>,
    pub code: i32,
    pub level: Option<Level>,
}

/// Java enum `com.acme.shop.Level`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, equipoise::JavaObject)]
#[java(class = "com.acme.shop.Level")]
pub enum Level {
    Low,
    VeryHigh,
    #[java(name = "mixedCase")]
    MixedCase,
    /// A constant that was not there when this was written.
    #[java(other)]
    Other(String),
}
