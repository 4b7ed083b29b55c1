//! One accepted connection: TLS, the protocol that its first bytes tell, and its end.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

use crate::dubbo;
use crate::server::Shared;
use crate::server::lifecycle::{Conn, Guest, Phase};
use crate::server::preface::{Preface, detect};
use crate::tri::server::dispatch;

/// What one stream, and all of a connection's together, may have in flight unread.
const STREAM_WINDOW: u32 = 1024 * 1024;
const CONNECTION_WINDOW: u32 = 4 * 1024 * 1024;

/// Frames up to this size are taken, so that a middling message comes in one and is not copied.
const FRAME: u32 = 64 * 1024;

/// The smallest read buffer that hyper allows for HTTP/1.1.
const HTTP1_BUFFER: usize = 8 * 1024;

/// Serves a connection to its end.
pub(crate) async fn serve(shared: Arc<Shared>, guest: Guest, stream: TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection keeps its delay");
    }
    #[cfg(feature = "tls")]
    if let Some(tls) = &shared.tls {
        let accepted = tokio::time::timeout(shared.limits.handshake, tls.accept(stream));
        let accepted = tokio::select! {
            accepted = accepted => accepted,
            () = guest.lifecycle.reached(Phase::Draining) => return,
        };
        match accepted {
            Ok(Ok(stream)) => speak(&shared, &guest, stream).await,
            Ok(Err(error)) => tracing::debug!(peer = %guest.conn.peer(), %error, "no TLS"),
            Err(_) => tracing::debug!(peer = %guest.conn.peer(), "no TLS in time"),
        }
        return;
    }
    speak(&shared, &guest, stream).await;
}

async fn speak<T>(shared: &Arc<Shared>, guest: &Guest, stream: T)
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let first = detect(stream);
    let first = tokio::select! {
        first = tokio::time::timeout(shared.limits.handshake, first) => first,
        () = guest.lifecycle.reached(Phase::Draining) => return,
    };
    match first {
        Ok(Ok((Preface::Dubbo, stream))) if shared.dubbo => {
            let (stream, read) = stream.into_parts();
            dubbo::server::serve(shared, guest, stream, &read).await;
        }
        Ok(Ok((Preface::Dubbo, _))) => {
            tracing::debug!(peer = %guest.conn.peer(), "dubbo is not spoken here");
        }
        Ok(Ok((Preface::Http2, stream))) => speak_http2(shared, guest, stream).await,
        Ok(Ok((Preface::Other, stream))) => speak_http1(shared, guest, stream).await,
        Ok(Err(error)) => tracing::debug!(peer = %guest.conn.peer(), %error, "no first bytes"),
        Err(_) => tracing::debug!(peer = %guest.conn.peer(), "no first bytes in time"),
    }
}

async fn speak_http2<T>(shared: &Arc<Shared>, guest: &Guest, stream: T)
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let limits = &shared.limits;
    let mut http = http2::Builder::new(TokioExecutor::new());
    http.timer(TokioTimer::new())
        .auto_date_header(false)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_frame_size(FRAME)
        .max_concurrent_streams(limits.max_streams)
        // Callers that withdraw many calls at once are in trouble, not hostile; closing their
        // connection would fail all the others.
        .max_pending_accept_reset_streams(usize::try_from(limits.max_streams).ok())
        .max_header_list_size(limits.max_headers)
        .keep_alive_interval(limits.keep_alive_interval)
        .keep_alive_timeout(limits.keep_alive_timeout);
    let (all, conn) = (shared.clone(), guest.conn.clone());
    let service = service_fn(move |request| {
        let answer = dispatch::serve(all.clone(), conn.clone(), request);
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let connection = http.serve_connection(TokioIo::new(stream), service);
    until_over(guest, limits.idle, connection, http2::Connection::graceful_shutdown).await;
}

async fn speak_http1<T>(shared: &Arc<Shared>, guest: &Guest, stream: T)
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let limits = &shared.limits;
    let buffer = usize::try_from(limits.max_headers).unwrap_or(usize::MAX).max(HTTP1_BUFFER);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.handshake).max_buf_size(buffer);
    let (all, conn) = (shared.clone(), guest.conn.clone());
    let service = service_fn(move |request| {
        let answer = dispatch::serve(all.clone(), conn.clone(), request);
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let connection = http.serve_connection(TokioIo::new(stream), service);
    until_over(guest, limits.idle, connection, http1::Connection::graceful_shutdown).await;
}

/// Drives a connection until it ends, telling it when the server does or when it is idle.
async fn until_over<C>(guest: &Guest, idle: Option<Duration>, connection: C, end: fn(Pin<&mut C>))
where
    C: Future<Output = Result<(), hyper::Error>>,
{
    let mut connection = pin!(connection);
    let mut idle = idle.map(|limit| Idle::new(limit, &guest.conn));
    let mut ending = false;
    let ended = std::future::poll_fn(|cx| {
        guest.conn.task.register(cx.waker());
        let phase = guest.lifecycle.phase();
        if phase == Phase::Closed {
            return Poll::Ready(Ok(()));
        }
        let mut over = || idle.as_mut().is_some_and(|idle| idle.over(&guest.conn, cx));
        if !ending && (phase == Phase::Draining || over()) {
            ending = true;
            end(connection.as_mut());
        }
        connection.as_mut().poll(cx)
    });
    if let Err(error) = ended.await {
        tracing::debug!(peer = %guest.conn.peer(), %error, "a connection broke");
    }
}

/// Looks every `limit` whether there was a call since the last look.
struct Idle {
    limit: Duration,
    timer: Pin<Box<Sleep>>,
    seen: u64,
}

impl Idle {
    fn new(limit: Duration, conn: &Conn) -> Self {
        Self { limit, timer: Box::pin(tokio::time::sleep(limit)), seen: conn.activity().0 }
    }

    fn over(&mut self, conn: &Conn, cx: &mut std::task::Context<'_>) -> bool {
        while self.timer.as_mut().poll(cx).is_ready() {
            let (calls, busy) = conn.activity();
            if calls == self.seen && !busy {
                return true;
            }
            self.seen = calls;
            self.timer.as_mut().reset(Instant::now() + self.limit);
        }
        false
    }
}
