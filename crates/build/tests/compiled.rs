//! What is generated compiles, and works from end to end: all four kinds of methods.
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

use std::time::Duration;

use equipoise::proto::{Answers, Context, Messages};
use equipoise::protocol::{Server, Status, code};

#[allow(missing_docs, unreachable_pub)] // prost writes no documents, and `pub` for any module
mod shop {
    include!("generated/acme.shop.rs");
}

use shop::{Item, Stock, StockClient, StockProvider, Total};

#[test]
fn the_code_is_what_is_generated_today() {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let out = tempfile::tempdir().unwrap();
    let set = out.path().join("set.bin");
    equipoise_build::configure()
        .out_dir(out.path())
        .descriptors(&set)
        .compile(&[format!("{here}/shop.proto")], &[here])
        .unwrap();
    let new = std::fs::read_to_string(out.path().join("acme.shop.rs")).unwrap();
    let kept = format!("{here}/generated/acme.shop.rs");
    if std::env::var_os("EQUIPOISE_BLESS").is_some() {
        std::fs::write(&kept, &new).unwrap();
    }
    assert_eq!(new, std::fs::read_to_string(kept).unwrap(), "run with EQUIPOISE_BLESS=1");
    assert!(std::fs::metadata(set).unwrap().len() > 0);
    let wrong = equipoise_build::compile(&[format!("{here}/nothing.proto")], &[here]);
    assert!(wrong.unwrap_err().to_string().contains("nothing.proto"));
}

struct Shelf;

impl Stock for Shelf {
    async fn add(&self, call: &Context, message: Item) -> Result<Total, Status> {
        call.answer_with("seen", message.name.as_str());
        match message.count {
            0 => Err(Status::new(code::INVALID_ARGUMENT, "nothing")),
            count => Ok(Total { count: count + 1 }),
        }
    }

    async fn list(
        &self,
        _: &Context,
        message: Total,
        mut answers: Answers<Item>,
    ) -> Result<(), Status> {
        for count in 0..message.count {
            answers.send(&Item { name: "item".into(), count }).await?;
        }
        Ok(())
    }

    async fn sum(&self, _: &Context, mut messages: Messages<Item>) -> Result<Total, Status> {
        let mut total = Total::default();
        while let Some(item) = messages.message().await? {
            total.count += item.count;
        }
        Ok(total)
    }

    async fn echo(
        &self,
        call: &Context,
        mut messages: Messages<Item>,
        mut answers: Answers<Item>,
    ) -> Result<(), Status> {
        while let Some(item) = messages.message().await? {
            answers.send(&item).await?;
        }
        call.answer_with("echoed", "all");
        Ok(())
    }
}

#[tokio::test]
async fn all_four_kinds_of_methods_work() {
    let server = Server::builder()
        .service(StockProvider::<Shelf>::key(), StockProvider::new(Shelf))
        .bind("127.0.0.1:0")
        .await
        .unwrap();
    let builder = StockClient::builder()
        .endpoints([format!("tri://{}", server.local_addr())])
        .timeout(Duration::from_secs(20))
        .retries(0);
    let stock = StockClient::new(builder.build().unwrap());
    assert_eq!(stock.consumer().report().service, StockClient::SERVICE);
    let item = |count| Item { name: "a".into(), count };

    assert_eq!(stock.add(item(2)).with(|call| call.retries(0)).await.unwrap().count, 3);
    let error = stock.add(item(0)).await.unwrap_err();
    assert_eq!(error.failure.status, Some(code::INVALID_ARGUMENT));

    let mut items = stock.list(Total { count: 3 }).await.unwrap();
    let mut counts = Vec::new();
    while let Some(item) = items.message().await.unwrap() {
        counts.push(item.count);
    }
    assert_eq!(counts, [0, 1, 2]);

    let mut sum = stock.sum().await.unwrap();
    for count in 1..=4 {
        sum.send(&item(count)).await.unwrap();
    }
    sum.finish().unwrap();
    assert_eq!(sum.answer().await.unwrap().count, 10);

    let mut echo = stock.echo().await.unwrap();
    for count in 5..8 {
        echo.send(&item(count)).await.unwrap();
        assert_eq!(echo.message().await.unwrap(), Some(item(count)));
    }
    echo.finish().unwrap();
    assert_eq!(echo.message().await.unwrap(), None);
    assert_eq!(echo.attachments().text("echoed"), Some("all"));
}
