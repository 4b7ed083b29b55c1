//! Containers: a map and a set that keep their order, and `java.util.Optional`, which is not the same
//! as null.

use std::fmt;
use std::marker::PhantomData;

use ::serde::de::{Deserializer, MapAccess, Visitor};
use ::serde::ser::{SerializeMap as _, Serializer};
use ::serde::{Deserialize, Serialize};

/// `java.util.Map`, in the order in which it travels. A key may be of any type.
#[derive(Clone, Debug, Eq, PartialEq, Hash)]
pub struct Map<K, V>(pub Vec<(K, V)>);

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: PartialEq, V> Map<K, V> {
    /// The value of a key; of a repeated one the last.
    pub fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: std::borrow::Borrow<Q>,
        Q: PartialEq + ?Sized,
    {
        self.0.iter().rev().find(|(known, _)| known.borrow() == key).map(|(_, value)| value)
    }

    /// Sets the value of a key.
    pub fn insert(&mut self, key: K, value: V) {
        match self.0.iter_mut().find(|(known, _)| *known == key) {
            Some((_, place)) => *place = value,
            None => self.0.push((key, value)),
        }
    }
}

impl<K, V> FromIterator<(K, V)> for Map<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl<K: Serialize, V: Serialize> Serialize for Map<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Map<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs<K, V>(PhantomData<(K, V)>);
        impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for Pairs<K, V> {
            type Value = Map<K, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Map<K, V>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Map(pairs))
            }
        }
        deserializer.deserialize_map(Pairs(PhantomData))
    }
}

/// `java.util.Set`, in the order in which it travels, under the name of `java.util.HashSet`. Whether
/// anything is in it twice is not looked at.
#[derive(Clone, Debug, Eq, PartialEq, Hash, Serialize, Deserialize)]
#[serde(rename = "$list:java.util.HashSet")]
pub struct Set<T>(pub Vec<T>);

impl<T> Default for Set<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> FromIterator<T> for Set<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}

/// `java.util.Optional`: an object that holds a value or none.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename = "java.util.Optional")]
pub struct Optional<T> {
    /// What it holds.
    #[serde(default)]
    pub value: Option<T>,
}

impl<T> Default for Optional<T> {
    fn default() -> Self {
        Self { value: None }
    }
}

impl<T> From<Option<T>> for Optional<T> {
    fn from(value: Option<T>) -> Self {
        Self { value }
    }
}
