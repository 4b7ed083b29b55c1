//! A Java interface from end to end: its client, its provider, both protocols, and JSON.
#![cfg(feature = "dubbo")]
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use equipoise::java::{self, Context, Fault, Throwable};
use equipoise::protocol::{RunningServer, Server};
use equipoise::{FailureKind, JavaObject};

#[derive(Clone, Debug, Default, PartialEq, JavaObject)]
#[java(class = "com.acme.Order")]
struct Order {
    id: String,
    quantity: i32,
    price: Option<java::BigDecimal>,
    level: Option<Level>,
    #[java(type = "java.util.Set")]
    tags: Vec<String>,
    #[java(type = "int[]")]
    sizes: Option<Vec<i32>>,
    payload: Vec<u8>,
    note: Option<Vec<u8>>,
    #[java(name = "placedOn")]
    date: Option<java::LocalDate>,
    parent: Option<Box<Order>>,
}

#[derive(Clone, Debug, PartialEq, JavaObject)]
#[java(class = "com.acme.Level")]
enum Level {
    High,
    #[java(name = "very_low")]
    VeryLow,
    #[java(other)]
    Other(String),
}

#[derive(Clone, Debug, Default, PartialEq, JavaObject)]
#[java(class = "com.acme.OutOfStock", throwable)]
struct OutOfStock {
    message: Option<String>,
    left: i32,
}

#[derive(Clone, Debug, Default, PartialEq, JavaObject)]
#[java(class = "com.acme.Closed", throwable)]
struct Closed {
    until: Option<java::Date>,
}

#[derive(Debug, PartialEq, JavaObject)]
#[java(throwable)]
enum ReserveFault {
    OutOfStock(OutOfStock),
    Closed(Closed),
}

/// Stock keeping.
#[equipoise::interface(java = "com.acme.Stock", group = "g", version = "1.0")]
trait Stock {
    /// Reserves.
    async fn reserve(
        &self,
        call: &Context,
        order: Order,
        count: i32,
    ) -> Result<Order, Fault<ReserveFault>>;
    #[java(name = "find")]
    async fn find_by_id(&self, id: i64) -> Result<Option<Order>, Fault>;
    #[java(name = "find")]
    async fn find_by_name(&self, name: String) -> Result<Option<Order>, Fault>;
    async fn touch(&self) -> Result<(), Fault>;
    async fn bytes(&self, arguments: Vec<u8>) -> Result<Vec<u8>, Fault>;
    #[java(type = "java.util.Set")]
    async fn names(
        &self,
        #[java(type = "java.lang.String[]")] of: Vec<String>,
    ) -> Result<Vec<String>, Fault>;
}

#[derive(Default)]
struct Shelf {
    touched: AtomicUsize,
}

impl Stock for Arc<Shelf> {
    async fn reserve(
        &self,
        call: &Context,
        order: Order,
        count: i32,
    ) -> Result<Order, Fault<ReserveFault>> {
        call.answer_with("seen", call.attachments().text("Trace-Id").unwrap_or("nothing"));
        match count {
            0 => {
                Err(Fault::Thrown(ReserveFault::Closed(Closed { until: Some(java::Date(60_000)) })))
            }
            1..=99 => Ok(Order { quantity: order.quantity + count, ..order }),
            100 => Err(Throwable::new("java.lang.IllegalStateException", "odd").into()),
            _ => Err(Fault::Thrown(ReserveFault::OutOfStock(OutOfStock {
                message: Some(format!("{count} are too many")),
                left: 99,
            }))),
        }
    }

    async fn find_by_id(&self, id: i64) -> Result<Option<Order>, Fault> {
        Ok((id > 0).then(|| Order { id: format!("#{id}"), ..Order::default() }))
    }

    async fn find_by_name(&self, name: String) -> Result<Option<Order>, Fault> {
        Ok(Some(Order { id: name, ..Order::default() }))
    }

