//! The same bytes without any protocol: what the system and the runtime charge for the exchange.

use std::net::SocketAddr;
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::SIZE;
use super::load::{Echo, Future};
use crate::alloc;

/// An echo of blocks.
pub(super) struct Bare(SocketAddr);

impl Bare {
    pub(super) async fn serve() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream));
            }
        });
        Self(address)
    }
}

async fn answer(mut stream: TcpStream) {
    let mut block = [0; SIZE];
    let _ = stream.set_nodelay(true);
    while stream.read_exact(&mut block).await.is_ok() && stream.write_all(&block).await.is_ok() {
        alloc::tell();
    }
}

impl Echo for Bare {
    fn caller(&self, end: Instant) -> Future<Vec<f64>> {
        let address = self.0;
        Box::pin(async move {
            let mut stream = TcpStream::connect(address).await.expect("a connection");
            stream.set_nodelay(true).expect("an open socket");
            let mut block = [7; SIZE];
            let mut nanos = Vec::with_capacity(1 << 16);
            let mut before = Instant::now();
            while before < end {
                stream.write_all(&block).await.expect("an open socket");
                stream.read_exact(&mut block).await.expect("an answer");
                alloc::tell();
                let after = Instant::now();
                nanos.push((after - before).as_nanos() as f64);
                before = after;
            }
            nanos
        })
    }
}
