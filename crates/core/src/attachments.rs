//! Attachments: the small ordered set of key/value pairs that travels with a call and its answer
//! (metadata in gRPC). Keys are unique and compared as given; protocols fold case where theirs do.

/// One attachment value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AttachmentValue {
    /// Text, sent as a header.
    Text(String),
    /// Bytes, sent base64 under a `-bin` header.
    Binary(bytes::Bytes),
}

/// Ordered key/value pairs.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Attachments(Vec<(String, AttachmentValue)>);

impl Attachments {
    /// None.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds or replaces a text value.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>) {
        self.put(key.into(), AttachmentValue::Text(value.into()));
    }

    /// Adds or replaces a binary value.
    pub fn set_binary(&mut self, key: impl Into<String>, value: impl Into<bytes::Bytes>) {
        self.put(key.into(), AttachmentValue::Binary(value.into()));
    }

    /// Adds or replaces a value.
    pub fn put(&mut self, key: String, value: AttachmentValue) {
        match self.0.iter_mut().find(|(k, _)| *k == key) {
            Some((_, v)) => *v = value,
            None => self.0.push((key, value)),
        }
    }

    /// The text under `key`.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.value(key) {
            Some(AttachmentValue::Text(v)) => Some(v),
            _ => None,
        }
    }

    /// The value under `key`.
    pub fn value(&self, key: &str) -> Option<&AttachmentValue> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// Takes a value out.
    pub fn remove(&mut self, key: &str) -> Option<AttachmentValue> {
        let at = self.0.iter().position(|(k, _)| k == key)?;
        Some(self.0.remove(at).1)
    }

    /// All pairs, in the order they were set.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &AttachmentValue)> {
        self.0.iter().map(|(k, v)| (k.as_str(), v))
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Attachments {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let mut all = Self::new();
        for (k, v) in pairs {
            all.set(k, v);
        }
        all
    }
}
