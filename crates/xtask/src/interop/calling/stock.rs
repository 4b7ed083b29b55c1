//! The interface of plain Java types.

use std::sync::Arc;
use std::time::Duration;

use equipoise::core::attachments::AttachmentValue;
use equipoise::java::{Fault, Value};
use equipoise::{ConsumerBuilder, FailureKind};
use serde_json::{Value as Json, json};

use crate::interop::calling::AMPLE;
use crate::interop::cell::{Seen, Shown, same, works};
use crate::interop::samples;
use crate::interop::stage::{Provider, Stage, Wire};
use crate::interop::stock::{OutOfStock, StockClient};

/// A client of one provider that asks once.
fn builder(provider: &Provider, wire: Wire) -> ConsumerBuilder {
    let url = provider.url(wire);
    StockClient::builder().endpoints([url]).timeout(AMPLE).retries(0)
}

/// The shared provider and a client of it.
async fn client(stage: &Stage, wire: Wire) -> anyhow::Result<StockClient> {
    let provider = stage.provider(wire).await?;
    Ok(StockClient::new(builder(provider, wire).build()?))
}

/// What a sample is in the eyes of the peer, and the argument that it saw last.
async fn seen(stage: &Stage, wire: Wire, sample: &str) -> anyhow::Result<(Json, Json)> {
    let peer = &stage.provider(wire).await?.peer;
    let calls = peer.ask("seen", json!({})).await?;
    let told = peer.ask("sample", json!({ "name": sample })).await?;
    let last = calls["seen"].as_array().and_then(|calls| calls.last()).cloned();
    Ok((told["sample"].clone(), last.unwrap_or_default()["arguments"][0].clone()))
}

/// Fails with the fields that differ.
fn alike(want: &Json, got: &Json) -> anyhow::Result<()> {
    if let (Some(wanted), Some(found)) = (want["fields"].as_object(), got["fields"].as_object()) {
        for (name, value) in wanted {
            same(name, found.get(name), Some(value))?;
        }
    }
    same("argument", got, want)
}

/// The failure of a call that must have got no result.
fn failed<T: std::fmt::Debug, E>(result: Result<T, Fault<E>>) -> anyhow::Result<Fault<E>> {
    match result {
        Ok(value) => anyhow::bail!("the call succeeded: {value:?}"),
        Err(fault) => Ok(fault),
    }
}

/// The failure of a call that got no answer.
fn unanswered<E: std::fmt::Debug>(fault: Fault<E>) -> anyhow::Result<equipoise::CallError> {
    match fault {
        Fault::Call(error) => Ok(*error),
        other => anyhow::bail!("{other:?}"),
    }
}

pub(super) async fn unary(stage: Arc<Stage>, wire: Wire) -> Seen {
    let stock = client(&stage, wire).await?;
    let text = stock.greet("wörld 世界 😀".to_owned(), 7).await?;
    same("answer", text.as_str(), "hello wörld 世界 😀 x7")?;
    works(text)
}

pub(super) async fn object(stage: Arc<Stage>, wire: Wire) -> Seen {
    let stock = client(&stage, wire).await?;
    seen(&stage, wire, "order").await?;
    let back = stock.price(samples::order()?).await?;
    let mut want = samples::order()?;
    want.total = samples::TOTAL.parse().ok();
    same("answer", back, want)?;
    works("a nested object of a kibibyte, and the total it got")
}

pub(super) async fn every_type(stage: Arc<Stage>, wire: Wire) -> Seen {
    let stock = client(&stage, wire).await?;
    seen(&stage, wire, "everything").await?;
    let back = stock.everything(samples::everything()?).await;
    let (want, got) = seen(&stage, wire, "everything").await?;
    alike(&want, &got)?;
    same("answer", back?, samples::everything()?)?;
    works("every Java type, as the provider's own sample")
}

