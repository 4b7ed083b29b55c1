//! What a peer cannot do to a provider.

use std::time::Duration;

use equipoise_core::service::ServiceKey;
use equipoise_hessian::Writer;
use equipoise_protocol::ServiceOptions;
use tokio::io::AsyncWriteExt;

use crate::service::{Seen, greeter, serve};
use crate::wire::{Ask, ask, connect, frame, greet};

fn large(id: u64, size: i32) -> Ask {
    let mut writer = Writer::new();
    writer.int(size);
    ask(id, "large").with("I", &writer.into_bytes())
}

#[tokio::test]
async fn case_167_a_request_over_the_limit_is_refused_and_skipped() {
    let (server, _hold) = serve(|server| server.max_message_bytes(1000)).await;
    let mut peer = connect(server.local_addr()).await;
    peer.send(&frame(0xC2, 0, 7, &vec![0; 100_000])).await;
    peer.send(&frame(0x82, 0, 8, &vec![0; 1001])).await;
    let came = peer.next().await;
    assert_eq!((came.status, came.id), (40, 7));
    let text = came.text();
    assert!(text.contains("100000") && text.contains("1000 bytes"), "{text}");
    assert_eq!(peer.call(&greet(9)).await.status, 20);
}

#[tokio::test]
async fn a_response_over_the_limit_is_an_error() {
    let (server, _hold) = serve(|server| server.max_message_bytes(1000)).await;
    let mut peer = connect(server.local_addr()).await;
    let came = peer.call(&large(1, 2000)).await;
    assert_eq!(came.status, 25);
    let text = came.text();
    assert!(
        text.starts_with("Data length too large: 2018, max payload: 1000, channel: "),
        "{text}"
    );
    assert_eq!(peer.call(&large(2, 900)).await.status, 20);
}

#[tokio::test]
async fn case_168_lengths_that_are_none_end_the_connection_and_no_other() {
    let (server, _hold) = serve(|server| server).await;
    let mut other = connect(server.local_addr()).await;
    for len in [[0xFF; 4], [0x80, 0, 0, 0]] {
        let mut peer = connect(server.local_addr()).await;
        let head = [&[0xDA, 0xBB, 0xC2, 0][..], &[0xFF; 8], &len].concat();
        peer.send(&head).await;
        assert!(peer.is_closed().await);
        assert_eq!(other.call(&greet(1)).await.status, 20);
    }
    // The largest is a frame over the limit: refused while it is still to come.
    let mut peer = connect(server.local_addr()).await;
    peer.send(&[&[0xDA, 0xBB, 0xC2, 0][..], &[0xFF; 8], &[0x7F, 0xFF, 0xFF, 0xFF]].concat()).await;
    assert_eq!(peer.next().await.status, 40);
}

