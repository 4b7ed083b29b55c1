//! Connections that live, fall silent, go away and break.

use super::*;

async fn lost(call: Call) -> Failure {
    let failure = call.await.unwrap().unwrap_err();
    assert_eq!(failure.kind, FailureKind::Network, "{failure}");
    failure
}

#[tokio::test]
async fn answers_come_in_any_order_and_reach_their_own_calls() {
    let (connection, mut peer) = connected();
    let calls: Vec<_> = (0..50).map(|_| send(&connection, greet())).collect();
    let mut ids = Vec::new();
    for _ in 0..50 {
        ids.push(peer.call().await);
    }
    for (i, id) in ids.iter().enumerate().rev() {
        let unknown = id ^ (1 << 62);
        peer.answer(unknown, status::OK, b"\x92").await;
        peer.answer(*id, status::OK, &[0x91, 0x90 + i as u8 % 40]).await;
        peer.answer(*id, status::OK, b"\x92").await;
    }
    for (i, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap().unwrap().body, [0x90 + i as u8 % 40].as_slice());
    }
    assert!(connection.is_available());
}

#[tokio::test]
async fn frames_split_at_every_byte_are_whole_again() {
    let (connection, mut peer) = connected();
    let calls = [send(&connection, greet()), send(&connection, greet())];
    for id in [peer.call().await, peer.call().await] {
        let body = [&[0x94, 0x97], DUBBO].concat();
        let frame = [&Header::response(id, status::OK, body.len()).encode(), &body[..]].concat();
        for byte in frame {
            peer.write(&[byte]).await;
            settle().await;
        }
    }
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap().body, [0x97].as_slice());
    }
}

#[tokio::test]
async fn withdrawn_calls_free_their_slots_and_late_answers_are_nobodys() {
    let (connection, mut peer) = connected();
    for round in 0..300 {
        let call = send(&connection, greet());
        let id = peer.call().await;
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
        assert_eq!(channel(&connection).pending.waiting(), 0, "round {round}");
        let next = send(&connection, greet());
        let next_id = peer.call().await;
        assert_ne!(id, next_id);
        peer.answer(id, status::OK, b"\x91\x04late").await;
        peer.ok(next_id).await;
        assert_eq!(next.await.unwrap().unwrap().body, [0x97].as_slice());
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_runs_out_of_time_leaves_nothing() {
    let (connection, mut peer) = connected();
    let call = tokio::time::timeout(Duration::from_secs(1), connection.send(greet()));
    assert!(call.await.is_err());
    assert_eq!(channel(&connection).pending.waiting(), 0);
    let id = peer.call().await;
    peer.ok(id).await;
    settle().await;
    assert!(connection.is_available());
}

#[tokio::test(start_paused = true)]
async fn case_169_calls_in_flight_end_when_the_connection_breaks() {
    let (connection, mut peer) = connected();
    let began = Instant::now();
    let calls: Vec<_> = (0..20).map(|_| send(&connection, greet())).collect();
    for _ in 0..20 {
        peer.call().await;
    }
    tokio::time::advance(Duration::from_millis(100)).await;
    drop(peer);
    for call in calls {
        let failure = lost(call).await;
        assert_eq!(failure.sent, Sent::Maybe);
        assert!(failure.retryable());
        assert!(failure.message.contains("status 35"), "{failure}");
        assert!(failure.message.contains("10.0.0.1:20880"), "{failure}");
    }
    assert_eq!(began.elapsed(), Duration::from_millis(100));
    assert!(!connection.is_available());
    connection.unavailable().await;
    let failure = connection.send(greet()).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Network, Sent::No));
}