    async fn touch(&self) -> Result<(), Fault> {
        self.touched.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    async fn bytes(&self, all: Vec<u8>) -> Result<Vec<u8>, Fault> {
        Ok(all.into_iter().rev().collect())
    }

    async fn names(&self, of: Vec<String>) -> Result<Vec<String>, Fault> {
        Ok(of.into_iter().map(|name| name.to_uppercase()).collect())
    }
}

async fn served() -> (RunningServer, Arc<Shelf>) {
    let shelf = Arc::new(Shelf::default());
    let provider = StockProvider::new(shelf.clone());
    let server = Server::builder().service(StockProvider::<Arc<Shelf>>::key(), provider);
    (server.bind("127.0.0.1:0").await.unwrap(), shelf)
}

fn client(scheme: &str, server: &RunningServer) -> StockClient {
    let builder = StockClient::builder()
        .endpoints([format!("{scheme}://{}", server.local_addr())])
        .timeout(Duration::from_secs(20))
        .retries(0);
    StockClient::new(builder.build().unwrap())
}

fn order() -> Order {
    Order {
        id: "o-1 😀".into(),
        quantity: 1,
        price: Some("12.50".parse().unwrap()),
        level: Some(Level::VeryLow),
        tags: vec!["a".into(), "b".into()],
        sizes: Some(vec![1, -70_000]),
        payload: vec![0, 255, 7],
        note: None,
        date: Some("2026-11-30".parse().unwrap()),
        parent: Some(Box::new(Order {
            level: Some(Level::Other("SIDEWAYS".into())),
            note: Some(vec![1]),
            ..Order::default()
        })),
    }
}

#[tokio::test]
async fn calls_come_back_over_both_protocols() {
    let (server, shelf) = served().await;
    for scheme in ["tri", "dubbo"] {
        let stock = client(scheme, &server);
        let call = stock.reserve(order(), 2).with(|call| call.attachment("Trace-Id", "t-1"));
        let (back, attachments) = call.with_attachments().await.unwrap();
        assert_eq!(back, Order { quantity: 3, ..order() }, "{scheme}");
        assert_eq!(attachments.text("seen"), Some("t-1"), "{scheme}");
        assert_eq!(stock.find_by_id(7).await.unwrap().unwrap().id, "#7", "{scheme}");
        assert_eq!(stock.find_by_id(-7).await.unwrap(), None, "{scheme}");
        assert_eq!(stock.find_by_name("x".into()).await.unwrap().unwrap().id, "x", "{scheme}");
        stock.touch().await.unwrap();
        assert_eq!(stock.bytes(vec![1, 2, 3]).await.unwrap(), [3, 2, 1], "{scheme}");
        assert_eq!(stock.names(vec!["a".into()]).await.unwrap(), ["A"], "{scheme}");
    }
    assert_eq!(shelf.touched.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn exceptions_are_what_they_were() {
    let (server, _) = served().await;
    for scheme in ["tri", "dubbo"] {
        let stock = client(scheme, &server);
        match stock.reserve(order(), 1000).await.unwrap_err() {
            Fault::Thrown(ReserveFault::OutOfStock(thrown)) => {
                assert_eq!(thrown.message.as_deref(), Some("1000 are too many"));
                assert_eq!(thrown.left, 99);
            }
            other => panic!("{scheme}: {other:?}"),
        }
        match stock.reserve(order(), 0).await.unwrap_err() {
            Fault::Thrown(ReserveFault::Closed(closed)) => {
                assert_eq!(closed.until, Some(java::Date(60_000)));
            }
            other => panic!("{scheme}: {other:?}"),
        }
        match stock.reserve(order(), 100).await.unwrap_err() {
            Fault::Exception(thrown) => {
                assert_eq!(thrown.to_string(), "java.lang.IllegalStateException: odd");
            }
            other => panic!("{scheme}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn json_reaches_the_same_methods() {
    let (server, _) = served().await;
    let stock = client("tri", &server);
    let call = stock.consumer().call("bytes");
    let back: Vec<u8> = call.json(&[[1, 2, 3]]).await.unwrap();
    assert_eq!(back, [3, 2, 1]);
    let back: serde_json::Value =
        stock.consumer().call("reserve").json(&(order(), 3)).await.unwrap();
    assert_eq!(back["quantity"], 4);
    assert_eq!(back["level"], "very_low");
    assert_eq!(back["placedOn"], "2026-11-30");
    // Which of the overloads is meant, one argument does not tell.
    let error = stock.consumer().call("find").json::<serde_json::Value>(&["x"]).await.unwrap_err();
    assert!(error.to_string().contains("Ljava/lang/String;"), "{error}");
}

#[tokio::test]
async fn a_generic_call_is_converted_by_its_types() {
    let (server, _) = served().await;
    for scheme in ["tri", "dubbo"] {
        let stock = client(scheme, &server);
        let find = |types: &str| stock.consumer().call("find").types(types);
        let back: serde_json::Value = find("long").json(&[5]).await.unwrap();
        assert_eq!(back["id"], "#5", "{scheme}");
        let back: serde_json::Value = find("java.lang.String").json(&["5"]).await.unwrap();
        assert_eq!((&back["id"], &back["class"]), (&"5".into(), &"com.acme.Order".into()));
        let reserve = stock.consumer().call("reserve").types("com.acme.Order,int");
        let back: serde_json::Value = reserve
            .json(&serde_json::json!([{ "id": "o", "level": "HIGH", "price": "1.50" }, 3]))
            .await
            .unwrap();
        assert_eq!((&back["quantity"], &back["level"]), (&3.into(), &"HIGH".into()), "{scheme}");
    }
}

#[tokio::test]
async fn what_cannot_be_is_said() {
    let (server, _) = served().await;
    for scheme in ["tri", "dubbo"] {
        let builder = equipoise::consumer("com.acme.Stock").group("g").version("1.0");
        let consumer = builder
            .endpoints([format!("{scheme}://{}", server.local_addr())])
            .timeout(Duration::from_secs(20))
            .retries(0)
            .build()
            .unwrap();
        let call = consumer.call("find").types("boolean");
        let error = call.json::<serde_json::Value>(&[true]).await.unwrap_err();
        assert_eq!(error.failure.kind, FailureKind::Business, "{error}");
    }
}
