//! The provider of `dubbo` against bare sockets: bytes in, bytes out.
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

mod answers;
mod events;
mod life;
mod limits;
mod ports;
mod service;
mod wire;
