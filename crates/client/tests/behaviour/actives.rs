//! `actives`: at most so many attempts in flight per provider and method; others wait, and are
//! refused when their time is up.

use equipoise_client::Consumer;
use equipoise_core::outcome::FailureKind;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::common::*;

fn limited(net: &Network, actives: &str) -> Consumer {
    net.consumer([A]).set("actives", actives).retries(0).build().unwrap()
}

// E 6.1
#[tokio::test(start_paused = true)]
async fn the_third_call_starts_when_a_place_is_free() {
    let net = Network::new();
    net.at(A).always(answers(100));
    let consumer = limited(&net, "2");
    settle().await;
    let started = Instant::now();
    let (one, two, three) = tokio::join!(ask(&consumer), ask(&consumer), ask(&consumer));
    for result in [one, two, three] {
        result.unwrap();
    }
    let at: Vec<_> = net.seen().iter().map(|s| s.at - started).collect();
    assert_eq!(at, [ms(0), ms(0), ms(100)]);
    assert_eq!(net.at(A).peak(), 2);
    assert_eq!(active(&consumer), 0);
}

// E 6.2
#[tokio::test(start_paused = true)]
async fn a_call_is_refused_when_its_time_is_up() {
    let net = Network::new();
    net.at(A).always(answers(200));
    let consumer = limited(&net, "1");
    settle().await;
    let started = Instant::now();
    let second = async {
        pass(1).await;
        let call = consumer.call("echo").timeout(ms(50));
        let error = call.json::<String>(&["x"]).await.unwrap_err();
        (error, started.elapsed())
    };
    let (first, (error, at)) = tokio::join!(ask(&consumer), second);
    first.unwrap();
    assert_eq!(at, ms(51));
    assert_eq!(error.failure.kind, FailureKind::LimitExceeded);
    assert!(error.to_string().contains("actives = 1"), "{error}");
    assert_eq!(net.seen().len(), 1, "the refused one was never sent");
    assert_eq!((of(&consumer, A).active, of(&consumer, A).picks), (0, 1));
}

// E 6.3
#[tokio::test(start_paused = true)]
async fn a_timeout_frees_its_place() {
    let net = Network::new();
    net.at(A).next(silence());
    let consumer = limited(&net, "1");
    ask(&consumer).await.unwrap_err();
    let a = of(&consumer, A);
    assert_eq!((a.active, a.errors["timeout"], a.success), (0, 1, 0));
    ask(&consumer).await.unwrap();
}

// E 6.4
#[tokio::test(start_paused = true)]
async fn a_business_error_frees_its_place_and_is_no_failure() {
    let net = Network::new();
    net.at(A).next(fails(FailureKind::Business, 1));
    let consumer = limited(&net, "1");
    ask(&consumer).await.unwrap_err();
    let a = of(&consumer, A);
    assert_eq!((a.active, a.errors.len(), a.business, a.error_rate), (0, 0, 1, 0.0));
    ask(&consumer).await.unwrap();
}

