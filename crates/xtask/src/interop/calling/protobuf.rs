//! The service with an interface description.

use std::sync::Arc;
use std::time::Duration;

use equipoise::FailureKind;

use crate::interop::calling::{consumer, failed};
use crate::interop::cell::{Seen, same, works};
use crate::interop::messages::{Blob, Nap, Noted, Receipt, Reservation, Trouble, WAREHOUSE};
use crate::interop::stage::{Stage, Wire};

/// A message there, a message back.
pub(super) async fn unary(stage: Arc<Stage>) -> Seen {
    let consumer = consumer(WAREHOUSE, &stage.provider(Wire::TRI).await?.url(Wire::TRI))?;
    let tags = vec!["é".to_owned(), "😀".to_owned()];
    let wish = Reservation { sku: "s1".to_owned(), amount: 3, tags };
    let receipt: Receipt = consumer.call("Reserve").typed(&wish).await?;
    same("text", receipt.text.as_str(), "3 of s1 [é, 😀]")?;
    same("total", receipt.total, 3)?;
    works(receipt.text)
}

/// What is thrown is a status with the exception's text. Its characters beyond Latin-1 are lost: Java
/// writes `grpc-message` as it is, and they become question marks.
pub(super) async fn exception(stage: Arc<Stage>) -> Seen {
    let consumer = consumer(WAREHOUSE, &stage.provider(Wire::TRI).await?.url(Wire::TRI))?;
    let mut seen = Vec::new();
    for kind in ["jdk", "own", "foreign"] {
        let trouble = Trouble { kind: kind.to_owned(), message: "broken".to_owned() };
        let call = consumer.call("Fail").typed::<Receipt>(&trouble);
        let error = failed(call.await)?;
        same(kind, error.failure.status, Some(2))?;
        same(kind, error.attempts.len(), 1)?;
        anyhow::ensure!(error.failure.message.contains("broken"), "{error}");
        seen.push(error.failure.message.lines().next().unwrap_or_default().to_owned());
    }
    works(seen.join("; "))
}

/// Our deadline ends a call that the provider would answer much later.
pub(super) async fn timeout(stage: Arc<Stage>) -> Seen {
    let consumer = consumer(WAREHOUSE, &stage.provider(Wire::TRI).await?.url(Wire::TRI))?;
    let nap = |millis| Nap { millis };
    consumer.call("Sleep").typed::<Receipt>(&nap(1)).await?;
    let call = consumer.call("Sleep").timeout(Duration::from_millis(300));
    let error = failed(call.typed::<Receipt>(&nap(5_000)).await)?;
    same("kind", error.failure.kind, FailureKind::Timeout)?;
    consumer.call("Sleep").typed::<Receipt>(&nap(1)).await?;
    works(error.failure.message)
}

/// Four mebibytes both ways.
pub(super) async fn big(stage: Arc<Stage>) -> Seen {
    let consumer = consumer(WAREHOUSE, &stage.provider(Wire::TRI).await?.url(Wire::TRI))?;
    let sent = Blob { data: (0..4 << 20).map(|at| (at % 251) as u8).collect() };
    let back: Blob = consumer.call("Blob").typed(&sent).await?;
    anyhow::ensure!(back == sent, "{} bytes came back", back.data.len());
    works(format!("{} bytes both ways", sent.data.len()))
}

/// Attachments there and back.
pub(super) async fn attachments(stage: Arc<Stage>) -> Seen {
    let consumer = consumer(WAREHOUSE, &stage.provider(Wire::TRI).await?.url(Wire::TRI))?;
    let asked = Trouble { kind: "k".to_owned(), message: "back".to_owned() };
    let call = consumer.call("Attachments").attachment("user-key", "user value");
    let body = equipoise::core::port::Body::protobuf(prost::Message::encode_to_vec(&asked));
    let reply = call.raw(body).await?;
    let noted: Noted = prost::Message::decode(reply.body)?;
    let seen = noted.attachments.get("user-key").map(String::as_str);
    same("at the provider", seen, Some("user value"))?;
    same("back", reply.attachments.text("k-reply"), Some("back"))?;
    works(format!("the provider saw {:?}", noted.attachments))
}
