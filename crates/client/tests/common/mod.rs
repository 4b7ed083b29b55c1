//! What the tests of this crate share: a network in memory and the consumer's side of it.

mod network;
mod script;
mod streams;

use std::time::Duration;

use equipoise_client::{CallError, Consumer, ConsumerBuilder};
use equipoise_core::report::EndpointReport;

pub(crate) use network::Network;
pub(crate) use script::{
    Door, Seen, answers, answers_with, fails, fails_with, goes_away, panics, silence,
};

/// The four providers of the scenarios.
pub(crate) const A: &str = "10.0.0.1:20880";
pub(crate) const B: &str = "10.0.0.2:20880";
pub(crate) const C: &str = "10.0.0.3:20880";
pub(crate) const D: &str = "10.0.0.4:20880";

impl Network {
    /// A consumer of `com.ex.Svc` with these providers.
    pub(crate) fn consumer<'a>(&self, list: impl IntoIterator<Item = &'a str>) -> ConsumerBuilder {
        Consumer::builder().service("com.ex.Svc").shared_protocol(self.protocol()).endpoints(list)
    }
}

/// One call of `echo`: the address that answered, empty for an empty result.
pub(crate) async fn ask(consumer: &Consumer) -> Result<String, CallError> {
    ask_key(consumer, "user-1").await
}

/// The same with another argument, which is the key of keyed strategies.
pub(crate) async fn ask_key(consumer: &Consumer, key: &str) -> Result<String, CallError> {
    let answer: Option<String> = consumer.call("echo").json(&[key]).await?;
    Ok(answer.unwrap_or_default())
}

/// So many calls, one after the other.
pub(crate) async fn ask_all(consumer: &Consumer, calls: usize) -> Vec<String> {
    let mut all = Vec::with_capacity(calls);
    for _ in 0..calls {
        all.push(ask(consumer).await.unwrap());
    }
    all
}

/// Virtual time goes by.
pub(crate) async fn pass(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

/// Time for connections to be made and for the view to follow.
pub(crate) async fn settle() {
    pass(25).await;
}

/// What is known of one provider of `echo`.
pub(crate) fn of(consumer: &Consumer, address: &str) -> EndpointReport {
    let report = consumer.report();
    let echo = report.methods.iter().find(|m| m.method == "echo").expect("`echo` was called");
    echo.endpoints.iter().find(|e| e.address == address).expect("a candidate").clone()
}

/// Attempts in flight at all providers of `echo`, and never fewer than none.
pub(crate) fn active(consumer: &Consumer) -> u32 {
    let report = consumer.report();
    let echo = report.methods.iter().filter(|m| m.method == "echo");
    echo.flat_map(|m| &m.endpoints).map(|e| e.active).sum()
}

/// Whether the list says that it may be chosen.
pub(crate) fn is_up(consumer: &Consumer, address: &str) -> bool {
    let report = consumer.report();
    report.endpoints.iter().any(|e| e.address == address && e.available)
}

/// Pearson's statistic of two counts against equal shares, for which 23.93 has a chance of one in a
/// million.
pub(crate) fn assert_even(a: usize, b: usize) {
    let half = (a + b) as f64 / 2.0;
    let statistic = 2.0 * (a as f64 - half).powi(2) / half;
    assert!(statistic < 23.93, "{a} : {b} is not even");
}

pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}