#[tokio::test]
async fn case_156_what_never_left_the_process_may_be_moved() {
    let wire = 300;
    let (connection, mut peer) = connected_by(settings(&Dubbo::new(), ""), wire);
    let first = send(&connection, greet());
    peer.call().await;
    // The wire takes one frame and a piece of the next; all others stay in the queue.
    let calls: Vec<_> = (0..20).map(|_| send(&connection, greet())).collect();
    settle().await;
    drop(peer);
    assert_eq!(lost(first).await.sent, Sent::Maybe);
    let mut seen = Vec::new();
    for call in calls {
        seen.push(lost(call).await.sent);
    }
    assert_eq!(seen[..2], [Sent::Maybe, Sent::Maybe]);
    assert_eq!(seen[2..], [Sent::No; 18]);
}

#[tokio::test]
async fn a_connection_that_ends_within_a_frame_says_so() {
    let (connection, mut peer) = connected();
    let call = send(&connection, greet());
    let id = peer.call().await;
    peer.write(&Header::response(id, status::OK, 100).encode()).await;
    peer.write(b"half").await;
    drop(peer);
    assert!(lost(call).await.message.contains("in the middle of a frame"));
}

#[tokio::test]
async fn case_168_bytes_that_are_no_frame_end_the_connection_at_once() {
    let mut negative = Header::response(1, status::OK, 0).encode();
    negative[12] = 0xFF;
    for garbage in [&b"H"[..], b"HTTP/1.1 400", &[0xDA, 0xBC], &negative] {
        let (connection, mut peer) = connected();
        let call = send(&connection, greet());
        peer.call().await;
        peer.write(garbage).await;
        let failure = lost(call).await;
        assert!(failure.message.contains("does not speak dubbo"), "{failure}");
        assert!(peer.frame().await.is_none(), "closed");
        assert!(!connection.is_available());
    }
}

#[tokio::test(start_paused = true)]
async fn case_159_a_silent_peer_is_asked_and_then_given_up() {
    let (connection, mut peer) = connected();
    let began = Instant::now();
    let call = send(&connection, greet());
    peer.call().await;
    for minute in [60, 120] {
        let (header, body) = peer.frame().await.unwrap();
        assert_eq!(began.elapsed().as_secs(), minute);
        assert!(header.request && header.two_way && header.event);
        assert_eq!(body, b"N".as_slice());
        assert!(connection.is_available());
    }
    let failure = lost(call).await;
    assert_eq!(began.elapsed().as_secs(), 180);
    assert_eq!(failure.sent, Sent::Maybe);
    assert!(failure.message.contains("nothing came for 180s"), "{failure}");
    connection.unavailable().await;
}

#[tokio::test(start_paused = true)]
async fn heartbeats_keep_an_idle_connection_and_are_answered() {
    let (connection, mut peer) = connected_by(settings(&Dubbo::new(), "heartbeat=1000"), 4096);
    let began = Instant::now();
    for second in 1..=100 {
        let (header, _) = peer.frame().await.unwrap();
        assert_eq!(began.elapsed().as_secs(), second);
        peer.write(&events::heartbeat_answer(header.id)).await;
    }
    // What the peer sends keeps it from being given up, but it does not know yet that we live.
    peer.write(&events::heartbeat(77)).await;
    let (header, body) = peer.frame().await.unwrap();
    assert_eq!((header, &body[..]), (Header::response(77, 20, 1).event(), &b"N"[..]));
    // One that wants no answer gets none.
    peer.write(&Header::request(78, false, 0).event().encode()).await;
    let (header, _) = peer.frame().await.unwrap();
    assert!(header.request && header.event);
    assert!(connection.is_available());
}

#[tokio::test(start_paused = true)]
async fn traffic_in_both_directions_needs_no_heartbeat() {
    let (connection, mut peer) = connected_by(settings(&Dubbo::new(), "heartbeat=1000"), 4096);
    for _ in 0..50 {
        let call = send(&connection, greet());
        let id = peer.call().await;
        peer.ok(id).await;
        call.await.unwrap().unwrap();
        tokio::time::advance(Duration::from_millis(900)).await;
        settle().await;
    }
}

