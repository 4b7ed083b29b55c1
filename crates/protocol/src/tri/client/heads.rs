//! What the headers of all calls of one method have in common, prepared once per connection.

use std::sync::Arc;

use arc_swap::ArcSwap;
use equipoise_core::port::{BodyFormat, Request};
use equipoise_core::service::ServiceKey;
use http::header::{CONTENT_TYPE, TE, USER_AGENT};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderValue, Uri};

use crate::tri::headers::{CONSUMER_APPLICATION, SERVICE_GROUP, SERVICE_VERSION};

/// More methods than this on one connection are prepared anew for each call.
const MOST: usize = 256;

const AGENT: &str = concat!("equipoise/", env!("CARGO_PKG_VERSION"));

/// The prepared headers of one method.
#[derive(Debug)]
pub(crate) struct Head {
    service: Arc<ServiceKey>,
    method: Arc<str>,
    format: BodyFormat,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
}

/// The prepared headers of one connection.
#[derive(Debug)]
pub(crate) struct Heads {
    scheme: Scheme,
    authority: Authority,
    application: Option<HeaderValue>,
    known: ArcSwap<Vec<Arc<Head>>>,
}

impl Heads {
    pub(crate) fn new(
        scheme: Scheme,
        authority: Authority,
        application: Option<HeaderValue>,
    ) -> Self {
        Self { scheme, authority, application, known: ArcSwap::default() }
    }

    /// The headers for `request`'s method. An error says what cannot be sent.
    pub(crate) fn head(&self, request: &Request) -> Result<Arc<Head>, String> {
        let known = self.known.load();
        if let Some(head) = known.iter().find(|head| head.is_of(request)) {
            return Ok(head.clone());
        }
        let head = Arc::new(self.prepare(request)?);
        if known.len() < MOST {
            self.known.rcu(|known| {
                let mut grown = Vec::with_capacity(known.len() + 1);
                grown.extend(known.iter().filter(|head| !head.is_of(request)).cloned());
                grown.push(head.clone());
                grown
            });
        }
        Ok(head)
    }

    fn prepare(&self, request: &Request) -> Result<Head, String> {
        let (service, method) = (&request.service, &request.method);
        let path = format!("/{}/{method}", service.interface);
        let path = PathAndQuery::try_from(path.as_str())
            .ok()
            .filter(|parsed| parsed.query().is_none() && parsed.as_str() == path)
            .ok_or_else(|| format!("{path:?} cannot be the path of a request"))?;
        let uri = Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(path)
            .build()
            .map_err(|error| format!("no address for {service}: {error}"))?;
        Ok(Head {
            service: service.clone(),
            method: method.clone(),
            format: request.body.format(),
            uri,
            headers: self.headers(request)?,
        })
    }

    fn headers(&self, request: &Request) -> Result<HeaderMap, String> {
        let service = &request.service;
        let mut headers = HeaderMap::with_capacity(8);
        match request.body.format() {
            BodyFormat::Protobuf | BodyFormat::Java => {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc+proto"));
                headers.insert(TE, HeaderValue::from_static("trailers"));
            }
            BodyFormat::Json => {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            }
        }
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        for (name, value) in [(SERVICE_VERSION, &service.version), (SERVICE_GROUP, &service.group)]
        {
            if !value.is_empty() {
                let value = HeaderValue::from_str(value)
                    .map_err(|_| format!("{value:?} cannot be the value of {name}"))?;
                headers.insert(name, value);
            }
        }
        if let Some(application) = &self.application {
            headers.insert(CONSUMER_APPLICATION, application.clone());
        }
        Ok(headers)
    }
}

impl Head {
    fn is_of(&self, request: &Request) -> bool {
        // Callers nearly always pass the same allocation again; comparing text is the fallback.
        let service = Arc::ptr_eq(&self.service, &request.service);
        let method = Arc::ptr_eq(&self.method, &request.method);
        self.format == request.body.format()
            && (method || self.method == request.method)
            && (service || self.service == request.service)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use equipoise_core::attachments::Attachments;
    use equipoise_core::port::Body;

    use super::*;

    fn request(service: ServiceKey, method: &str) -> Request {
        Request {
            service: Arc::new(service),
            method: method.into(),
            body: Body::protobuf(Bytes::new()),
            types: None,
            one_way: false,
            attachments: Attachments::new(),
            timeout: None,
        }
    }

    fn heads() -> Heads {
        Heads::new(Scheme::HTTP, Authority::from_static("h:1"), None)
    }

    #[test]
    fn version_and_group_are_sent_only_when_set() {
        let heads = heads();
        let bare = heads.head(&request(ServiceKey::new("a.B"), "m")).unwrap();
        assert_eq!(bare.uri.to_string(), "http://h:1/a.B/m");
        assert!(!bare.headers.contains_key(SERVICE_VERSION));
        assert!(!bare.headers.contains_key(SERVICE_GROUP));
        let full = ServiceKey::new("a.B").version("1.0").group("g");
        let full = heads.head(&request(full, "m")).unwrap();
        assert_eq!(full.headers[SERVICE_VERSION], "1.0");
        assert_eq!(full.headers[SERVICE_GROUP], "g");
    }

    #[test]
    fn a_method_is_prepared_once_and_the_cache_is_bounded() {
        let heads = heads();
        let first = heads.head(&request(ServiceKey::new("a.B"), "m")).unwrap();
        let again = heads.head(&request(ServiceKey::new("a.B"), "m")).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        let mut json = request(ServiceKey::new("a.B"), "m");
        json.body = Body::json("null");
        assert_eq!(heads.head(&json).unwrap().headers[CONTENT_TYPE], "application/json");
        for i in 0..2 * MOST {
            heads.head(&request(ServiceKey::new("a.B"), &format!("m{i}"))).unwrap();
        }
        assert_eq!(heads.known.load().len(), MOST);
    }

    #[test]
    fn names_that_no_path_can_hold_are_refused() {
        for (interface, method) in [("a b", "m"), ("a", "m?x"), ("a", "m#"), ("a", "m\n")] {
            let refused = heads().head(&request(ServiceKey::new(interface), method)).unwrap_err();
            assert!(refused.contains("path"), "{refused}");
        }
        let version = ServiceKey::new("a").version("1\n");
        assert!(heads().head(&request(version, "m")).unwrap_err().contains("tri-service-version"));
    }
}
