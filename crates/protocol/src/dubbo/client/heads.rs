//! What the frames of all calls of one method have in common, prepared once per connection; and the
//! attachments, which they have not.

use std::sync::Arc;

use arc_swap::ArcSwap;
use equipoise_core::attachments::AttachmentValue;
use equipoise_core::port::Request;
use equipoise_core::service::ServiceKey;
use equipoise_hessian::Writer;

use crate::dubbo::client::settings::Settings;
use crate::java::generic::{INVOKE, INVOKE_ASYNC};

/// What Java calls the version of the protocol; providers attach something to their answers only
/// for this one and its successors.
pub(crate) const VERSION: &str = "2.0.2";
/// The version of a service that has none.
const NO_VERSION: &str = "0.0.0";

/// More methods than this on one connection are prepared anew for each call.
const MOST: usize = 256;

const APPLICATION: &str = "remote.application";
const TOKEN: &str = "token";
/// What the caller cannot say otherwise.
const RESERVED: [&str; 7] = ["path", "interface", "version", "group", "timeout", "_TO", "generic"];

/// The prepared parts of one method.
#[derive(Debug)]
pub(crate) struct Head {
    service: Arc<ServiceKey>,
    /// `$invoke` for generic calls.
    method: Box<str>,
    descriptor: Box<str>,
    /// What is before the arguments.
    pub(crate) before: Vec<u8>,
    /// The beginning of the attachments.
    pub(crate) after: Vec<u8>,
}

/// The prepared parts of one connection.
#[derive(Debug)]
pub(crate) struct Heads {
    settings: Settings,
    known: ArcSwap<Vec<Arc<Head>>>,
}

impl Heads {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, known: ArcSwap::default() }
    }

    /// The parts of calls of `method` with parameters of these types.
    pub(crate) fn head(
        &self,
        service: &Arc<ServiceKey>,
        method: &str,
        descriptor: &str,
    ) -> Arc<Head> {
        let known = self.known.load();
        if let Some(head) = known.iter().find(|head| head.is_of(service, method, descriptor)) {
            return head.clone();
        }
        let head = Arc::new(self.prepare(service, method, descriptor));
        if known.len() < MOST {
            self.known.rcu(|known| {
                let others = known.iter().filter(|head| !head.is_of(service, method, descriptor));
                let mut grown: Vec<_> = others.cloned().collect();
                grown.push(head.clone());
                grown
            });
        }
        head
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.known.load().len()
    }

    fn prepare(&self, service: &Arc<ServiceKey>, method: &str, descriptor: &str) -> Head {
        let interface = service.interface.as_str();
        let path = match &self.settings.path {
            Some((of, path)) if of == interface => path.as_str(),
            _ => interface,
        };
        let version = match service.version.as_str() {
            "" => NO_VERSION,
            version => version,
        };
        let mut before = Writer::new();
        for text in [VERSION, path, version, method, descriptor] {
            before.str(text);
        }
        let mut after = Writer::new();
        after.map(None);
        let mut attach = |key: &str, value: &str| {
            after.str(key);
            after.str(value);
        };
        attach("path", path);
        if let Some(application) = &self.settings.application {
            attach(APPLICATION, application);
        }
        attach("interface", interface);
        attach("version", version);
        if !service.group.is_empty() {
            attach("group", &service.group);
        }
        if let Some(token) = &self.settings.token {
            attach(TOKEN, token);
        }
        if matches!(method, INVOKE | INVOKE_ASYNC) {
            attach("generic", "true");
        }
        Head {
            service: service.clone(),
            method: method.into(),
            descriptor: descriptor.into(),
            before: before.into_bytes(),
            after: after.into_bytes(),
        }
    }

    /// The rest of the attachments, the end of the map included.
    pub(crate) fn attachments(&self, request: &Request) -> Vec<u8> {
        let mut rest = Writer::new();
        if let Some(limit) = request.timeout {
            // Rounded up: 0 would mean "no limit" to some.
            let millis = limit.as_micros().div_ceil(1000);
            let millis = i32::try_from(millis).unwrap_or(i32::MAX).max(1);
            rest.str("timeout");
            rest.str(&millis.to_string());
            if self.settings.countdown {
                // A number, as Java sends it.
                rest.str("_TO");
                rest.int(millis);
            }
        }
        for (key, value) in request.attachments.iter().filter(|(key, _)| !self.is_reserved(key)) {
            rest.str(key);
            match value {
                AttachmentValue::Text(text) => rest.str(text),
                AttachmentValue::Binary(bytes) => rest.binary(bytes),
            }
        }
        rest.end();
        rest.into_bytes()
    }

    fn is_reserved(&self, key: &str) -> bool {
        RESERVED.contains(&key)
            || (key == APPLICATION && self.settings.application.is_some())
            || (key == TOKEN && self.settings.token.is_some())
    }
}

impl Head {
    fn is_of(&self, service: &Arc<ServiceKey>, method: &str, descriptor: &str) -> bool {
        // Callers nearly always pass the same allocation again; comparing is the fallback.
        *self.method == *method
            && *self.descriptor == *descriptor
            && (Arc::ptr_eq(&self.service, service) || self.service == *service)
    }
}