pub(super) async fn exception(stage: Arc<Stage>, wire: Wire) -> Seen {
    let stock = client(&stage, wire).await?;
    same("answer", stock.reserve("s1".to_owned(), 1).await?, 99)?;
    let fault = failed(stock.reserve("s1".to_owned(), 200).await)?;
    let Fault::Thrown(thrown) = fault else { anyhow::bail!("{fault:?}") };
    let message = Some("only 100 of s1".to_owned());
    let want = OutOfStock { message, sku: Some("s1".to_owned()), left: 100 };
    same("thrown", thrown, want)?;
    works("OutOfStock with its own fields")
}

pub(super) async fn unchecked(stage: Arc<Stage>, wire: Wire) -> Seen {
    let stock = client(&stage, wire).await?;
    let mut names = Vec::new();
    for kind in ["jdk", "foreign"] {
        let fault = failed(stock.fail(kind.to_owned(), "broken".to_owned()).await)?;
        let Fault::Exception(thrown) = fault else { anyhow::bail!("{kind}: {fault:?}") };
        anyhow::ensure!(thrown.to_string().contains("broken"), "{thrown}");
        names.push(thrown.class.clone());
    }
    same(
        "classes",
        names.join(" "),
        "java.lang.IllegalStateException java.lang.RuntimeException".to_owned(),
    )?;
    works(names.join(", "))
}

