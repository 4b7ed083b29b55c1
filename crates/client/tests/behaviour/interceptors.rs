//! Interceptors: around the whole call once, around each attempt with its endpoint.

use std::sync::{Arc, Mutex};

use equipoise_client::{CallError, Interceptor, NextAttempt, NextCall};
use equipoise_core::outcome::{Failure, FailureKind};
use equipoise_core::port::{BoxFuture, Reply, Request};

use crate::common::*;

/// Writes down what passes, and marks it.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn write(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

struct Named(&'static str, Diary);

impl Interceptor for Named {
    fn call<'a>(
        &'a self,
        mut request: Request,
        next: NextCall<'a>,
    ) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move {
            self.1.write(format!("{} call {}", self.0, request.method));
            request.attachments.set(format!("by-{}", self.0), "call");
            let result = next.run(request).await;
            self.1.write(format!("{} call ends: {}", self.0, result.is_ok()));
            result
        })
    }

    fn attempt<'a>(
        &'a self,
        mut request: Request,
        next: NextAttempt<'a>,
    ) -> BoxFuture<'a, Result<Reply, Failure>> {
        Box::pin(async move {
            let address = next.endpoint().address().to_owned();
            request.attachments.set(format!("at-{}", self.0), address.clone());
            let result = next.run(request).await;
            self.1.write(format!("{} at {address}: {}", self.0, result.is_ok()));
            result
        })
    }
}

#[tokio::test(start_paused = true)]
async fn they_nest_around_the_call_and_each_attempt() {
    let net = Network::new();
    net.at(A).next(fails(FailureKind::NoAnswer, 1));
    let diary = Diary::default();
    let consumer = net
        .consumer([A, B])
        .strategy("roundrobin")
        .interceptor(Named("x", diary.clone()))
        .interceptor(Named("y", diary.clone()))
        .build()
        .unwrap();
    settle().await;
    consumer.call("echo").json::<String>(&["1"]).await.unwrap();
    let expected = [
        "x call echo".to_owned(),
        "y call echo".to_owned(),
        format!("y at {A}: false"),
        format!("x at {A}: false"),
        format!("y at {B}: true"),
        format!("x at {B}: true"),
        "y call ends: true".to_owned(),
        "x call ends: true".to_owned(),
    ];
    assert_eq!(diary.lines(), expected);
    for (seen, address) in net.seen().iter().zip([A, B]) {
        assert_eq!(seen.attachments.text("by-x"), Some("call"));
        assert_eq!(seen.attachments.text("by-y"), Some("call"));
        assert_eq!(seen.attachments.text("at-x"), Some(address));
        assert_eq!(seen.attachments.text("at-y"), Some(address));
    }
}

struct Closed;

impl Interceptor for Closed {
    fn call<'a>(
        &'a self,
        _: Request,
        next: NextCall<'a>,
    ) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(std::future::ready(Err(next.refuse(FailureKind::Forbidden, "closed today"))))
    }
}

#[tokio::test(start_paused = true)]
async fn one_may_answer_itself() {
    let net = Network::new();
    let consumer = net.consumer([A]).interceptor(Closed).build().unwrap();
    settle().await;
    let error = consumer.call("echo").json::<String>(&["1"]).await.unwrap_err();
    assert_eq!(error.failure.kind, FailureKind::Forbidden);
    assert_eq!((error.method.as_str(), error.made), ("echo", 0));
    assert!(error.to_string().contains("closed today"), "{error}");
    assert!(net.seen().is_empty());
}

struct Twice;

impl Interceptor for Twice {
    fn attempt<'a>(
        &'a self,
        request: Request,
        next: NextAttempt<'a>,
    ) -> BoxFuture<'a, Result<Reply, Failure>> {
        Box::pin(async move {
            next.clone().run(request.clone()).await?;
            next.run(request).await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_with_interceptors_still_ends_when_its_time_is_up() {
    let net = Network::new();
    net.at(A).always(answers(60));
    let builder = net.consumer([A]).interceptor(Twice).retries(0).timeout(ms(100));
    let consumer = builder.build().unwrap();
    settle().await;
    let error = consumer.call("echo").json::<String>(&["1"]).await.unwrap_err();
    assert_eq!(error.failure.kind, FailureKind::Timeout);
    assert_eq!(net.seen().len(), 2);
    assert_eq!(active(&consumer), 0);
}
