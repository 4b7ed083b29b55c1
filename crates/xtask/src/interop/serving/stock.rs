//! The interface of plain Java types.

use std::sync::Arc;

use anyhow::Context as _;
use equipoise::protocol::RunningServer;
use serde_json::{Value, json};

use crate::interop::ask::{Answer, Ask};
use crate::interop::cell::{Seen, Shown, same, works};
use crate::interop::peer::Peer;
use crate::interop::samples;
use crate::interop::shop;
use crate::interop::stage::{Release, Stage, Wire};
use crate::interop::stock::STOCK;

const STRING: &str = "java.lang.String";

/// A server of ours and the shared consumer.
struct Pair<'s> {
    server: RunningServer,
    consumer: &'s Peer,
    wire: Wire,
}

impl<'s> Pair<'s> {
    async fn set(stage: &'s Stage, wire: Wire) -> anyhow::Result<Self> {
        let server = shop::serve(|server| server).await?;
        Ok(Self { server, consumer: stage.consumer(wire).await?, wire })
    }

    /// A call of a method, at a URL with parameters.
    fn at(&self, method: &str, parameters: &str) -> Ask {
        let address = self.server.local_addr();
        Ask::new(format!("{}://{address}{parameters}", self.wire.scheme), STOCK, method)
    }

    fn ask(&self, method: &str) -> Ask {
        self.at(method, "")
    }

    async fn call(&self, ask: Ask) -> anyhow::Result<Answer> {
        ask.call(self.consumer).await
    }

    /// The value that a call returns.
    async fn value(&self, ask: Ask) -> anyhow::Result<Value> {
        Ok(self.call(ask).await?.value()?.clone())
    }

    async fn sample(&self, name: &str) -> anyhow::Result<Value> {
        let told = self.consumer.ask("sample", json!({ "name": name })).await?;
        Ok(told["sample"].clone())
    }
}

pub(super) async fn unary(stage: Arc<Stage>, wire: Wire) -> Seen {
    let pair = Pair::set(&stage, wire).await?;
    let ask = pair.ask("greet").arg(STRING, json!("wörld 世界 😀")).arg("int", json!(7));
    let text = pair.value(ask).await?;
    same("answer", &text, &json!("hello wörld 世界 😀 x7"))?;
    works(text.to_string())
}

pub(super) async fn object(stage: Arc<Stage>, wire: Wire) -> Seen {
    let pair = Pair::set(&stage, wire).await?;
    let argument = json!({ "sample": "order" });
    let mut back =
        pair.value(pair.ask("price").arg("io.equipoise.interop.Order", argument)).await?;
    let total = back["fields"]["total"].take();
    same("total", &total, &json!({ "java.math.BigDecimal": samples::TOTAL }))?;
    same("the rest", back, pair.sample("order").await?)?;
    works("a nested object of a kibibyte, and the total it got")
}

pub(super) async fn every_type(stage: Arc<Stage>, wire: Wire) -> Seen {
    let pair = Pair::set(&stage, wire).await?;
    let argument = json!({ "sample": "everything" });
    let ask = pair.ask("everything").arg("io.equipoise.interop.Everything", argument);
    let back = pair.value(ask).await?;
    let want = pair.sample("everything").await?;
    for (name, value) in want["fields"].as_object().into_iter().flatten() {
        same(name, &back["fields"][name], value)?;
    }
    same("answer", back, want)?;
    works("every Java type came back as it was sent")
}

fn reserve(pair: &Pair<'_>, amount: i32) -> Ask {
    pair.ask("reserve").arg(STRING, json!("s1")).arg("int", json!(amount))
}

pub(super) async fn exception(stage: Arc<Stage>, wire: Wire) -> Seen {
    let pair = Pair::set(&stage, wire).await?;
    same("answer", pair.value(reserve(&pair, 1)).await?, json!(99))?;
    let answer = pair.call(reserve(&pair, 200)).await?;
    let thrown = answer.thrown()?;
    same("class", &thrown["thrown"], &json!("io.equipoise.interop.OutOfStock"))?;
    same("message", &thrown["message"], &json!("only 100 of s1"))?;
    same("fields", &thrown["fields"], &json!({ "left": 100, "sku": "s1" }))?;
    works("OutOfStock with its own fields")
}

fn fail(pair: &Pair<'_>, kind: &str) -> Ask {
    pair.ask("fail").arg(STRING, json!(kind)).arg(STRING, json!("broken"))
}

