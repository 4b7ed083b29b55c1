//! A peer made by hand: frames as bytes over a socket.

use std::net::SocketAddr;

use equipoise_hessian::{Reader, Text, Token, Writer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::service::SERVICE;

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    equipoise_hessian::unhex(text).unwrap()
}

/// A request in the making.
#[derive(Clone)]
pub(crate) struct Ask {
    pub(crate) id: u64,
    pub(crate) flags: u8,
    pub(crate) protocol: Option<&'static str>,
    pub(crate) path: &'static str,
    pub(crate) version: Option<&'static str>,
    pub(crate) method: &'static str,
    pub(crate) descriptor: &'static str,
    pub(crate) arguments: Vec<u8>,
    pub(crate) attachments: Vec<u8>,
}

pub(crate) fn ask(id: u64, method: &'static str) -> Ask {
    Ask {
        id,
        flags: 0xC2,
        protocol: Some("2.0.2"),
        path: SERVICE,
        version: Some("0.0.0"),
        method,
        descriptor: "",
        arguments: Vec::new(),
        attachments: b"N".to_vec(),
    }
}

/// `greet("world", 7)`.
pub(crate) fn greet(id: u64) -> Ask {
    ask(id, "greet").with("Ljava/lang/String;I", b"\x05world\x97")
}

impl Ask {
    pub(crate) fn with(mut self, descriptor: &'static str, arguments: &[u8]) -> Self {
        self.descriptor = descriptor;
        self.arguments = arguments.to_vec();
        self
    }

    /// With one string as argument.
    pub(crate) fn text(self, text: &str) -> Self {
        let mut writer = Writer::new();
        writer.str(text);
        self.with("Ljava/lang/String;", &writer.into_bytes())
    }

    pub(crate) fn attached(mut self, pairs: &[(&str, &str)]) -> Self {
        let mut writer = Writer::new();
        writer.map(None);
        for (key, value) in pairs {
            writer.str(key);
            writer.str(value);
        }
        writer.end();
        self.attachments = writer.into_bytes();
        self
    }

    pub(crate) fn one_way(mut self) -> Self {
        self.flags = 0x82;
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new();
        let put = |writer: &mut Writer, text: Option<&str>| match text {
            Some(text) => writer.str(text),
            None => writer.null(),
        };
        put(&mut writer, self.protocol);
        put(&mut writer, Some(self.path));
        put(&mut writer, self.version);
        put(&mut writer, Some(self.method));
        put(&mut writer, Some(self.descriptor));
        let mut body = writer.into_bytes();
        body.extend_from_slice(&self.arguments);
        body.extend_from_slice(&self.attachments);
        frame(self.flags, 0, self.id, &body)
    }
}

pub(crate) fn frame(flags: u8, status: u8, id: u64, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0xDA, 0xBB, flags, status];
    bytes.extend_from_slice(&id.to_be_bytes());
    bytes.extend_from_slice(&u32::try_from(body.len()).unwrap().to_be_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// A frame that came.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Came {
    pub(crate) flags: u8,
    pub(crate) status: u8,
    pub(crate) id: u64,
    pub(crate) body: Vec<u8>,
}

impl Came {
    /// The text of an error.
    pub(crate) fn text(&self) -> String {
        match Reader::new(&self.body).next() {
            Ok(Token::Str(Text::Str(text))) => text.into_owned(),
            other => panic!("{other:?} is no text"),
        }
    }
}

/// The peer.
pub(crate) struct Peer<S = TcpStream>(pub(crate) S);

pub(crate) async fn connect(address: SocketAddr) -> Peer {
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    Peer(stream)
}

impl<S: AsyncRead + AsyncWrite + Unpin> Peer<S> {
    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.unwrap();
        self.0.flush().await.unwrap();
    }

    pub(crate) async fn next(&mut self) -> Came {
        self.maybe_next().await.unwrap()
    }

    /// The next frame; `None` at the end of the connection.
    pub(crate) async fn maybe_next(&mut self) -> Option<Came> {
        let mut head = [0; 16];
        if self.0.read_exact(&mut head).await.is_err() {
            return None;
        }
        assert_eq!(head[..2], [0xDA, 0xBB]);
        let id = u64::from_be_bytes(head[4..12].try_into().unwrap());
        let len = u32::from_be_bytes(head[12..].try_into().unwrap());
        let mut body = vec![0; usize::try_from(len).unwrap()];
        self.0.read_exact(&mut body).await.unwrap();
        Some(Came { flags: head[2], status: head[3], id, body })
    }

    pub(crate) async fn call(&mut self, ask: &Ask) -> Came {
        self.send(&ask.bytes()).await;
        let came = self.next().await;
        assert_eq!((came.flags, came.id), (0x02, ask.id));
        came
    }

    /// Whether the other side closed the connection.
    pub(crate) async fn is_closed(&mut self) -> bool {
        self.maybe_next().await.is_none()
    }
}
