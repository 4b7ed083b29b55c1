//! Opening a stream at one endpoint: chosen and counted in like an attempt, and counted for as long as
//! the stream lives.

use std::sync::Arc;
use std::time::Duration;

use equipoise_core::candidates::Candidate;
use equipoise_core::endpoint::Endpoint;
use equipoise_core::outcome::{Failure, FailureKind};
use equipoise_core::port::Body;
use equipoise_core::stream::{Duplex, StreamRequest};
use tokio::time::Instant;

use super::{Chosen, Flow};
use crate::admit::{Admitted, Held};
use crate::intercept::no_link;
use crate::link::EndpointLink;

/// A stream that is open at somebody.
pub(crate) struct Opened {
    pub(crate) duplex: Duplex,
    pub(crate) held: Held,
    pub(crate) since: Instant,
}

impl Flow {
    /// Opens a stream at whoever was chosen. A `first` message is sent with it, as the only one.
    pub(crate) async fn open(
        &self,
        chosen: &Chosen,
        request: &StreamRequest,
        first: Option<&Body>,
    ) -> Result<Opened, Failure> {
        let Some(candidate) = chosen.candidate() else {
            return Err(Failure::not_sent(FailureKind::NoProvider, "nobody was chosen"));
        };
        let started = Instant::now();
        let time = self.timeout.unwrap_or_else(|| candidate.timeout());
        let time = self.time_left().map_or(time, |left| left.min(time));
        let result = self.open_within(candidate, time, request, first).await;
        if let Err(failure) = &result {
            let address = candidate.endpoint().address();
            tracing::debug!(address, %failure, "a stream was not opened");
            self.note(address, started.elapsed(), failure);
        }
        result
    }

    async fn open_within(
        &self,
        candidate: &Candidate,
        time: Duration,
        request: &StreamRequest,
        first: Option<&Body>,
    ) -> Result<Opened, Failure> {
        let since = Instant::now();
        let clock = &*self.shared.clock;
        let until = since.checked_add(time);
        let held = Admitted::wait(candidate, until, clock).await?.hold();
        let mut request = request.clone();
        request.timeout = self.time_left();
        for (key, value) in self.plan.strategy.about().asks {
            request.attachments.set(*key, *value);
        }
        let left = time.saturating_sub(since.elapsed());
        let opening = begin(candidate.endpoint(), request, first);
        let opened = tokio::time::timeout(left, opening).await.unwrap_or_else(|_| {
            let reason = format!("the stream was not open within {time:?}");
            Err(Failure::not_sent(FailureKind::Timeout, reason))
        });
        match opened {
            Ok(duplex) => Ok(Opened { duplex, held, since }),
            Err(failure) => {
                held.finish(failure.kind.outcome(), clock);
                Err(failure)
            }
        }
    }
}

async fn begin(
    endpoint: &Arc<Endpoint>,
    request: StreamRequest,
    first: Option<&Body>,
) -> Result<Duplex, Failure> {
    let link = endpoint.link().and_then(|link| link.as_any().downcast_ref::<EndpointLink>());
    let link = link.ok_or_else(|| no_link(endpoint))?;
    let mut duplex = link.open(request).await?;
    if let Some(first) = first {
        duplex.outgoing.send(first.clone()).await?;
        // A stream that is over by now says why to whoever reads it.
        let _ = duplex.outgoing.finish();
    }
    Ok(duplex)
}