#[tokio::test(start_paused = true)]
async fn without_heartbeats_silence_is_no_reason() {
    let client = Dubbo::new().heartbeat(None);
    let (connection, mut peer) = connected_by(settings(&client, ""), 4096);
    tokio::time::advance(Duration::from_secs(86_400)).await;
    settle().await;
    assert!(connection.is_available());
    assert!(peer.frame().now_or_never().is_none());
}

#[tokio::test]
async fn read_only_takes_no_new_calls_and_lets_the_others_end() {
    let (connection, mut peer) = connected();
    let call = send(&connection, greet());
    let id = peer.call().await;
    peer.write(&events::read_only(9)).await;
    connection.unavailable().await;
    assert!(!connection.is_available());
    let refused = connection.send(greet()).await.unwrap_err();
    assert_eq!((refused.kind, refused.sent), (FailureKind::Network, Sent::No));
    assert!(refused.message.contains("read-only"), "{refused}");
    // Going back on it is a matter of a new connection.
    peer.write(&[&Header::request(10, false, 2).event().encode()[..], b"\x01W"].concat()).await;
    settle().await;
    assert!(!connection.is_available());
    assert!(peer.frame().now_or_never().is_none(), "a call is in flight");
    peer.ok(id).await;
    assert!(call.await.unwrap().is_ok());
    assert!(peer.frame().await.is_none(), "closed after the last one");
}

#[tokio::test]
async fn case_154_draining_lets_calls_in_flight_finish() {
    let (connection, mut peer) = connected();
    let calls: Vec<_> = (0..10).map(|_| send(&connection, greet())).collect();
    let mut ids = Vec::new();
    for _ in 0..10 {
        ids.push(peer.call().await);
    }
    connection.drain();
    connection.unavailable().await;
    assert_eq!(connection.send(greet()).await.unwrap_err().sent, Sent::No);
    for id in ids {
        settle().await;
        assert!(peer.frame().now_or_never().is_none(), "closed too early");
        peer.ok(id).await;
    }
    for call in calls {
        assert!(call.await.unwrap().is_ok());
    }
    assert!(peer.frame().await.is_none(), "closed when empty");
}

#[tokio::test]
async fn draining_an_idle_connection_closes_it_and_so_does_letting_go() {
    let (connection, mut peer) = connected();
    connection.drain();
    assert!(peer.frame().await.is_none());
    let (connection, mut peer) = connected();
    drop(connection);
    assert!(peer.frame().await.is_none());
    // The last call is withdrawn rather than answered.
    let (connection, mut peer) = connected();
    let call = send(&connection, greet());
    peer.call().await;
    connection.drain();
    call.abort();
    assert!(peer.frame().await.is_none());
}

#[tokio::test]
async fn what_is_queued_still_leaves_before_a_drained_connection_closes() {
    let (connection, mut peer) = connected_by(settings(&Dubbo::new(), ""), 10);
    let mut request = greet();
    request.one_way = true;
    for _ in 0..20 {
        connection.send(request.clone()).await.unwrap();
    }
    drop(connection);
    for _ in 0..20 {
        assert!(peer.frame().await.is_some());
    }
    assert!(peer.frame().await.is_none());
}

#[tokio::test]
async fn a_peer_that_does_not_read_makes_callers_wait_in_bounded_memory() {
    let (connection, mut peer) = connected_by(settings(&Dubbo::new(), ""), 1000);
    let argument = vec![b'N'; 100_000];
    let calls: Vec<_> =
        (0..40).map(|_| send(&connection, with_arguments(argument.clone()))).collect();
    settle().await;
    let outbox = &channel(&connection).outbox;
    assert!(outbox.try_room(argument.len()).unwrap().is_none());
    let queued = channel(&connection).pending.waiting();
    assert!(queued * argument.len() <= outgoing::CAPACITY, "{queued} frames are queued");
    // Those who wait can give up; those who stay are served in turn.
    calls[39].abort();
    settle().await;
    for _ in 0..39 {
        let id = peer.call().await;
        peer.ok(id).await;
    }
    for (i, call) in calls.into_iter().enumerate() {
        if i < 39 {
            assert!(call.await.unwrap().is_ok(), "{i}");
        } else {
            assert!(call.await.unwrap_err().is_cancelled());
        }
    }
    assert_eq!(channel(&connection).pending.waiting(), 0);
}

