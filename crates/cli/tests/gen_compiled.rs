//! What `equipoise gen` writes is compiled with the macros that it is written for, and travels.

#![allow(clippy::unwrap_used)] // a test may panic

#[path = "gen/repository.rs"]
mod repository;
#[path = "gen/stock.rs"]
mod stock;

use std::fmt::Debug;

use equipoise::java::serde::Serialize;
use equipoise::java::serde::de::DeserializeOwned;
use equipoise::java::{self, JavaType, Thrown, Value, runtime};
use stock::*;

/// A value after a way over the wire.
fn travelled<T: Serialize + DeserializeOwned>(value: &T) -> T {
    runtime::decode(&runtime::encode(value).unwrap()).unwrap()
}

fn stays<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    assert_eq!(&travelled(value), value);
}

/// What a Java peer sees of a value.
fn seen<T: Serialize>(value: &T) -> String {
    let value: Value = runtime::decode(&runtime::encode(value).unwrap()).unwrap();
    serde_json::to_value(&value).unwrap().to_string()
}

#[test]
fn objects_travel() {
    let item = ShopItem { sku: Some("a".into()), bundled_with: Some(Box::default()) };
    let order = Order {
        id: Some(7),
        user_id: Some("u".into()),
        note: Some(OrderNote { text: Some("n".into()), lines: Some(vec![OrderLine::default()]) }),
        count: 3,
        discount: Some(-1),
        grade: 'g',
        mark: Some('m'),
        ratio: 0.5,
        photo: Some(vec![0, 255]),
        sizes: Some(vec![1, 2]),
        grid: Some(vec![vec![1], vec![]]),
        samples: Some(vec![item.clone()]),
        items: Some(vec![item]),
        tags: Some(vec!["t".into()]),
        by_shelf: Some([("s".to_owned(), vec![ShopItem::default()])].into_iter().collect()),
        ranks: Some([(1, 2)].into_iter().collect()),
        level: Some(Level::MixedCase),
        status: Some(Status::Self_),
        due: Some(java::LocalDate::new(2026, 11, 30)),
        billed: Some(BillingItem { cents: 5 }),
        point: Some(Point { x: 1, y: 2, path: Some(vec![Point::default()]) }),
        category: Some(Category { parent: Some(Box::default()), ..Category::default() }),
        url_path: Some("/".into()),
        hidden: Some("h".into()),
        über: Some("ü".into()),
        ..Order::default()
    };
    stays(&order);
    let text = seen(&order);
    for name in ["\"URLPath\"", "\"_hidden\"", "\"über\"", "\"type\"", "\"userId\""] {
        assert!(text.contains(name), "no {name} in {text}");
    }
    let page = PageOfMapOfStringAndItem {
        first: Some([("k".to_owned(), ShopItem::default())].into_iter().collect()),
        next: Some(Box::default()),
        total: 1,
        ..PageOfMapOfStringAndItem::default()
    };
    stays(&page);
    stays(&Growing { next: Some(Box::default()), ..Growing::default() });
}

#[test]
fn exceptions_keep_their_own_message_apart() {
    let thrown = OutOfStock {
        message: Some("why".into()),
        own_message: Some("hidden".into()),
        level: Some(Level::VeryHigh),
        ..OutOfStock::default()
    };
    let exception = ReserveStringFault::OutOfStock(thrown.clone()).to_exception().unwrap();
    assert_eq!(exception.class, "com.acme.shop.OutOfStock");
    let read = ReserveStringFault::from_exception(&exception).unwrap().unwrap();
    assert_eq!(read, ReserveStringFault::OutOfStock(thrown.clone()));
    let text = seen(&thrown);
    assert!(text.contains("\"detailMessage\"") && text.contains("\"message\""), "{text}");
}

#[test]
fn types_stand_for_their_classes() {
    assert_eq!(Order::DESCRIPTOR, "Lcom/acme/shop/Order;");
    assert_eq!(OrderLine::DESCRIPTOR, "Lcom/acme/shop/Order$Line;");
    assert_eq!(ShopItem::DESCRIPTOR, "Lcom/acme/shop/Item;");
    assert_eq!(BillingItem::DESCRIPTOR, "Lcom/acme/billing/Item;");
    assert_eq!(StockClient::INTERFACE, "com.acme.shop.Stock");
    assert_eq!((MAX_COUNT, GROUP, BIG), (100, "blue \"one\"", 1 << 40));
}

#[test]
fn open_enums_keep_what_they_do_not_know() {
    let later = repository::Level::Other("HIGHEST".into());
    assert_eq!(travelled(&later), later);
    assert!(runtime::decode::<Level>(&runtime::encode(&later).unwrap()).is_err());
}

/// The trait can be implemented, and served.
struct Shelf;

impl repository::Repository for Shelf {
    async fn get(&self, _: Value) -> Result<Value, java::Fault> {
        Ok(Value::default())
    }

    async fn all(&self) -> Result<Option<Vec<Value>>, java::Fault> {
        Ok(None)
    }

    async fn save(&self, it: Value) -> Result<Value, java::Fault<repository::ShopException>> {
        Ok(it)
    }

    async fn first(&self, from: Value, _: i64, _: f64, _: i32) -> Result<Value, java::Fault> {
        Ok(from)
    }

    async fn size(&self) -> Result<i32, java::Fault> {
        Ok(0)
    }
}

#[test]
fn a_trait_can_be_served() {
    let key = repository::RepositoryProvider::<Shelf>::key();
    assert_eq!(key.to_string(), "blue/com.acme.shop.Repository:1.0");
    let provider = repository::RepositoryProvider::new(Shelf);
    assert_eq!(std::sync::Arc::strong_count(&provider), 1);
}