// E 6.5, amended: without a limit attempts are counted all the same.
#[tokio::test(start_paused = true)]
async fn without_a_limit_attempts_are_counted_all_the_same() {
    let net = Network::new();
    net.at(A).always(answers(100));
    let consumer = net.consumer([A]).build().unwrap();
    let looked = async {
        pass(50).await;
        active(&consumer)
    };
    let (one, two, seen) = tokio::join!(ask(&consumer), ask(&consumer), looked);
    one.unwrap();
    two.unwrap();
    assert_eq!((seen, active(&consumer)), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn case_035_a_refusal_of_the_provider_frees_its_place() {
    let net = Network::new();
    for _ in 0..2 {
        net.at(A).next(fails(FailureKind::LimitExceeded, 10));
    }
    let consumer = limited(&net, "2");
    settle().await;
    let (one, two) = tokio::join!(ask(&consumer), ask(&consumer));
    for result in [one, two] {
        assert_eq!(result.unwrap_err().failure.kind, FailureKind::LimitExceeded);
    }
    assert_eq!(active(&consumer), 0);
    let started = Instant::now();
    ask(&consumer).await.unwrap();
    assert_eq!(started.elapsed(), ms(1), "sent at once");
}

#[tokio::test(start_paused = true)]
async fn the_limit_is_per_provider_and_method() {
    let net = Network::new();
    for address in [A, B] {
        net.at(address).always(answers(100));
    }
    let consumer = net.consumer([A, B]).strategy("roundrobin").set("actives", "1").build().unwrap();
    settle().await;
    let started = Instant::now();
    let other = |method| {
        let call = consumer.call(method);
        async move { call.json::<String>(&["x"]).await }
    };
    let (a, b, c, d) = tokio::join!(ask(&consumer), ask(&consumer), other("one"), other("one"));
    for result in [a, b, c, d] {
        result.unwrap();
    }
    assert_eq!(started.elapsed(), ms(100), "nobody waited");
}

#[tokio::test(start_paused = true)]
async fn a_providers_own_limit_and_a_methods_own_limit_apply() {
    let net = Network::new();
    net.at(A).always(answers(100));
    let list = format!("{A}?actives=2&echo.actives=1");
    let consumer = net.consumer([list.as_str()]).build().unwrap();
    settle().await;
    let started = Instant::now();
    let (one, two) = tokio::join!(ask(&consumer), ask(&consumer));
    one.unwrap();
    two.unwrap();
    assert_eq!(started.elapsed(), ms(200));
    assert_eq!(net.at(A).peak(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_of_the_call_bounds_the_wait() {
    let net = Network::new();
    net.at(A).always(answers(500));
    let consumer = limited(&net, "1");
    settle().await;
    let started = Instant::now();
    let second = async {
        pass(1).await;
        let call = consumer.call("echo").deadline(ms(30));
        (call.json::<String>(&["x"]).await.unwrap_err(), started.elapsed())
    };
    let (first, (error, at)) = tokio::join!(ask(&consumer), second);
    first.unwrap();
    assert_eq!((error.failure.kind, at), (FailureKind::LimitExceeded, ms(31)));
}

#[tokio::test(start_paused = true)]
async fn a_refused_call_tries_another_provider() {
    let net = Network::new();
    net.at(A).always(answers(800));
    let consumer = net
        .consumer([A, B])
        .policy("failover")
        .strategy("roundrobin")
        .set("actives", "1")
        .timeout(ms(1000))
        .build()
        .unwrap();
    settle().await;
    let second = async {
        pass(1).await;
        assert_eq!(ask(&consumer).await.unwrap(), B);
        let call = consumer.call("echo").timeout(ms(50));
        call.json::<String>(&["x"]).await.unwrap()
    };
    let (first, second) = tokio::join!(ask(&consumer), second);
    assert_eq!((first.unwrap().as_str(), second.as_str()), (A, B));
}

#[tokio::test(start_paused = true)]
async fn a_waiter_that_gives_up_takes_no_place_and_no_turn() {
    let net = Network::new();
    net.at(A).always(answers(100));
    let consumer = limited(&net, "1");
    settle().await;
    let started = Instant::now();
    let gives_up = tokio::time::timeout(ms(50), async {
        pass(1).await;
        ask(&consumer).await
    });
    let patient = async {
        pass(2).await;
        ask(&consumer).await
    };
    let (first, gone, third) = tokio::join!(ask(&consumer), gives_up, patient);
    first.unwrap();
    assert!(gone.is_err());
    third.unwrap();
    assert_eq!(started.elapsed(), ms(200));
    assert_eq!((active(&consumer), net.seen().len()), (0, 2));
}

#[tokio::test(start_paused = true)]
async fn calls_in_flight_when_a_limit_is_set_free_their_places_too() {
    let net = Network::new();
    net.at(A).always(answers(100));
    let consumer = net.consumer([A]).retries(0).build().unwrap();
    settle().await;
    let started = Instant::now();
    let later = async {
        pass(10).await;
        consumer.set("actives", "1").await.unwrap();
        ask(&consumer).await
    };
    let (first, later) = tokio::join!(ask(&consumer), later);
    first.unwrap();
    later.unwrap();
    assert_eq!(started.elapsed(), ms(200), "the second started when the first had ended");
}

// L4: never above the limit, and nobody is refused while a place is free.
#[tokio::test(start_paused = true)]
async fn sixty_four_callers_share_eight_places() {
    let net = Network::new();
    net.at(A).always(answers(100));
    let consumer = limited(&net, "8");
    settle().await;
    let started = Instant::now();
    let mut callers = JoinSet::new();
    for _ in 0..64 {
        let consumer = consumer.clone();
        callers.spawn(async move { ask(&consumer).await });
    }
    while let Some(result) = callers.join_next().await {
        result.unwrap().unwrap();
    }
    assert_eq!(net.at(A).peak(), 8);
    assert_eq!(started.elapsed(), ms(800), "eight rounds, no place idle");
    assert_eq!(active(&consumer), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_callers_on_eight_places_are_never_refused_and_sixty_four_never_exceed_them() {
    let net = Network::new();
    net.at(A).always(answers(0));
    let builder = net.consumer([A]).set("actives", "8").retries(0);
    let consumer = builder.timeout(ms(3_600_000)).build().unwrap();
    for (tasks, calls) in [(8, 500), (64, 100)] {
        let mut callers = JoinSet::new();
        for _ in 0..tasks {
            let consumer = consumer.clone();
            callers.spawn(async move { ask_all(&consumer, calls).await.len() });
        }
        while let Some(answered) = callers.join_next().await {
            assert_eq!(answered.unwrap(), calls);
        }
        assert!(net.at(A).peak() <= 8, "{} at once", net.at(A).peak());
        assert_eq!(active(&consumer), 0);
    }
}