pub(super) async fn unchecked(stage: Arc<Stage>, wire: Wire) -> Seen {
    let pair = Pair::set(&stage, wire).await?;
    let answer = pair.call(fail(&pair, "jdk")).await?;
    let thrown = answer.thrown()?;
    same("class", &thrown["thrown"], &json!("java.lang.IllegalStateException"))?;
    same("message", &thrown["message"], &json!("broken"))?;
    works(thrown["thrown"].to_string())
}

/// An exception of a class that Java does not have is an error there, with what was said.
pub(super) async fn undeclared(stage: Arc<Stage>, wire: Wire) -> Seen {
    let pair = Pair::set(&stage, wire).await?;
    let answer = pair.call(fail(&pair, "unknown")).await?;
    let thrown = answer.thrown()?.clone();
    same("next call", pair.value(reserve(&pair, 1)).await?, json!(99))?;
    let text = thrown.to_string();
    let kept = text.contains("broken");
    let said = format!("{}: {}", thrown["thrown"], thrown["message"]);
    if kept { works(said) } else { Ok(Shown::Defect(said)) }
}

pub(super) async fn timeout(stage: Arc<Stage>, wire: Wire) -> Seen {
    let pair = Pair::set(&stage, wire).await?;
    let sleep = |millis: i32| pair.ask("sleep").arg("long", json!(millis));
    pair.value(sleep(1)).await?;
    let answer = pair.call(sleep(20_000).with("timeout", json!(500))).await?;
    let thrown = answer.thrown()?;
    // The code of `RpcException` for a timeout.
    same("code", &thrown["code"], &json!(2))?;
    same("next call", pair.value(sleep(1)).await?, json!({ "long": "1" }))?;
    works(thrown["thrown"].to_string())
}

pub(super) async fn big(stage: Arc<Stage>, wire: Wire) -> Seen {
    const SIZE: i32 = 4 << 20;
    let pair = Pair::set(&stage, wire).await?;
    let echo = pair.ask("echoBytes").arg("byte[]", json!({ "size": SIZE }));
    let (blob, back) =
        (pair.value(pair.ask("blob").arg("int", json!(SIZE))).await?, pair.value(echo).await?);
    same("length", &back["length"], &json!(SIZE))?;
    same("both", &back, &blob)?;
    works(back.to_string())
}

pub(super) async fn null(stage: Arc<Stage>, wire: Wire) -> Seen {
    let pair = Pair::set(&stage, wire).await?;
    same("null", pair.value(pair.ask("nothing").arg(STRING, Value::Null)).await?, Value::Null)?;
    same("text", pair.value(pair.ask("nothing").arg(STRING, json!("x"))).await?, json!("x"))?;
    let object = pair.ask("echo").arg("java.lang.Object", Value::Null);
    same("null as Object", pair.value(object).await?, Value::Null)?;
    same("void", pair.value(pair.ask("touch")).await?, Value::Null)?;
    works("null both ways, and a method without result")
}

pub(super) async fn overload(stage: Arc<Stage>, wire: Wire) -> Seen {
    let pair = Pair::set(&stage, wire).await?;
    let find = || pair.ask("find");
    let name = pair.value(find().arg(STRING, json!("a"))).await?;
    let number = pair.value(find().arg("int", json!(5))).await?;
    let both = pair.value(find().arg(STRING, json!("a")).arg("int", json!(5))).await?;
    same("(String)", name, json!("by name a"))?;
    same("(int)", number, json!("by number 5"))?;
    same("(String, int)", both, json!("by name and number a 5"))?;
    works("three methods of one name")
}

pub(super) async fn attachments(stage: Arc<Stage>, wire: Wire) -> Seen {
    let pair = Pair::set(&stage, wire).await?;
    let ask = pair.ask("attachments").arg(STRING, json!("k"));
    // `tri` carries attachments as headers, and those are ASCII.
    let value = if wire.scheme == "tri" { "Value" } else { "Välue" };
    let sent = json!({ "My-Key": value, "lower": "text" });
    let answer = pair.call(ask.with("attachments", sent)).await?;
    let seen = answer.value()?["map"].clone();
    for want in [json!(["My-Key", value]), json!(["lower", "text"])] {
        anyhow::ensure!(
            seen.as_array().is_some_and(|seen| seen.contains(&want)),
            "{want} in {seen}"
        );
    }
    if wire.release == Release::Java27 {
        // Nor does it show them to its caller when the provider is its own.
        return works(format!("our provider saw {seen}; 2.7 shows no attachments of the response"));
    }
    same("k-Upper", answer.attachment("k-Upper"), Some("Kept"))
        .with_context(|| format!("{answer:?}"))?;
    same("k-reply", answer.attachment("k-reply"), Some("reply of ours"))?;
    works(format!("our provider saw {seen}"))
}

