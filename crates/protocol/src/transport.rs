//! Opens TCP connections with the settings that a multiplexed, long-lived connection wants.

use std::io;
use std::time::Duration;

use equipoise_core::url::Url;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;

/// After this long without traffic the system starts to probe the peer.
const PROBE_AFTER: Duration = Duration::from_secs(30);
/// Time between probes.
const PROBE_EVERY: Duration = Duration::from_secs(10);
/// How long sent data may stay unacknowledged before the connection counts as lost.
#[cfg(target_os = "linux")]
const UNACKNOWLEDGED: Duration = Duration::from_secs(20);

/// Connects to the host of `target`, trying its addresses in turn.
pub(crate) async fn tcp(target: &Url, port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect((target.host.as_str(), port)).await?;
    stream.set_nodelay(true)?;
    if let Err(error) = probe(&stream) {
        tracing::debug!(address = %target.address(), %error, "no TCP keep-alive");
    }
    Ok(stream)
}

/// The port of `target`, or `default` if it names none.
pub(crate) fn port(target: &Url, default: u16) -> u16 {
    if target.port == 0 { default } else { target.port }
}

/// `host:port` of `target`, with `default` for a port that it does not name.
pub(crate) fn address(target: &Url, default: u16) -> String {
    if target.port == 0 { format!("{}:{default}", target.address()) } else { target.address() }
}

/// Lets the system notice a peer that is gone without a word: cable, machine, NAT entry.
fn probe(stream: &TcpStream) -> io::Result<()> {
    let socket = SockRef::from(stream);
    let probes = TcpKeepalive::new().with_time(PROBE_AFTER).with_interval(PROBE_EVERY);
    socket.set_tcp_keepalive(&probes)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED))?;
    Ok(())
}