#[tokio::test]
async fn a_flood_of_tiny_frames_is_answered_in_bounded_memory() {
    let (connection, peer) = connected_by(settings(&Dubbo::new(), ""), 2048);
    let (mut read, mut write) = tokio::io::split(peer.stream);
    // More answers than the queue has room for, and nobody reads them.
    let frames = 3 * outgoing::CAPACITY / 64;
    for i in 0..frames as u64 {
        write.write_all(&events::heartbeat(i)).await.unwrap();
        write.write_all(&Header::response(i, status::OK, 0).encode()).await.unwrap();
    }
    settle().await;
    assert!(connection.is_available(), "the reader is not held up by the writer");
    drop(connection);
    let (mut frames, mut answers) = (Frames::new(100), 0);
    while frames.read(&mut read).await.unwrap() > 0 {
        while let Some(Incoming::Frame(header, _)) = frames.next().unwrap() {
            assert!(header.event && !header.request);
            answers += 1;
        }
    }
    assert!(answers <= outgoing::CAPACITY / 64 + 2048, "{answers} answers were kept");
}

#[tokio::test]
async fn a_provider_that_calls_back_is_refused() {
    let (connection, mut peer) = connected();
    peer.write(&[&Header::request(5, true, 1).encode()[..], b"N"].concat()).await;
    let (header, body) = peer.frame().await.unwrap();
    assert_eq!((header.request, header.status, header.id), (false, 60, 5));
    assert_eq!(body, text("a consumer provides no service"));
    // Without the wish for an answer, or over the limit.
    peer.write(&[&Header::request(6, false, 1).encode()[..], b"N"].concat()).await;
    peer.write(&Header::request(7, true, 9_000_000).encode()).await;
    let (header, _) = peer.frame().await.unwrap();
    assert_eq!((header.status, header.id), (60, 7));
    assert!(connection.is_available());
}

#[tokio::test]
async fn calls_end_with_the_task_that_serves_them() {
    let (near, far) = tokio::io::duplex(1000);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let settings = Settings { heartbeat: None, ..settings(&Dubbo::new(), "") };
    let shared = Arc::new(Shared::default());
    let channel = {
        let _inside = runtime.enter();
        connect::start(near, "10.0.0.1:20880", &shared, &settings)
    };
    let connection = Arc::new(DubboConnection::new(vec![channel], shared, settings));
    let mut peer = Peer { stream: far, frames: Frames::new(1000) };
    let call = send(&connection, greet());
    peer.call().await;
    runtime.shutdown_background();
    lost(call).await;
    assert!(!connection.is_available());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_tasks_share_a_connection() {
    let (connection, mut peer) = connected();
    let echo = tokio::spawn(async move {
        let mut count = 0;
        while let Some((header, body)) = peer.frame().await {
            // The first argument comes back.
            let head = b"\x05greet\x13Ljava/lang/String;I";
            let at = body.windows(head.len()).position(|w| w == head).unwrap() + head.len();
            let answer = [&[0x91, b'I'], &body[at + 1..at + 5]].concat();
            peer.answer(header.id, status::OK, &answer).await;
            count += 1;
        }
        count
    });
    let tasks: Vec<_> = (0..64_u32)
        .map(|task| {
            let connection = connection.clone();
            tokio::spawn(async move {
                for i in 0..200 {
                    let argument = [&b"I"[..], &(task * 1000 + i).to_be_bytes()].concat();
                    let reply = connection.send(with_arguments(argument.clone())).await.unwrap();
                    assert_eq!(reply.body, argument);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    drop(connection);
    assert_eq!(echo.await.unwrap(), 64 * 200);
}