pub(super) async fn future(stage: Arc<Stage>, wire: Wire) -> Seen {
    let pair = Pair::set(&stage, wire).await?;
    let text = pair.value(pair.ask("later").arg(STRING, json!("x"))).await?;
    same("answer", &text, &json!("later x"))?;
    works(text.to_string())
}

pub(super) async fn one_way(stage: Arc<Stage>, wire: Wire) -> Seen {
    let pair = Pair::set(&stage, wire).await?;
    pair.value(pair.at("note", "?note.return=false").arg(STRING, json!("x"))).await?;
    let mut polls = 0;
    // Nobody says when it has run.
    while pair.value(pair.ask("notes")).await? != json!(1) {
        polls += 1;
    }
    works(format!("it ran, seen after {polls} more calls"))
}

pub(super) async fn collections(stage: Arc<Stage>, wire: Wire) -> Seen {
    let pair = Pair::set(&stage, wire).await?;
    for (method, kind, sample) in
        [("users", "java.util.List", "users"), ("index", "java.util.Map", "index")]
    {
        let back = pair.value(pair.ask(method).arg(kind, json!({ "sample": sample }))).await?;
        same(method, back, pair.sample(sample).await?)?;
    }
    works("List<User> and Map<String, User>")
}

pub(super) async fn group(stage: Arc<Stage>, wire: Wire) -> Seen {
    let pair = Pair::set(&stage, wire).await?;
    same("plain", pair.value(pair.ask("who")).await?, json!("ours"))?;
    let grouped = pair.ask("who").with("group", json!("g1")).with("version", json!("1.0.0"));
    same("g1 1.0.0", pair.value(grouped).await?, json!("ours g1"))?;
    if wire.scheme == "tri" {
        // Without a match `tri` falls back to the bare interface, on both sides alike.
        return works("each answered by its own");
    }
    let wrong = pair.ask("who").with("group", json!("nobody"));
    let answer = pair.call(wrong).await?;
    let said = answer.thrown()?["message"].to_string();
    works(format!(
        "each answered by its own; no group: {}",
        said.chars().take(120).collect::<String>()
    ))
}

pub(super) async fn generic(stage: Arc<Stage>, wire: Wire) -> Seen {
    let pair = Pair::set(&stage, wire).await?;
    let ask = |method| pair.ask(method).with("generic", json!("true"));
    let greet = ask("greet").arg(STRING, json!("w")).arg("int", json!(7));
    same("greet", pair.value(greet).await?, json!("hello w x7"))?;
    let order = json!({
        "id": 1,
        "lines": [{ "sku": "a", "amount": 2, "price": "1.50", "kind": "TOOL" }],
    });
    let price = ask("price").arg("io.equipoise.interop.Order", order);
    let priced = pair.value(price).await?.to_string();
    anyhow::ensure!(priced.contains(r#"["class","io.equipoise.interop.Order"]"#), "{priced}");
    anyhow::ensure!(priced.contains(r#"["kind","TOOL"]"#), "{priced}");
    let thrown = ask("reserve").arg(STRING, json!("a")).arg("int", json!(200));
    let thrown = pair.call(thrown).await?.thrown()?.clone();
    let class = thrown["thrown"].to_string();
    anyhow::ensure!(class.contains("GenericException"), "{thrown}");
    works(format!("{class} for OutOfStock"))
}

/// A serialization that is not spoken here is refused at once, with the setting that avoids it.
pub(super) async fn fastjson2(stage: Arc<Stage>, wire: Wire) -> Seen {
    let pair = Pair::set(&stage, wire).await?;
    let ask = pair.at("nothing", "?prefer.serialization=fastjson2,hessian2");
    let answer = pair.call(ask.arg(STRING, json!("x"))).await?;
    let thrown = answer.thrown()?;
    anyhow::ensure!(thrown["code"] != json!(2), "a timeout: {thrown}");
    anyhow::ensure!(thrown.to_string().contains("prefer.serialization=hessian2"), "{thrown}");
    let plain = pair.value(pair.ask("nothing").arg(STRING, json!("x"))).await?;
    same("with hessian2", plain, json!("x"))?;
    works("refused with the setting to change")
}
