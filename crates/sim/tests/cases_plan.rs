//! Reported faults of tags and of precedence between consumer and provider, end to end.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod support;

use equipoise_core::call::Call;
use equipoise_core::outcome::FailureKind;
use equipoise_sim::scene::Scene;
use support::*;

/// Who may serve a call, as letters.
fn reached(scene: &Scene, call: &Call<'_>) -> String {
    let eligible = scene.view().eligible(call);
    eligible.iter().map(|e| letter(scene.place_of(e).unwrap())).collect()
}

#[test]
fn case_102_tags_of_consumer_and_provider_are_kept_apart() {
    let mut scene = Scene::new("random", &with(&["dubbo.tag=gray", ""])).unwrap();
    let only = |scene: &mut Scene, call: Call<'_>, place| {
        assert!((0..50).all(|_| scene.pick(&call).unwrap() == place), "{call:?}");
    };
    only(&mut scene, CALL, 1);
    only(&mut scene, CALL.tag("gray"), 0);
    only(&mut scene, CALL.tag("blue"), 1);
    let nobody = scene.pick(&CALL.tag("blue").force_tag(true)).unwrap_err();
    assert_eq!(nobody.kind, FailureKind::NoProvider);
    assert!(nobody.message.contains("listed 2, tag 0, available 0"), "{nobody}");
    assert_eq!(reached(&scene, &CALL.tag("gray").force_tag(true)), "A");

    // The same tag, configured for the reference instead of given with the call.
    scene.set("dubbo.tag", "gray").unwrap();
    only(&mut scene, CALL, 0);
    assert_eq!(scene.view().entries()[1].url().param("dubbo.tag"), None);
    scene.set("dubbo.tag", "blue").unwrap();
    scene.set("dubbo.force.tag", "true").unwrap();
    assert!(scene.pick(&CALL).is_err());
}

/// The part without a dynamic rule: static tags alone.
#[test]
fn case_103_a_static_tag_counts_without_a_rule() {
    let scene = Scene::new("random", &with(&["dubbo.tag=gray", ""])).unwrap();
    assert_eq!(reached(&scene, &CALL.tag("gray")), "A");
    assert_eq!(reached(&scene, &CALL.tag("blue")), "B");
    assert_eq!(reached(&scene, &CALL), "B");
    let tagged = Scene::new("random", &with(&["dubbo.tag=gray", "dubbo.tag=blue"])).unwrap();
    assert_eq!(reached(&tagged, &CALL), "");
}

/// Timeout of A for a method, ms.
fn timeout(scene: &Scene, method: &str) -> u128 {
    scene.candidate(&Call::new(method), 0, |c| c.timeout().as_millis())
}

#[test]
fn case_118_a_method_of_the_provider_beats_its_interface() {
    let provider = with(&["timeout=1000&getUser.timeout=3000"]);
    let mut scene = Scene::new("random", &provider).unwrap();
    let both = |scene: &Scene| (timeout(scene, "getUser"), timeout(scene, "listUser"));
    assert_eq!(both(&scene), (3000, 1000));
    scene.set("timeout", "2000").unwrap();
    assert_eq!(both(&scene), (3000, 2000));
    scene.set("getUser.timeout", "500").unwrap();
    assert_eq!(both(&scene), (500, 2000));
}

#[test]
fn case_119_consumer_method_provider_method_consumer_interface_provider_interface() {
    let provider = with(&["timeout=400&getUser.timeout=200"]);
    let mut scene = Scene::new("random", &provider).unwrap();
    scene.set("timeout", "300").unwrap();
    scene.set("getUser.timeout", "100").unwrap();
    assert_eq!(timeout(&scene, METHOD), 100);
    scene.set("getUser.timeout", "").unwrap();
    assert_eq!(timeout(&scene, METHOD), 200);
    scene.push(&with(&["timeout=400"])).unwrap();
    assert_eq!(timeout(&scene, METHOD), 300);
    scene.set("timeout", "").unwrap();
    assert_eq!(timeout(&scene, METHOD), 400);
    scene.push(&with(&[""])).unwrap();
    assert_eq!(timeout(&scene, METHOD), 1000);
}

#[test]
fn case_119_the_same_order_for_the_strategy() {
    let strategy = |scene: &Scene| {
        let method = scene.service().methods.id(METHOD);
        scene.view().plan(method).strategy.about().name
    };
    let both = with(&["loadbalance=p2c&getUser.loadbalance=roundrobin"; 2]);
    let config = equipoise_core::config::Config::new();
    let strategies = equipoise_core::balance::Strategies::built_in();
    let mut scene = Scene::configured(strategies, config, &both).unwrap();
    scene.set("loadbalance", "leastactive").unwrap();
    scene.set("getUser.loadbalance", "shortestresponse").unwrap();
    assert_eq!(strategy(&scene), "shortestresponse");
    scene.set("getUser.loadbalance", "").unwrap();
    assert_eq!(strategy(&scene), "roundrobin");
    scene.push(&with(&["loadbalance=p2c"; 2])).unwrap();
    assert_eq!(strategy(&scene), "leastactive");
    scene.set("loadbalance", "").unwrap();
    assert_eq!(strategy(&scene), "p2c");
    scene.push(&with(&["", ""])).unwrap();
    assert_eq!(strategy(&scene), "random");
}

/// Retrying is a decision of the consumer alone: a provider's value has no effect since Dubbo 3.0.
#[test]
fn case_119_retries_are_the_consumers() {
    let retries = |scene: &Scene| {
        let method = scene.service().methods.id(METHOD);
        scene.view().plan(method).retries
    };
    let provider = with(&["retries=7&getUser.retries=8"]);
    let mut scene = Scene::new("random", &provider).unwrap();
    assert_eq!(retries(&scene), None);
    scene.set("retries", "3").unwrap();
    assert_eq!(retries(&scene), Some(3));
    scene.set("getUser.retries", "0").unwrap();
    assert_eq!(retries(&scene), Some(0));
}

#[test]
fn case_120_the_timeout_of_a_provider_survives_every_push() {
    let provider = with(&["timeout=3000"]);
    let mut scene = Scene::new("random", &provider).unwrap();
    assert_eq!(timeout(&scene, METHOD), 3000);
    scene.push(&provider).unwrap();
    assert_eq!(timeout(&scene, METHOD), 3000);
    scene.push(&with(&[""])).unwrap();
    assert_eq!(timeout(&scene, METHOD), 1000);
}
