//! Time and callers that give up.

use std::sync::Arc;

use crate::peers::cell::{Seen, same};
use crate::peers::client::Ask;
use crate::peers::serving::plain::pair;
use crate::peers::stage::Stage;
use crate::peers::temper::Event;

/// The handler knows the deadline; when it is over, the call ends on both sides.
pub(super) async fn deadline(stage: Arc<Stage>) -> Seen {
    let (mut ours, client) = pair(&stage).await?;
    let none = client.call(Ask::new("Remaining", "")).await?.ok()?;
    same("time left without a deadline", none.as_slice(), b"None")?;
    let told = client.call(Ask::new("Remaining", "").timeout(20.0)).await?.ok()?;
    let told = String::from_utf8(told)?;
    let left = told.strip_prefix("Some(").and_then(|rest| rest.strip_suffix(')'));
    let left: u64 = left.unwrap_or(&told).parse()?;
    // On the wire gRPC rounds up to three digits.
    anyhow::ensure!(left > 0 && left <= 20_200, "{left} ms left of 20 s");
    let call = client.begin(Ask::new("Never", "").timeout(0.4)).await?;
    ours.started(1).await?;
    let answer = call.answer().await?;
    same("status", answer.code, 4)?;
    same("the handler's call", ours.event().await?, Event::Dropped)?;
    Ok(format!("{left} ms of 20 s; {}", answer.details))
}

/// A call that the caller cancels is dropped here.
pub(super) async fn cancelled(stage: Arc<Stage>) -> Seen {
    let (mut ours, client) = pair(&stage).await?;
    let call = client.begin(Ask::new("Never", "")).await?;
    ours.started(1).await?;
    client.cancel(&call).await?;
    same("status", call.answer().await?.code, 1)?;
    same("the handler's call", ours.event().await?, Event::Dropped)?;
    client.call(Ask::new("Echo", "")).await?.ok()?;
    Ok("dropped, the connection stays".to_owned())
}

/// A caller that dies takes its calls with it.
pub(super) async fn killed(stage: Arc<Stage>) -> Seen {
    let (mut ours, client) = pair(&stage).await?;
    for _ in 0..8 {
        let _call = client.begin(Ask::new("Never", "")).await?;
    }
    ours.started(8).await?;
    drop(client);
    for _ in 0..8 {
        same("the handler's call", ours.event().await?, Event::Dropped)?;
    }
    let finished = ours.server.shutdown(std::time::Duration::from_secs(600)).await;
    same("finished in time", finished, true)?;
    Ok("8 calls dropped".to_owned())
}
