//! A provider that calls another one on behalf of its caller: deadline, tag and chosen attachments go
//! along because the method says so, and nothing else does.
#![cfg(feature = "dubbo")]
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

use std::time::Duration;

use equipoise::java::{Context, Fault};
use equipoise::protocol::{RunningServer, Server};

/// What the second provider was told.
#[equipoise::interface(java = "com.acme.Back")]
trait Back {
    async fn told(&self, call: &Context) -> Result<Vec<String>, Fault>;
}

/// Asks the second provider.
#[equipoise::interface(java = "com.acme.Front")]
trait Front {
    async fn ask(&self, call: &Context, inherit: bool) -> Result<Vec<String>, Fault>;
}

struct Second;

impl Back for Second {
    async fn told(&self, call: &Context) -> Result<Vec<String>, Fault> {
        let text = |key: &str| call.attachments().text(key).unwrap_or("-").to_owned();
        let within = call.remaining().is_some_and(|left| left <= Duration::from_secs(20));
        Ok(vec![text("trace"), text("secret"), text("dubbo.tag"), within.to_string()])
    }
}

struct First(BackClient);

impl Front for First {
    async fn ask(&self, call: &Context, inherit: bool) -> Result<Vec<String>, Fault> {
        let told = self.0.told();
        if inherit { told.with(|inner| call.inherit(inner, ["trace"])).await } else { told.await }
    }
}

async fn serve(service: Server) -> RunningServer {
    service.bind("127.0.0.1:0").await.unwrap()
}

#[tokio::test]
async fn an_inner_call_inherits_what_it_is_given_and_nothing_else() {
    let second =
        Server::builder().service(BackProvider::<Second>::key(), BackProvider::new(Second));
    let second = serve(second).await;
    for scheme in ["dubbo", "tri"] {
        let at = |server: &RunningServer| format!("{scheme}://{}", server.local_addr());
        // Much more time than the outer call has.
        let back = BackClient::builder().endpoints([at(&second)]).timeout(Duration::from_secs(600));
        let first = First(BackClient::new(back.build().unwrap()));
        let first =
            Server::builder().service(FrontProvider::<First>::key(), FrontProvider::new(first));
        let first = serve(first).await;
        let front = FrontClient::builder().endpoints([at(&first)]).timeout(Duration::from_secs(20));
        let front = FrontClient::new(front.build().unwrap());
        let ask = async |inherit| {
            let call = front
                .ask(inherit)
                .with(|call| call.attachment("trace", "t-1").attachment("secret", "s").tag("gray"));
            call.await.unwrap()
        };
        assert_eq!(ask(true).await, ["t-1", "-", "gray", "true"], "{scheme}");
        assert_eq!(ask(false).await, ["-", "-", "-", "false"], "{scheme}");
    }
}
