//! `grpc.health.v1.Health`: tells balancers and platforms which services are in order.
//!
//! # Rule
//!
//! Every registered service, and the empty name for the server as a whole, starts as serving and
//! is what [`Health::set`] says; at the end of the server everything is "not serving". `Check` of
//! an unknown name is status 5; `Watch` of one says so and waits for it; `List` tells all.
//!
//! # References
//!
//! *GRPC Health Checking Protocol*; `grpc/health/v1/health.proto`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use prost::Message;
use tokio::sync::watch;

use crate::server::lifecycle::{Lifecycle, Phase};
use crate::status::{Status, code};
use crate::tri::server::body::Answers;
use crate::tri::server::stream::{Requests, StreamHandler};

pub(crate) const NAME: &str = "grpc.health.v1.Health";

/// More services than this are not listed, as the protocol asks.
const LISTED: usize = 100;

/// What the health service tells. Clones tell the same.
#[derive(Clone, Debug)]
pub struct Health(Arc<watch::Sender<States>>);

#[derive(Clone, Debug)]
struct States {
    serving: BTreeMap<String, bool>,
    /// Nothing serves any more, whatever is set.
    ended: bool,
}

impl States {
    fn of(&self, service: &str) -> ServingStatus {
        match self.serving.get(service) {
            None => ServingStatus::ServiceUnknown,
            Some(true) if !self.ended => ServingStatus::Serving,
            Some(_) => ServingStatus::NotServing,
        }
    }
}

impl Health {
    pub(crate) fn new(services: Vec<String>) -> Self {
        let names = std::iter::once(String::new()).chain(services);
        let serving = names.map(|name| (name, true)).collect();
        Self(Arc::new(watch::Sender::new(States { serving, ended: false })))
    }

    /// Says whether `service` serves; the empty name is the server as a whole. A name that was
    /// not registered is added.
    pub fn set(&self, service: &str, serving: bool) {
        self.0.send_if_modified(|states| {
            states.serving.insert(service.to_owned(), serving) != Some(serving)
        });
    }

    /// Whether `service` serves; `None` when nobody registered or set it.
    pub fn serves(&self, service: &str) -> Option<bool> {
        match self.0.borrow().of(service) {
            ServingStatus::Serving => Some(true),
            ServingStatus::ServiceUnknown | ServingStatus::Unknown => None,
            ServingStatus::NotServing => Some(false),
        }
    }

    pub(crate) fn end(&self) {
        self.0.send_modify(|states| states.ended = true);
    }
}

/// The service on top of [`Health`].
#[derive(Debug)]
pub(crate) struct Service {
    health: Health,
    lifecycle: Arc<Lifecycle>,
}

impl Service {
    pub(crate) fn new(health: Health, lifecycle: Arc<Lifecycle>) -> Self {
        Self { health, lifecycle }
    }
}

impl StreamHandler for Service {
    fn open(&self, method: &str, mut requests: Requests) -> Result<Answers, Status> {
        let health = self.health.clone();
        Ok(match method {
            "Check" => Box::pin(stream::once(async move {
                let CheckRequest { service } = first(&mut requests).await?;
                check(&health, &service)
            })),
            "List" => Box::pin(stream::once(async move {
                let _: ListRequest = first(&mut requests).await?;
                list(&health)
            })),
            "Watch" => watch(health, self.lifecycle.clone(), requests),
            _ => return Err(Status::unknown_method(NAME, method)),
        })
    }
}

async fn first<M: Message + Default>(requests: &mut Requests) -> Result<M, Status> {
    let bytes = requests.next().await?;
    let bytes = bytes.ok_or_else(|| Status::new(code::INTERNAL, "the request has no message"))?;
    M::decode(bytes).map_err(|error| Status::new(code::INVALID_ARGUMENT, error.to_string()))
}

fn answer(status: ServingStatus) -> Bytes {
    CheckResponse { status: status.into() }.encode_to_vec().into()
}

fn check(health: &Health, service: &str) -> Result<Bytes, Status> {
    match health.0.borrow().of(service) {
        ServingStatus::ServiceUnknown => {
            Err(Status::new(code::NOT_FOUND, format!("no service {service:?}")))
        }
        status => Ok(answer(status)),
    }
}

fn list(health: &Health) -> Result<Bytes, Status> {
    let states = health.0.borrow();
    if states.serving.len() > LISTED {
        return Err(Status::new(code::RESOURCE_EXHAUSTED, "too many services to list"));
    }
    let status_of = |name: &String| CheckResponse { status: states.of(name).into() };
    let statuses = states.serving.keys().map(|name| (name.clone(), status_of(name))).collect();
    Ok(ListResponse { statuses }.encode_to_vec().into())
}

/// The state now, then every change of it; ends with the server, after its last change.
fn watch(health: Health, lifecycle: Arc<Lifecycle>, requests: Requests) -> Answers {
    enum Step {
        Start,
        Told(String, ServingStatus, watch::Receiver<States>),
    }
    let next = move |(step, mut requests): (Step, Requests)| {
        let (health, lifecycle) = (health.clone(), lifecycle.clone());
        async move {
            let (service, told, mut states) = match step {
                Step::Start => {
                    let CheckRequest { service } = first(&mut requests).await?;
                    (service, None, health.0.subscribe())
                }
                Step::Told(service, told, states) => (service, Some(told), states),
            };
            loop {
                let now = states.borrow_and_update().of(&service);
                if Some(now) != told {
                    return Ok(Some((answer(now), (Step::Told(service, now, states), requests))));
                }
                tokio::select! {
                    biased;
                    changed = states.changed() => if changed.is_err() { return Ok(None) },
                    () = lifecycle.reached(Phase::Draining) => {
                        return Err(Status::new(code::UNAVAILABLE, "the server is ending"));
                    }
                }
            }
        }
    };
    // Messages after the first have no meaning here and are not read.
    Box::pin(stream::try_unfold((Step::Start, requests), next))
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, prost::Enumeration)]
#[repr(i32)]
enum ServingStatus {
    Unknown = 0,
    Serving = 1,
    NotServing = 2,
    ServiceUnknown = 3,
}

#[derive(Clone, PartialEq, prost::Message)]
struct CheckRequest {
    #[prost(string, tag = "1")]
    service: String,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
struct CheckResponse {
    #[prost(enumeration = "ServingStatus", tag = "1")]
    status: i32,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
struct ListRequest {}

#[derive(Clone, PartialEq, prost::Message)]
struct ListResponse {
    #[prost(map = "string, message", tag = "1")]
    statuses: HashMap<String, CheckResponse>,
}
