//! The service with an interface description.

use std::sync::Arc;

use equipoise::protocol::RunningServer;
use serde_json::{Value, json};

use crate::interop::ask::Ask;
use crate::interop::cell::{Seen, same, works};
use crate::interop::messages::WAREHOUSE;
use crate::interop::stage::{Stage, Wire};
use crate::interop::warehouse;

/// A call of our server.
fn ask(server: &RunningServer, method: &str, message: &str, fields: Value) -> Ask {
    let url = format!("tri://{}", server.local_addr());
    Ask::new(url, WAREHOUSE, method).message(message, fields)
}

/// A message there, a message back.
pub(super) async fn unary(stage: Arc<Stage>) -> Seen {
    let server = warehouse::serve(|server| server).await?;
    let fields = json!({ "sku": "s1", "amount": 3, "tags": ["é", "😀"] });
    let ask = ask(&server, "reserve", "Reservation", fields);
    let answer = ask.call(stage.consumer(Wire::TRI).await?).await?;
    let text = answer.message()?;
    // Protobuf's text form writes bytes beyond ASCII in octal.
    anyhow::ensure!(text.contains(r#"3 of s1 [\"\303\251\", \"\360\237\230\200\"]"#), "{text}");
    anyhow::ensure!(text.contains("total: 3"), "{text}");
    works(text.replace('\n', " "))
}

/// A status reaches Java as its exception for it.
pub(super) async fn exception(stage: Arc<Stage>) -> Seen {
    let server = warehouse::serve(|server| server).await?;
    let fields = json!({ "kind": "any", "message": "broken, 坏了" });
    let ask = ask(&server, "fail", "Trouble", fields);
    let answer = ask.call(stage.consumer(Wire::TRI).await?).await?;
    let thrown = answer.thrown()?;
    let message = thrown["message"].as_str().unwrap_or_default();
    anyhow::ensure!(message.contains("broken, 坏了"), "{thrown}");
    works(format!("{}: {message}", thrown["thrown"]))
}

/// Java's own deadline.
pub(super) async fn timeout(stage: Arc<Stage>) -> Seen {
    let server = warehouse::serve(|server| server).await?;
    let consumer = stage.consumer(Wire::TRI).await?;
    let nap = |millis: u64| ask(&server, "sleep", "Nap", json!({ "millis": millis }));
    let ask = nap(1);
    ask.call(consumer).await?.value()?;
    let answer = nap(20_000).with("timeout", json!(500)).call(consumer).await?;
    let thrown = answer.thrown()?;
    // The code of `RpcException` for a timeout.
    same("code", &thrown["code"], &json!(2))?;
    works(thrown["message"].to_string())
}

/// Four mebibytes both ways.
pub(super) async fn big(stage: Arc<Stage>) -> Seen {
    const SIZE: usize = 4 << 20;
    let server = warehouse::serve(|server| server).await?;
    let ask = ask(&server, "blob", "Bytes", json!({ "data": SIZE }));
    let answer = ask.call(stage.consumer(Wire::TRI).await?).await?;
    // Every byte takes at least one character.
    let length = answer.message()?.len();
    anyhow::ensure!(length >= SIZE, "{length} characters came back");
    works(format!("{SIZE} bytes both ways"))
}

/// Attachments there and back.
pub(super) async fn attachments(stage: Arc<Stage>) -> Seen {
    let server = warehouse::serve(|server| server).await?;
    let ask = ask(&server, "attachments", "Trouble", json!({ "kind": "k", "message": "back" }))
        .with("attachments", json!({ "user-key": "user value" }));
    let answer = ask.call(stage.consumer(Wire::TRI).await?).await?;
    let text = answer.message()?;
    anyhow::ensure!(text.contains("user-key") && text.contains("user value"), "{text}");
    same("back", answer.attachment("k-reply"), Some("back"))?;
    works(text.replace('\n', " "))
}
