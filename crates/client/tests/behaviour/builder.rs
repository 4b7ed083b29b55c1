//! Building a consumer: what is refused and how it is said, own strategies and own policies, and
//! the key of a call.

use std::any::Any;
use std::sync::Arc;

use equipoise_client::policy::{Policy, PolicyAbout};
use equipoise_client::{BuildError, CallError, Choice, Consumer, Flow};
use equipoise_core::balance::{About, Ask, Picker, Prepare, Strategy};
use equipoise_core::call::Tried;
use equipoise_core::hash::key::Argument;
use equipoise_core::outcome::FailureKind;
use equipoise_core::port::{BoxFuture, Reply};

use crate::common::*;

fn refused(builder: equipoise_client::ConsumerBuilder) -> String {
    builder.build().unwrap_err().to_string()
}

#[tokio::test(start_paused = true)]
async fn what_is_wrong_is_said_with_key_value_and_place() {
    let net = Network::new();
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let builder = || net.consumer([A]);
    for (builder, parts) in [
        (builder().set("timeout", "soon"), ["timeout", "soon", "builder, timeout"]),
        (builder().strategy("nonsense"), ["loadbalance", "nonsense", "builder, loadbalance"]),
        (builder().policy("nonsense"), ["cluster", "nonsense", "builder, cluster"]),
        (builder().set("hash.nodes", "3"), ["hash.nodes", "3", "builder, hash.nodes"]),
        (
            builder().method("m", |m| m.set("retries", "x")),
            ["retries", "\"x\"", "builder, m.retries"],
        ),
        (builder().method("m", |m| m.policy("q")), ["cluster", "\"q\"", "builder, m.cluster"]),
        (builder().endpoints(["host:99999"]), ["host:99999", "port", "65535"]),
    ] {
        let error = refused(builder);
        for part in parts {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
    settle().await;
    let now = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    assert_eq!((now, net.users(), net.open()), (tasks, 0, 0), "what was refused has ended");
}

#[test]
fn a_consumer_needs_a_protocol_and_a_runtime() {
    assert!(matches!(Consumer::builder().build(), Err(BuildError::NoProtocol)));
    let net = Network::new();
    assert!(matches!(net.consumer([A]).build(), Err(BuildError::NoRuntime)));
}

/// Always the last one that may be chosen.
struct Last;

impl Strategy for Last {
    fn about(&self) -> About {
        About::named("last", "the last one")
    }
    fn prepare(&self, _: &Prepare<'_>) -> Box<dyn Picker> {
        Box::new(Last)
    }
}

impl Picker for Last {
    fn pick(&self, ask: &mut Ask<'_>) -> Option<usize> {
        (0..ask.candidates.len()).rev().find(|position| ask.admits(*position))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Two attempts, whatever the failure.
struct Twice;

impl Policy for Twice {
    fn about(&self) -> PolicyAbout {
        PolicyAbout { name: "twice", aliases: &[], summary: "two attempts" }
    }
    fn run<'a>(&'a self, flow: Arc<Flow>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move {
            let mut tried = Tried::new();
            if let Ok(reply) = flow.attempt(Choice::ByStrategy, &mut tried).await {
                return Ok(reply);
            }
            let second = flow.attempt(Choice::ByStrategy, &mut tried).await;
            second.map_err(|failure| flow.error(failure))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn own_strategies_and_policies_work_under_their_names() {
    let net = Network::new();
    let consumer = net
        .consumer([A, B, C])
        .register("last", Last)
        .register_policy("twice", Twice)
        .strategy("last")
        .method("echo", |m| m.policy("twice"))
        .build()
        .unwrap();
    assert_eq!(ask(&consumer).await.unwrap(), C);
    for address in [A, B, C] {
        net.at(address).always(fails(FailureKind::Business, 1));
    }
    net.forget();
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(net.asked(), [C, B]);
    assert_eq!((error.strategy.as_str(), error.policy.as_str()), ("last", "twice"));
    consumer.set("echo.cluster", "failfast").await.unwrap();
    net.forget();
    ask(&consumer).await.unwrap_err();
    assert_eq!(net.asked(), [C]);
}

#[tokio::test(start_paused = true)]
async fn names_of_built_in_ones_keep_their_meaning() {
    let net = Network::new();
    for error in [
        refused(net.consumer([A]).register("random", Last)),
        refused(net.consumer([A]).register("consistenthashing", Last)),
        refused(net.consumer([A]).register_policy("failover", Twice)),
    ] {
        assert!(error.contains("belongs to a built-in"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_key_comes_from_the_call_else_from_the_arguments() {
    let net = Network::new();
    let consumer = net.consumer([A, B, C]).strategy("consistenthash").build().unwrap();
    let json = |call: equipoise_client::CallBuilder, body: serde_json::Value| async move {
        call.json::<String>(&body).await.unwrap()
    };
    let call = || consumer.call("echo");
    // Owners of Dubbo's ring of these three.
    for (key, owner) in [("user-1", C), ("user-2", B), ("user-3", A), ("user-4", C)] {
        assert_eq!(json(call(), serde_json::json!([key, 7])).await, owner);
        assert_eq!(json(call(), serde_json::json!(key)).await, owner, "one value is argument 0");
        assert_eq!(json(call().key(key), serde_json::json!(["other"])).await, owner);
        let arguments = [Argument::from(key), Argument::Int(1)];
        assert_eq!(json(call().arguments(arguments), serde_json::json!(["other"])).await, owner);
    }
    // Numbers, lists and null in the text forms of Java.
    for (value, owner) in [
        (serde_json::json!([42]), B),
        (serde_json::json!([7]), C),
        (serde_json::json!([true]), A),
        (serde_json::json!([1.0]), C),
        (serde_json::json!([[1, 2]]), C),
        (serde_json::json!([null]), B),
        (serde_json::json!([]), A),
    ] {
        assert_eq!(json(call(), value.clone()).await, owner, "{value}");
    }
    consumer.set("echo.hash.arguments", "1").await.unwrap();
    assert_eq!(json(call(), serde_json::json!(["tenantA", "43"])).await, A);
    assert_eq!(json(call(), serde_json::json!(["tenantA", "7"])).await, C);
}

#[tokio::test(start_paused = true)]
async fn a_method_has_settings_of_its_own() {
    let net = Network::new();
    for address in [A, B, C] {
        net.at(address).always(fails(FailureKind::NoAnswer, 1));
    }
    let consumer = net
        .consumer([A, B, C])
        .policy("failfast")
        .method("echo", |m| m.policy("failover").strategy("roundrobin").retries(1).timeout(ms(70)))
        .build()
        .unwrap();
    settle().await;
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(
        (net.asked(), error.policy.as_str()),
        (vec![A.to_owned(), B.to_owned()], "failover")
    );
    assert_eq!(net.seen()[0].timeout, Some(ms(70)));
    let error = consumer.call("other").json::<String>(&["x"]).await.unwrap_err();
    assert_eq!((error.made, error.policy.as_str()), (1, "failfast"));
}

#[tokio::test(start_paused = true)]
async fn more_methods_than_there_are_places_still_work() {
    let net = Network::new();
    let consumer = net.consumer([A, B]).strategy("roundrobin").build().unwrap();
    for i in 0..600 {
        let method = format!("m{i}");
        consumer.call(&method).json::<String>(&["x"]).await.unwrap();
        assert_eq!(net.seen().last().unwrap().method, method, "the name that travels is its own");
    }
    let report = consumer.report();
    assert_eq!(report.methods.len(), 257);
    let rest = report.methods.iter().find(|m| m.method == "*").unwrap();
    assert_eq!(rest.endpoints.iter().map(|e| e.picks).sum::<u64>(), 600 - 256);
}