/// Java's own serializer refuses an exception that no signature names; the caller must be told.
pub(super) async fn undeclared(stage: Arc<Stage>, wire: Wire) -> Seen {
    let stock = client(&stage, wire).await?;
    let fault = failed(stock.fail("own".to_owned(), "broken".to_owned()).await)?;
    if let Fault::Exception(thrown) = &fault {
        same("class", thrown.class.as_str(), "io.equipoise.interop.Broken")?;
        return works(thrown.class.clone());
    }
    let error = unanswered(fault)?;
    // The connection may be gone, and then there is a new one.
    for _ in 0..50 {
        if stock.greet("again".to_owned(), 1).await.is_ok() {
            return Ok(Shown::Defect(format!(
                "{:?}: {}",
                error.failure.kind,
                error.failure.status.map_or(String::new(), |s| format!("status {s}"))
            )));
        }
        // A peer of another process reconnects in its own time; 10 s are given to it.
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    anyhow::bail!("no call succeeds after {error}")
}

pub(super) async fn timeout(stage: Arc<Stage>, wire: Wire) -> Seen {
    let stock = client(&stage, wire).await?;
    stock.sleep(1).await?;
    let call = stock.sleep(5_000).with(|call| call.timeout(Duration::from_millis(300)));
    let error = unanswered(failed(call.await)?)?;
    same("kind", error.failure.kind, FailureKind::Timeout)?;
    same("answer", stock.sleep(1).await?, 1)?;
    works(error.failure.message)
}

pub(super) async fn big(stage: Arc<Stage>, wire: Wire) -> Seen {
    const SIZE: i32 = 4 << 20;
    let stock = client(&stage, wire).await?;
    let want = samples::blob(SIZE as usize);
    anyhow::ensure!(stock.blob(SIZE).await? == want, "other bytes came");
    anyhow::ensure!(stock.echo_bytes(want.clone()).await? == want, "other bytes came back");
    works(format!("{SIZE} bytes in, and both ways"))
}

pub(super) async fn null(stage: Arc<Stage>, wire: Wire) -> Seen {
    let stock = client(&stage, wire).await?;
    same("null", stock.nothing(None).await?, None)?;
    same("text", stock.nothing(Some("x".to_owned())).await?, Some("x".to_owned()))?;
    same("null as Object", stock.echo(Value::null()).await?, Value::null())?;
    stock.touch().await?;
    works("null both ways, and a method without result")
}

pub(super) async fn overload(stage: Arc<Stage>, wire: Wire) -> Seen {
    let stock = client(&stage, wire).await?;
    same("(String)", stock.find_name("a".to_owned()).await?.as_str(), "by name a")?;
    same("(int)", stock.find_number(5).await?.as_str(), "by number 5")?;
    let both = stock.find_both("a".to_owned(), 5).await?;
    same("(String, int)", both.as_str(), "by name and number a 5")?;
    works("three methods of one name")
}

pub(super) async fn attachments(stage: Arc<Stage>, wire: Wire) -> Seen {
    let stock = client(&stage, wire).await?;
    let call = stock.attachments("k".to_owned());
    // `tri` carries attachments as headers, and those are ASCII.
    let value = if wire.scheme == "tri" { "Value" } else { "Välue" };
    let call = call.with(|call| call.attachment("My-Key", value).attachment("lower", "text"));
    let (seen, back) = call.with_attachments().await?;
    same("lower", seen.get("lower").map(String::as_str), Some("text"))?;
    let key = seen.get("My-Key").map(String::as_str);
    let text = |key| match back.value(key) {
        Some(AttachmentValue::Text(text)) => Some(text.to_string()),
        _ => None,
    };
    same("My-Key", key, Some(value))?;
    same("k-Upper", text("k-Upper"), Some("Kept".to_owned()))?;
    let reply = text("k-reply");
    same("k-reply", reply, Some("réply of java-provider".to_owned()))?;
    works(format!("the provider saw {seen:?}"))
}

pub(super) async fn future(stage: Arc<Stage>, wire: Wire) -> Seen {
    let stock = client(&stage, wire).await?;
    let text = stock.later("x".to_owned()).await?;
    same("answer", text.as_str(), "later x")?;
    works(text)
}

pub(super) async fn one_way(stage: Arc<Stage>, wire: Wire) -> Seen {
    let stock = client(&stage, wire).await?;
    let before = stock.notes().await?;
    stock.note("x".to_owned()).one_way().await?;
    let mut polls = 0;
    // Nobody says when it has run, so a call asks until it has.
    while stock.notes().await? == before {
        polls += 1;
        anyhow::ensure!(polls < 2_000, "the one-way call never ran");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    same("notes", stock.notes().await?, before + 1)?;
    works(format!("it ran, seen after {polls} more calls"))
}

pub(super) async fn collections(stage: Arc<Stage>, wire: Wire) -> Seen {
    let stock = client(&stage, wire).await?;
    same("list", stock.users(samples::users()).await?, samples::users())?;
    same("map", stock.index(samples::index()).await?, samples::index())?;
    works("List<User> and Map<String, User>")
}

pub(super) async fn group(stage: Arc<Stage>, wire: Wire) -> Seen {
    let provider = stage.provider(wire).await?;
    let plain = client(&stage, wire).await?.who().await?;
    let grouped = builder(provider, wire).group("g1").version("1.0.0").build()?;
    let grouped = StockClient::new(grouped).who().await?;
    same("plain", plain.as_str(), "java-provider")?;
    same("g1 1.0.0", grouped.as_str(), "java-provider g1")?;
    works("each answered by its own")
}

pub(super) async fn generic(stage: Arc<Stage>, wire: Wire) -> Seen {
    let stock = client(&stage, wire).await?;
    let call = |method| stock.consumer().call(method);
    let types = "java.lang.String,int";
    let text: String = call("greet").types(types).json(&("w", 7)).await?;
    same("with types", text.as_str(), "hello w x7")?;
    let text: String = call("greet").json(&("w", 7)).await?;
    same("without types", text.as_str(), "hello w x7")?;
    let order = json!([{
        "id": 1,
        "lines": [{ "sku": "a", "amount": 2, "price": "1.50", "kind": "TOOL" }],
    }]);
    let priced: Json = call("price").types("io.equipoise.interop.Order").json(&order).await?;
    same("class", &priced["class"], &json!("io.equipoise.interop.Order"))?;
    same("kind", &priced["lines"][0]["kind"], &json!("TOOL"))?;
    anyhow::ensure!(priced["total"].to_string().contains("3.00"), "{priced}");
    works(format!("{priced}"))
}

pub(super) async fn vectors(stage: Arc<Stage>, wire: Wire) -> Seen {
    super::vectors::all(&stage, wire).await
}
