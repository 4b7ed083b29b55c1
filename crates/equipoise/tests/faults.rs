//! What a network and a peer may do to a call over `dubbo`: every call ends with its own answer or
//! with a typed error, and the next one works. A proxy on loopback plays the network.
#![cfg(feature = "dubbo")]
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use equipoise::java::Fault;
use equipoise::protocol::{RunningServer, Server};
use equipoise::{FailureKind, Sent};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[equipoise::interface(java = "com.acme.Echo")]
trait Echo {
    async fn echo(&self, text: String) -> Result<String, Fault>;
}

struct Same;

impl Echo for Same {
    async fn echo(&self, text: String) -> Result<String, Fault> {
        Ok(text)
    }
}

async fn provider() -> RunningServer {
    let service = EchoProvider::new(Same);
    let server = Server::builder().service(EchoProvider::<Same>::key(), service);
    server.bind("127.0.0.1:0").await.unwrap()
}

fn client(address: SocketAddr) -> EchoClient {
    let builder = EchoClient::builder()
        .endpoints([format!("dubbo://{address}")])
        .timeout(Duration::from_secs(20))
        .retries(0);
    EchoClient::new(builder.build().unwrap())
}

fn failure<E: std::fmt::Debug>(fault: Fault<E>) -> equipoise::Failure {
    match fault {
        Fault::Call(error) => error.failure,
        other => panic!("{other:?}"),
    }
}

/// What the network does to one connection.
#[derive(Clone, Copy, Debug)]
enum Weather {
    /// Everything passes, a byte at a time.
    Crumbs,
    /// The connection breaks after so many bytes of the answer.
    Breaks(usize),
    /// Nothing comes back.
    Silence,
}

/// Passes connections on to `to`, the first one in the first weather and so on; the last one stays.
async fn proxy(to: SocketAddr, weather: &'static [Weather]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut count = 0;
        while let Ok((ours, _)) = listener.accept().await {
            let now = weather[count.min(weather.len() - 1)];
            count += 1;
            tokio::spawn(pass(ours, to, now));
        }
    });
    address
}

async fn pass(ours: TcpStream, to: SocketAddr, weather: Weather) {
    let theirs = TcpStream::connect(to).await.unwrap();
    for stream in [&ours, &theirs] {
        stream.set_nodelay(true).unwrap();
    }
    let ((mut from_us, mut to_us), (mut from_them, mut to_them)) =
        (ours.into_split(), theirs.into_split());
    let there = tokio::spawn(async move {
        while let Ok(byte) = from_us.read_u8().await {
            if to_them.write_u8(byte).await.is_err() {
                break;
            }
        }
    });
    let mut passed = 0;
    while let Ok(byte) = from_them.read_u8().await {
        match weather {
            Weather::Silence => continue,
            Weather::Breaks(after) if passed == after => break,
            _ => {}
        }
        passed += 1;
        if to_us.write_u8(byte).await.is_err() {
            break;
        }
    }
    there.abort();
}

#[tokio::test]
async fn frames_that_come_byte_by_byte_are_whole() {
    let provider = provider().await;
    let echo = client(proxy(provider.local_addr(), &[Weather::Crumbs]).await);
    for text in ["", "a", "世界 😀"] {
        assert_eq!(echo.echo(text.into()).await.unwrap(), text);
    }
}

#[tokio::test]
async fn a_connection_that_breaks_within_a_frame_fails_its_call_and_no_other() {
    // Within the header of the answer, at its end, and within its body.
    for bytes in [1, 15, 16, 18] {
        let provider = provider().await;
        let weather: &'static [Weather] = Vec::leak(vec![Weather::Breaks(bytes), Weather::Crumbs]);
        let echo = client(proxy(provider.local_addr(), weather).await);
        let failure = failure(echo.echo("lost".into()).await.unwrap_err());
        assert_eq!((failure.kind, failure.sent), (FailureKind::Network, Sent::Maybe), "{bytes}");
        assert_eq!(echo.echo("next".into()).await.unwrap(), "next", "{bytes}");
    }
}

#[tokio::test]
async fn a_half_open_connection_costs_a_call_its_own_time() {
    let provider = provider().await;
    let echo = client(proxy(provider.local_addr(), &[Weather::Silence]).await);
    let call = echo.echo("x".into()).with(|call| call.timeout(Duration::from_millis(200)));
    let failure = failure(call.await.unwrap_err());
    assert_eq!((failure.kind, failure.sent), (FailureKind::Timeout, Sent::Maybe));
}

/// A peer that answers every request with the frames that `answer` makes of its header.
async fn peer(answer: fn([u8; 16]) -> Vec<u8>) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let seen = asked.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let seen = seen.clone();
            tokio::spawn(async move {
                let mut header = [0; 16];
                while stream.read_exact(&mut header).await.is_ok() {
                    let [.., l0, l1, l2, l3] = header;
                    let length = u32::from_be_bytes([l0, l1, l2, l3]) as usize;
                    let mut body = vec![0; length];
                    stream.read_exact(&mut body).await.unwrap();
                    // Requests only: answers to our own events are none of this.
                    if header[2] & 0xA0 == 0x80 {
                        seen.fetch_add(1, Ordering::SeqCst);
                        if stream.write_all(&answer(header)).await.is_err() {
                            return;
                        }
                    }
                }
            });
        }
    });
    (address, asked)
}

/// An answer `"ok"` to the request with this header, its number moved by `off`.
fn answer(header: [u8; 16], off: u64) -> Vec<u8> {
    let id: [u8; 8] = header[4..12].try_into().unwrap();
    let id = u64::from_be_bytes(id).wrapping_add(off);
    let mut frame = vec![0xDA, 0xBB, 0x02, 20];
    frame.extend(id.to_be_bytes());
    frame.extend([0, 0, 0, 4, 0x91, 2, b'o', b'k']);
    frame
}

#[tokio::test]
async fn an_answer_with_another_number_is_nobodys() {
    let (address, asked) = peer(|header| answer(header, 1)).await;
    let echo = client(address);
    let call = echo.echo("x".into()).with(|call| call.timeout(Duration::from_millis(200)));
    assert_eq!(failure(call.await.unwrap_err()).kind, FailureKind::Timeout);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_flood_of_tiny_frames_hides_no_answer() {
    let (address, _) = peer(|header| {
        let heartbeat = [0xDA, 0xBB, 0xA2, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1, b'N'];
        let mut frames = heartbeat.repeat(50_000);
        frames.extend(answer(header, u64::MAX));
        frames.extend(answer(header, 0));
        frames
    })
    .await;
    let echo = client(address);
    for _ in 0..3 {
        assert_eq!(echo.echo("x".into()).await.unwrap(), "ok");
    }
}

#[tokio::test]
async fn bytes_that_are_no_frame_end_the_connection() {
    let (address, _) = peer(|_| b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()).await;
    let failure = failure(client(address).echo("x".into()).await.unwrap_err());
    assert_eq!((failure.kind, failure.sent), (FailureKind::Network, Sent::Maybe));
}
