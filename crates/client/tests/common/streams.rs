//! Streams of the network in memory: a provider sends every message back, and ends when its caller
//! does; what is scripted otherwise is how it takes the opening and the first look at its answer.

use bytes::Bytes;
use equipoise_core::attachments::Attachments;
use equipoise_core::outcome::Failure;
use equipoise_core::port::{Body, BoxFuture};
use equipoise_core::stream::{Duplex, Incoming, Outgoing};
use tokio::sync::mpsc;

/// An open stream. `fails` is what the first look at the answer gets.
pub(super) fn echo(held: impl Send + 'static, fails: Option<Failure>) -> Duplex {
    let (queue, answers) = mpsc::channel(1);
    Duplex {
        outgoing: Box::new(Out(Some(queue))),
        incoming: Box::new(In { answers, fails, _held: held, attachments: Attachments::new() }),
    }
}

struct Out(Option<mpsc::Sender<Bytes>>);

impl Outgoing for Out {
    fn send<'a>(&'a mut self, message: Body) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let (Body::Protobuf(bytes), Some(queue)) = (message, &self.0) else {
                panic!("no such message can be sent here");
            };
            queue.send(bytes).await.unwrap();
            Ok(())
        })
    }

    fn finish(&mut self) -> Result<(), Failure> {
        self.0 = None;
        Ok(())
    }
}

struct In<H> {
    answers: mpsc::Receiver<Bytes>,
    fails: Option<Failure>,
    _held: H,
    attachments: Attachments,
}

impl<H: Send + 'static> Incoming for In<H> {
    fn next<'a>(&'a mut self) -> BoxFuture<'a, Result<Option<Bytes>, Failure>> {
        Box::pin(async move {
            match self.fails.take() {
                Some(failure) => Err(failure),
                None => Ok(self.answers.recv().await),
            }
        })
    }

    fn begun<'a>(&'a mut self) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async { Ok(()) })
    }

    fn attachments(&self) -> &Attachments {
        &self.attachments
    }
}