#[tokio::test]
async fn garbage_ends_the_connection_at_once() {
    let (server, _hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    assert_eq!(peer.call(&greet(1)).await.status, 20);
    peer.send(b"status\r\n").await;
    assert!(peer.is_closed().await);
}

#[tokio::test]
async fn frames_may_come_byte_by_byte() {
    let (server, _hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    for byte in greet(1).bytes() {
        peer.send(&[byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(peer.next().await.status, 20);
    let bytes: Vec<u8> = (0..500).flat_map(|id| greet(id).bytes()).collect();
    peer.send(&bytes).await;
    let mut ids = Vec::new();
    for _ in 0..500 {
        ids.push(peer.next().await.id);
    }
    // A call that took long makes others run beside it.
    ids.sort_unstable();
    assert_eq!(ids, (0..500).collect::<Vec<_>>());
}

#[tokio::test]
async fn answers_come_in_the_order_they_are_ready() {
    let (server, mut hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    for id in 1..=20 {
        peer.send(&ask(id, "hold").bytes()).await;
    }
    hold.started(20).await;
    assert_eq!(peer.call(&greet(100)).await.status, 20);
    hold.release();
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(peer.next().await.id);
    }
    ids.sort_unstable();
    assert_eq!(ids, (1..=20).collect::<Vec<_>>());
}

#[tokio::test]
async fn no_more_is_read_while_too_many_calls_run() {
    let (server, mut hold) = serve(|server| server.max_concurrent_streams(2)).await;
    let mut peer = connect(server.local_addr()).await;
    let mut bytes: Vec<u8> = (1..=2).flat_map(|id| ask(id, "hold").bytes()).collect();
    bytes.extend(ask(3, "note").text("third").bytes());
    peer.send(&bytes).await;
    hold.started(2).await;
    // Another connection is served meanwhile, and what it asks is seen first.
    let mut other = connect(server.local_addr()).await;
    assert_eq!(other.call(&ask(1, "note").text("other")).await.status, 20);
    assert_eq!(hold.seen.recv().await, Some(Seen::Noted("other".into())));
    hold.release();
    assert_eq!(hold.seen.recv().await, Some(Seen::Noted("third".into())));
    for _ in 0..3 {
        assert_eq!(peer.next().await.status, 20);
    }
}

#[tokio::test]
async fn calls_over_the_limits_do_not_run() {
    let options = ServiceOptions::new().executes(1).method_executes("holdOther", 2);
    let key = ServiceKey::new("a.S");
    let (limited, mut hold) = greeter();
    let (server, _hold) = serve(|server| server.service_with(key, limited, options)).await;
    let mut peer = connect(server.local_addr()).await;
    let of = |id, method| Ask { path: "a.S", ..ask(id, method) };
    for (id, method) in [(1, "hold"), (2, "holdOther"), (3, "holdOther")] {
        peer.send(&of(id, method).bytes()).await;
    }
    hold.started(3).await;
    for (id, method, most) in [(4, "hold", "1"), (5, "holdOther", "2")] {
        let came = peer.call(&of(id, method)).await;
        assert_eq!(came.status, 100);
        assert!(came.text().contains(&format!("{most} calls of the method")), "{}", came.text());
    }
    hold.release();
    for _ in 0..3 {
        assert_eq!(peer.next().await.status, 20);
    }
    assert_eq!(peer.call(&of(6, "hold")).await.status, 20);
}

#[tokio::test]
async fn the_whole_server_has_a_limit_too() {
    let (server, mut hold) = serve(|server| server.max_calls(Some(1))).await;
    let mut peer = connect(server.local_addr()).await;
    peer.send(&ask(1, "hold").bytes()).await;
    hold.started(1).await;
    let came = peer.call(&greet(2)).await;
    assert_eq!(came.status, 100);
    assert!(came.text().contains("max_calls"), "{}", came.text());
    hold.release();
    assert_eq!(peer.next().await.status, 20);
}

#[tokio::test]
async fn case_186_a_call_ends_with_its_deadline() {
    let (server, mut hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    let came = peer.call(&ask(1, "never").attached(&[("timeout", "1")])).await;
    assert_eq!((came.status, came.text().as_str()), (31, "the deadline is over"));
    hold.started(1).await;
    assert_eq!(hold.seen.recv().await, Some(Seen::Dropped));
    // The rest of a budget is less than the timeout.
    let both = ask(2, "never").attached(&[("timeout", "1000000"), ("_TO", "1")]);
    assert_eq!(peer.call(&both).await.status, 31);
    // Java sends the rest as a number.
    let number = Ask { attachments: b"H\x03_TO\x91Z".to_vec(), ..ask(3, "never") };
    assert_eq!(peer.call(&number).await.status, 31);
}

#[tokio::test]
async fn case_188_a_call_whose_time_is_up_does_not_run() {
    let (server, mut hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    for left in ["0", "-200"] {
        let came = peer.call(&ask(1, "note").text("late").attached(&[("_TO", left)])).await;
        assert_eq!(came.status, 31, "{left}");
    }
    assert_eq!(peer.call(&ask(2, "note").text("next")).await.status, 20);
    assert_eq!(hold.seen.recv().await, Some(Seen::Noted("next".into())));
    for (attached, expected) in [
        (&[][..], &b"\x05false"[..]),
        (&[("timeout", "0")], b"\x05false"),
        (&[("timeout", "x")], b"\x05false"),
        (&[("timeout", "60000")], b"\x04true"),
        (&[("_TO", "60000")], b"\x04true"),
    ] {
        let came = peer.call(&ask(3, "deadline").attached(attached)).await;
        assert!(came.body[1..].starts_with(expected), "{attached:?}");
    }
}

#[tokio::test]
async fn case_169_a_lost_connection_drops_what_it_waited_for() {
    let (server, mut hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    for id in 0..20 {
        peer.send(&ask(id, "never").bytes()).await;
    }
    hold.started(20).await;
    socket2::SockRef::from(&peer.0).set_linger(Some(Duration::ZERO)).unwrap();
    drop(peer);
    for _ in 0..20 {
        assert_eq!(hold.seen.recv().await, Some(Seen::Dropped));
    }
}

#[tokio::test]
async fn what_was_sent_one_way_is_done_though_the_sender_is_gone() {
    let (server, mut hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    let asked = ask(1, "hold").one_way().attached(&[("timeout", "1")]);
    peer.send(&asked.bytes()).await;
    peer.send(&ask(2, "never").bytes()).await;
    hold.started(2).await;
    peer.0.shutdown().await.unwrap();
    assert!(peer.is_closed().await);
    assert_eq!(hold.seen.recv().await, Some(Seen::Dropped));
    let ending = tokio::spawn(server.shutdown(Duration::from_secs(60)));
    tokio::task::yield_now().await;
    assert!(!ending.is_finished());
    hold.release();
    assert!(ending.await.unwrap());
    assert!(hold.seen.try_recv().is_err());
}

#[tokio::test]
async fn answers_that_were_ready_reach_a_peer_that_only_stopped_sending() {
    let (server, _hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    peer.send(&large(1, 4_000_000).bytes()).await;
    // The first bytes say that it was ready; there is more of it than any socket holds.
    peer.0.readable().await.unwrap();
    peer.0.shutdown().await.unwrap();
    assert_eq!(peer.next().await.id, 1);
    assert!(peer.is_closed().await);
}
