//! Our provider of `Stock`.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use equipoise::core::attachments::AttachmentValue;
use equipoise::core::service::ServiceKey;
use equipoise::java::{Context, Fault, Throwable, Value};
use equipoise::protocol::{RunningServer, Server};

use crate::interop::samples;
use crate::interop::stage::ours;
use crate::interop::stock::{Everything, Order, OutOfStock, STOCK, Stock, StockProvider, User};

/// Serves it with options: once plain, once in group `g1` as version `1.0.0`.
pub(super) async fn serve(options: impl FnOnce(Server) -> Server) -> anyhow::Result<RunningServer> {
    let grouped = ServiceKey::new(STOCK).group("g1").version("1.0.0");
    let server = Server::builder()
        .service(ServiceKey::new(STOCK), StockProvider::new(Shop::of("ours")))
        .service(grouped, StockProvider::new(Shop::of("ours g1")));
    Ok(options(server).bind(&ours()).await?)
}

/// One that writes down whom it greets.
pub(super) struct Recording {
    server: RunningServer,
    greeted: Arc<Mutex<Vec<String>>>,
}

impl Recording {
    /// Serves it with options.
    pub(super) async fn serve(options: impl FnOnce(Server) -> Server) -> anyhow::Result<Self> {
        let shop = Shop::of("ours");
        let greeted = shop.greeted.clone();
        let server = Server::builder().service(ServiceKey::new(STOCK), StockProvider::new(shop));
        Ok(Self { server: options(server).bind(&ours()).await?, greeted })
    }

    /// Where it listens.
    pub(super) fn url(&self, scheme: &str) -> String {
        format!("{scheme}://{}", self.server.local_addr())
    }

    /// Who was greeted since this was last asked, in that order.
    pub(super) fn greeted(&self) -> Vec<String> {
        std::mem::take(&mut self.greeted.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What [`Stock`] does, as `StockService.java`.
struct Shop {
    name: &'static str,
    notes: AtomicI32,
    greeted: Arc<Mutex<Vec<String>>>,
}

impl Shop {
    fn of(name: &'static str) -> Self {
        Self { name, notes: AtomicI32::new(0), greeted: Arc::default() }
    }
}

impl Stock for Shop {
    async fn greet(&self, name: String, times: i32) -> Result<String, Fault> {
        let text = format!("hello {name} x{times}");
        self.greeted.lock().unwrap_or_else(PoisonError::into_inner).push(name);
        Ok(text)
    }

    async fn price(&self, mut order: Order) -> Result<Order, Fault> {
        order.total = samples::TOTAL.parse().ok();
        Ok(order)
    }

    async fn everything(&self, everything: Everything) -> Result<Everything, Fault> {
        Ok(everything)
    }

    async fn find_name(&self, name: String) -> Result<String, Fault> {
        Ok(format!("by name {name}"))
    }

    async fn find_number(&self, number: i32) -> Result<String, Fault> {
        Ok(format!("by number {number}"))
    }

    async fn find_both(&self, name: String, number: i32) -> Result<String, Fault> {
        Ok(format!("by name and number {name} {number}"))
    }

    async fn reserve(&self, sku: String, amount: i32) -> Result<i32, Fault<OutOfStock>> {
        if amount > 100 {
            let message = Some(format!("only 100 of {sku}"));
            return Err(Fault::Thrown(OutOfStock { message, sku: Some(sku), left: 100 }));
        }
        Ok(100 - amount)
    }

    async fn fail(&self, kind: String, message: String) -> Result<(), Fault> {
        let class = match kind.as_str() {
            "jdk" => "java.lang.IllegalStateException",
            _ => "com.example.Nobody",
        };
        Err(Fault::Exception(Box::new(Throwable::new(class, message))))
    }

    async fn sleep(&self, millis: i64) -> Result<i64, Fault> {
        // What the method is for: the peer's timeout is what the cell looks at.
        tokio::time::sleep(Duration::from_millis(millis.unsigned_abs())).await;
        Ok(millis)
    }

    async fn blob(&self, size: i32) -> Result<Vec<u8>, Fault> {
        Ok(samples::blob(usize::try_from(size).unwrap_or(0)))
    }

    async fn echo_bytes(&self, bytes: Vec<u8>) -> Result<Vec<u8>, Fault> {
        Ok(bytes)
    }

    async fn nothing(&self, maybe: Option<String>) -> Result<Option<String>, Fault> {
        Ok(maybe)
    }

    async fn touch(&self) -> Result<(), Fault> {
        Ok(())
    }

    async fn attachments(
        &self,
        call: &Context,
        prefix: String,
    ) -> Result<HashMap<String, String>, Fault> {
        call.answer_with(format!("{prefix}-reply"), format!("reply of {}", self.name));
        call.answer_with(format!("{prefix}-Upper"), "Kept");
        let text = |value: &AttachmentValue| match value {
            AttachmentValue::Text(text) => text.to_string(),
            AttachmentValue::Binary(bytes) => format!("{bytes:?}"),
        };
        Ok(call.attachments().iter().map(|(key, value)| (key.to_string(), text(value))).collect())
    }

    async fn later(&self, text: String) -> Result<String, Fault> {
        Ok(format!("later {text}"))
    }

    async fn note(&self, _text: String) -> Result<(), Fault> {
        self.notes.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    async fn notes(&self) -> Result<i32, Fault> {
        Ok(self.notes.load(Ordering::Relaxed))
    }

    async fn echo(&self, value: Value) -> Result<Value, Fault> {
        Ok(value)
    }

    async fn users(&self, users: Vec<User>) -> Result<Vec<User>, Fault> {
        Ok(users)
    }

    async fn index(&self, users: BTreeMap<String, User>) -> Result<BTreeMap<String, User>, Fault> {
        Ok(users)
    }

    async fn who(&self) -> Result<String, Fault> {
        Ok(self.name.to_owned())
    }
}
