//! What a caller asks for, as far as choosing is concerned, and which endpoints it has tried.

use std::sync::Arc;

use crate::endpoint::Endpoint;
use crate::hash::key::Argument;
use crate::methods::MethodId;

/// The method of a call: by name, or by the index that its service gave it.
#[derive(Clone, Copy, Debug)]
pub enum Method<'a> {
    /// By name; found without a lock.
    Name(&'a str),
    /// By index; nothing is looked up.
    Id(MethodId),
}

/// What `consistenthash` hashes.
#[derive(Clone, Copy, Debug, Default)]
pub enum Key<'a> {
    /// Nothing was given.
    #[default]
    Missing,
    /// This text.
    Text(&'a str),
    /// The arguments that `hash.arguments` selects from these.
    Arguments(&'a [Argument]),
    /// Already hashed: the first four bytes of the key's MD5, least significant first.
    Hashed(u32),
}

/// One call, as the strategies and routers see it.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Which method.
    pub method: Method<'a>,
    /// What keyed strategies hash.
    pub key: Key<'a>,
    /// Tag of the request; overrides the configured one.
    pub tag: Option<&'a str>,
    /// Whether the tag must be met; `None` is as configured.
    pub force_tag: Option<bool>,
}

impl<'a> Call<'a> {
    /// A call of `method`.
    pub const fn new(method: &'a str) -> Self {
        Self { method: Method::Name(method), key: Key::Missing, tag: None, force_tag: None }
    }

    /// A call of the method with this index.
    pub const fn of(method: MethodId) -> Self {
        Self { method: Method::Id(method), key: Key::Missing, tag: None, force_tag: None }
    }

    /// With this text as the key.
    pub const fn key(mut self, text: &'a str) -> Self {
        self.key = Key::Text(text);
        self
    }

    /// With these arguments; `hash.arguments` selects the ones that make the key. An empty slice
    /// says that the method has none.
    pub const fn arguments(mut self, arguments: &'a [Argument]) -> Self {
        self.key = Key::Arguments(arguments);
        self
    }

    /// With a tag.
    pub const fn tag(mut self, tag: &'a str) -> Self {
        self.tag = Some(tag);
        self
    }

    /// Says whether the tag must be met.
    pub const fn force_tag(mut self, force: bool) -> Self {
        self.force_tag = Some(force);
        self
    }
}

/// How many endpoints are remembered without allocating.
const INLINE: usize = 4;

/// Endpoints that this call has already attempted.
#[derive(Clone, Debug, Default)]
pub struct Tried {
    first: [Option<Arc<Endpoint>>; INLINE],
    more: Vec<Arc<Endpoint>>,
}

impl Tried {
    /// None yet.
    pub const fn new() -> Self {
        Self { first: [const { None }; INLINE], more: Vec::new() }
    }

    /// Remembers an endpoint.
    pub fn add(&mut self, endpoint: Arc<Endpoint>) {
        match self.first.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(endpoint),
            None => self.more.push(endpoint),
        }
    }

    /// Whether this very endpoint was tried.
    pub fn contains(&self, endpoint: &Endpoint) -> bool {
        self.iter().any(|tried| std::ptr::eq(&**tried, endpoint))
    }

    /// Whether nothing was tried yet.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first[0].is_none()
    }

    /// How many were tried.
    pub fn len(&self) -> usize {
        self.first.iter().flatten().count() + self.more.len()
    }

    /// In the order they were tried.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Endpoint>> {
        self.first.iter().flatten().chain(&self.more)
    }
}
