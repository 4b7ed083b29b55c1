//! What is answered to what.

use equipoise_core::service::ServiceKey;
use equipoise_hessian::Writer;
use equipoise_protocol::ServiceOptions;

use crate::service::{SERVICE, Seen, greeter, serve};
use crate::wire::{Ask, ask, connect, frame, greet, unhex};

/// Attachments of an answer without any of the service's.
const ATTACHED: &[u8] = b"H\x05dubbo\x052.0.2Z";

fn with_flag(flag: u8, value: &[u8]) -> Vec<u8> {
    [&[flag], value, ATTACHED].concat()
}

#[tokio::test]
async fn the_bytes_of_a_java_consumer_get_the_bytes_of_a_java_provider() {
    let (server, _hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    // Captured from Dubbo's consumer: timeout 5000, attachments `bin` and `My-Key`.
    let captured = "dabbc20063165bfa6a33e562000000d905322e302e3218636f6d2e6578616d706c652e4772\
        65657453657276696365\
        05302e302e30056772656574134c6a6176612f6c616e672f537472696e673b4905776f726c6497480470617468\
        18636f6d2e6578616d706c652e4772656574536572766963651272656d6f74652e6170706c69636174696f6e0d\
        64656d6f2d636f6e73756d65720362696e2301020309696e7465726661636518636f6d2e6578616d706c652e47\
        72656574536572766963\
        65064d792d4b65790456616c310776657273696f6e05302e302e300774696d656f757404353030305a";
    peer.send(&unhex(&captured.replace(' ', ""))).await;
    let came = peer.next().await;
    assert_eq!((came.flags, came.status, came.id), (0x02, 20, 0x6316_5bfa_6a33_e562));
    assert_eq!(came.body, with_flag(0x94, b"\x0Ehello world x7"));
    let attached = [
        ("path", SERVICE),
        ("remote.application", "rust-consumer"),
        ("interface", SERVICE),
        ("version", "0.0.0"),
        ("timeout", "1000"),
    ];
    let asked = greet(1).attached(&attached);
    assert_eq!(asked.bytes().len(), 16 + 197);
    peer.send(&asked.bytes()).await;
    let mut bytes = [0; 16 + 30];
    tokio::io::AsyncReadExt::read_exact(&mut peer.0, &mut bytes).await.unwrap();
    let expected = "dabb021400000000000000010000001e940e68656c6c6f20776f726c642078374805647562626f\
        05322e302e325a";
    assert_eq!(bytes[..], unhex(&expected.replace(' ', "")));
    let came = peer.call(&greet(2).attached(&[("want", "1")])).await;
    let expected = "940e68656c6c6f20776f726c6420783748077372762d6b6579077372762d76616c05647562626f\
        05322e302e325a";
    assert_eq!(came.body, unhex(&expected.replace(' ', "")));
}

#[tokio::test]
async fn nothing_and_null_are_the_same() {
    let (server, _hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    for (id, method) in [(1, "nothing"), (2, "null")] {
        assert_eq!(peer.call(&ask(id, method)).await.body, with_flag(0x95, b""));
        let old = Ask { protocol: None, ..ask(id, method) };
        assert_eq!(peer.call(&old).await.body, [0x92]);
    }
}

#[tokio::test]
async fn attachments_are_answered_only_to_peers_that_read_them() {
    let (server, _hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    for (protocol, attached) in [
        (Some("2.0.2"), true),
        (Some("2.0.10"), true),
        (Some("2.0.99"), true),
        (Some("2.0.2-SNAPSHOT"), true),
        (Some("2.0.1"), false),
        (Some("2.0.100"), false),
        (Some("2.7.0"), false),
        (Some("3.0.2"), false),
        (Some(""), false),
        (Some("x"), false),
        (None, false),
    ] {
        let came = peer.call(&Ask { protocol, ..greet(1) }).await;
        let thrown = peer.call(&Ask { protocol, ..ask(2, "throw") }).await;
        let flags = if attached { (0x94, 0x93) } else { (0x91, 0x90) };
        assert_eq!((came.body[0], thrown.body[0]), flags, "{protocol:?}");
        assert_eq!(came.body.ends_with(b"Z"), attached, "{protocol:?}");
    }
}

#[tokio::test]
async fn versions_of_services_may_be_missing() {
    let (server, _hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    for version in [None, Some(""), Some("0.0.0")] {
        assert_eq!(peer.call(&Ask { version, ..greet(1) }).await.status, 20, "{version:?}");
    }
    let mut without = greet(2);
    without.attachments.clear();
    let came = peer.call(&without).await;
    assert_eq!(came.status, 40);
    let text = came.text();
    assert!(text.starts_with("Fail to decode request due to: the attachments of com."), "{text}");
    assert!(text.contains("greet(Ljava/lang/String;I)"), "{text}");
    for more in [&b"HZ"[..], b"NN"] {
        let asked = Ask { attachments: more.to_vec(), ..greet(3) };
        assert_eq!(peer.call(&asked).await.status, 20);
    }
}

#[tokio::test]
async fn case_131_group_and_version_are_exact() {
    let key = || ServiceKey::new("a.S");
    let keys = [key().group("g1").version("1.0"), key().group("g2").version("1.0"), key()];
    let (server, _hold) = serve(|server| {
        keys.iter().fold(server, |server, key| server.service(key.clone(), greeter().0))
    })
    .await;
    let mut peer = connect(server.local_addr()).await;
    let of = |version: &'static str, group: &str| {
        let asked = Ask { path: "a.S", version: Some(version), ..ask(1, "service") };
        if group.is_empty() { asked } else { asked.attached(&[("group", group)]) }
    };
    for (version, group, found) in
        [("1.0", "g1", "g1/a.S:1.0"), ("1.0", "g2", "g2/a.S:1.0"), ("0.0.0", "", "a.S")]
    {
        let came = peer.call(&of(version, group)).await;
        let mut value = Writer::new();
        value.str(found);
        assert_eq!(came.body, with_flag(0x94, &value.into_bytes()));
    }
    for (asked, status, text) in [
        (
            of("1.0", "g"),
            70,
            "Not found exported service: g/a.S:1.0 in [a.S, g1/a.S:1.0, g2/a.S:1.0]",
        ),
        (of("2.0", "g1"), 40, "no such version"),
        (Ask { path: "a.T", ..greet(1) }, 40, "in [a.S, com.example.GreetService, g1/a.S:1.0"),
        (ask(1, "other"), 40, "has no method other"),
    ] {
        let came = peer.call(&asked).await;
        assert_eq!(came.status, status, "{}", came.text());
        assert!(came.text().contains(text), "{}", came.text());
    }
}

#[tokio::test]
async fn attachments_overrule_path_and_version() {
    let key = ServiceKey::new("a.S").version("2");
    let (server, _hold) = serve(|server| server.service(key, greeter().0)).await;
    let mut peer = connect(server.local_addr()).await;
    let asked = ask(1, "service").attached(&[("path", "ctx/a.S"), ("version", "2")]);
    assert_eq!(peer.call(&asked).await.body, with_flag(0x94, b"\x05a.S:2"));
    // The same beginning means another service without them.
    let came = peer.call(&ask(2, "service")).await;
    assert_eq!(came.body, with_flag(0x94, b"\x18com.example.GreetService"));
}

#[tokio::test]
async fn services_see_the_attachments_that_are_theirs() {
    let (server, _hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    let mut writer = Writer::new();
    writer.map(None);
    for (key, value) in [("path", SERVICE), ("async", "true"), ("timeout", "9000"), ("My", "é")] {
        writer.str(key);
        writer.str(value);
    }
    writer.str("n");
    writer.int(5);
    writer.str("t");
    writer.bool(true);
    writer.str("nothing");
    writer.null();
    writer.str("parts");
    writer.list(None, 1);
    writer.str("x");
    writer.str("b");
    writer.binary(b"xy");
    writer.end();
    let asked = Ask { attachments: writer.into_bytes(), ..ask(1, "attachments") };
    let came = peer.call(&asked).await;
    let mut value = Writer::new();
    value.str("My=é,n=5,t=true,b=b\"xy\"");
    assert_eq!(came.body, with_flag(0x94, &value.into_bytes()));
}

#[tokio::test]
async fn an_object_in_the_attachments_may_be_one_of_the_arguments() {
    let (server, _hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    let asked = Ask {
        arguments: b"C\x03a.P\x91\x01x`\x95".to_vec(),
        descriptor: "La/P;",
        attachments: b"H\x01rQ\x90\x01p`\x96\x01k\x01vZ".to_vec(),
        ..ask(1, "attachments")
    };
    assert_eq!(peer.call(&asked).await.body, with_flag(0x94, b"\x03k=v"));
}

#[tokio::test]
async fn errors_have_the_statuses_of_dubbo() {
    let (server, _hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    for (code, status) in [
        ("12", 40),
        ("3", 40),
        ("13", 80),
        ("14", 80),
        ("2", 70),
        ("5", 70),
        ("7", 70),
        ("8", 70),
        ("4", 70),
        ("0", 70),
    ] {
        let came = peer.call(&ask(1, "fail").text(code)).await;
        assert_eq!((came.status, came.text().as_str()), (status, "it failed"), "{code}");
    }
    let came = peer.call(&ask(2, "panic")).await;
    assert_eq!((came.status, came.text().as_str()), (80, "the handler panicked"));
    let came = peer.call(&ask(3, "throw")).await;
    assert_eq!(came.status, 20);
    let expected = b"\x93C\x03a.B\x90`H\x01k\x01v\x05dubbo\x052.0.2Z";
    assert_eq!(came.body, expected);
    // Nothing was harmed.
    assert_eq!(peer.call(&greet(4)).await.status, 20);
}

#[tokio::test]
async fn bodies_that_cannot_be_read_are_refused_and_the_next_is_served() {
    let (server, _hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    let good = greet(1).bytes();
    for cut in 16..good.len() {
        peer.send(&frame(0xC2, 0, 9, &good[16..cut])).await;
        let came = peer.next().await;
        assert_eq!((came.status, came.id), (40, 9), "cut at {cut}");
    }
    for body in [&b"\x90"[..], b"\xFF\xFF", b"HZ", b"\x052.0.2\x90"] {
        peer.send(&frame(0xC2, 0, 9, body)).await;
        assert_eq!(peer.next().await.status, 40);
    }
    peer.send(&frame(0x82, 0, 9, b"")).await;
    assert_eq!(peer.call(&greet(2)).await.status, 20);
}

#[tokio::test]
async fn other_serializations_are_refused_in_words() {
    let (server, _hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    for id in (0_u8..32).filter(|id| *id != 2) {
        peer.send(&frame(0xC0 | id, 0, 5, b"\x93\x00\x01")).await;
        let came = peer.next().await;
        // In hessian2, because every peer can read an error in that.
        assert_eq!((came.flags, came.status, came.id), (0x02, 40, 5));
        assert!(came.text().contains("prefer.serialization=hessian2"), "{}", came.text());
    }
    peer.send(&frame(0xC0 | 23, 0, 5, b"")).await;
    assert!(peer.next().await.text().contains("fastjson2 (23)"));
}

#[tokio::test]
async fn one_way_calls_run_and_are_not_answered() {
    let (server, mut hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    peer.send(&ask(1, "note").text("one").one_way().bytes()).await;
    peer.send(&ask(2, "panic").one_way().bytes()).await;
    peer.send(&ask(3, "unknown").one_way().bytes()).await;
    peer.send(&ask(4, "hold").one_way().bytes()).await;
    assert_eq!(hold.seen.recv().await, Some(Seen::Noted("one".into())));
    hold.started(1).await;
    hold.release();
    assert_eq!(peer.call(&greet(5)).await.status, 20);
}

#[tokio::test]
async fn echo_answers_what_it_was_given() {
    let (server, _hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    for value in [&b"\x02OK"[..], b"C\x03a.P\x91\x01x`\x95", b"y\x91"] {
        let asked = ask(1, "$echo").with("Ljava/lang/Object;", value);
        assert_eq!(peer.call(&asked).await.body, with_flag(0x94, value));
    }
    let null = ask(1, "$echo").with("Ljava/lang/Object;", b"N");
    assert_eq!(peer.call(&null).await.body, with_flag(0x95, b""));
}

#[tokio::test]
async fn generic_calls_reach_the_method_they_name() {
    let (server, _hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    let arguments = b"\x05greetr\x07[string\x10java.lang.String\x03intr\x07[object\x05world\x97";
    let descriptor = "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;";
    let asked = ask(1, "$invoke").with(descriptor, arguments).attached(&[("generic", "true")]);
    let came = peer.call(&asked).await;
    assert_eq!(came.status, 20, "{came:?}");
    assert_eq!(came.body, with_flag(0x94, b"\x0Ehello world x7"));
}

#[tokio::test]
async fn the_load_is_told_to_those_who_ask() {
    struct Fixed;
    impl equipoise_protocol::LoadSource for Fixed {
        fn load(&self) -> Option<f64> {
            Some(42.5)
        }
    }
    let (server, _hold) = serve(|server| server.load_source(std::sync::Arc::new(Fixed))).await;
    let mut peer = connect(server.local_addr()).await;
    for method in ["nothing", "throw"] {
        let came = peer.call(&ask(1, method).attached(&[("lb_adaptive", "mem,load")])).await;
        let text = String::from_utf8_lossy(&came.body).into_owned();
        assert!(text.contains("lb_adaptive") && text.contains(",load:42.5\x05dubbo"), "{text}");
        let came = peer.call(&ask(2, method)).await;
        assert!(!String::from_utf8_lossy(&came.body).contains("lb_adaptive"));
    }
}

#[tokio::test]
async fn tokens_are_asked_for() {
    let options = ServiceOptions::new().token("own");
    let (server, _hold) = serve(|server| {
        server.token("secret").service_with(ServiceKey::new("a.S"), greeter().0, options)
    })
    .await;
    let mut peer = connect(server.local_addr()).await;
    let own = |id| Ask { path: "a.S", ..greet(id) };
    assert_eq!(peer.call(&greet(1).attached(&[("token", "secret")])).await.status, 20);
    assert_eq!(peer.call(&own(2).attached(&[("token", "own")])).await.status, 20);
    for asked in
        [greet(3), greet(4).attached(&[("token", "")]), own(5).attached(&[("token", "secret")])]
    {
        let came = peer.call(&asked).await;
        let text = came.text();
        assert_eq!(came.status, 70);
        assert!(text.starts_with("org.apache.dubbo.rpc.RpcException: Invalid token!"), "{text}");
        assert!(!text.contains("secret") && !text.contains("own\""), "{text}");
    }
}
