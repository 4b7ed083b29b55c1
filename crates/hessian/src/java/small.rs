//! Small types that are a name or a number in an object: `UUID`, `Locale`, `Class`, `File`.

use std::fmt;
use std::str::FromStr;

use ::serde::{Deserialize, Serialize};

use crate::java::text::{ParseError, wire_and_text};

/// `java.util.UUID`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct Uuid(pub u128);

#[derive(Default, Serialize, Deserialize)]
#[serde(rename = "java.util.UUID", default)]
struct UuidWire {
    value: Option<String>,
    /// The form of older peers.
    #[serde(rename = "mostSigBits", skip_serializing)]
    most: i64,
    #[serde(rename = "leastSigBits", skip_serializing)]
    least: i64,
}

impl From<Uuid> for UuidWire {
    fn from(uuid: Uuid) -> Self {
        Self { value: Some(uuid.to_string()), ..Self::default() }
    }
}

impl TryFrom<UuidWire> for Uuid {
    type Error = ParseError;

    fn try_from(wire: UuidWire) -> Result<Self, ParseError> {
        match wire.value {
            Some(text) => text.parse(),
            None => {
                let (most, least) = (wire.most.cast_unsigned(), wire.least.cast_unsigned());
                Ok(Self(u128::from(most) << 64 | u128::from(least)))
            }
        }
    }
}

wire_and_text!(Uuid, UuidWire);

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |shift: u32, bits: u32| (self.0 >> shift) & ((1 << bits) - 1);
        write!(
            f,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            part(96, 32),
            part(80, 16),
            part(64, 16),
            part(48, 16),
            part(0, 48)
        )
    }
}

impl FromStr for Uuid {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let lengths = text.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
        let digits: String = text.chars().filter(|c| *c != '-').collect();
        let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        u128::from_str_radix(&digits, 16).ok().filter(|_| lengths && plain).map(Self).ok_or_else(
            || ParseError::new(text, "UUID such as 123e4567-e89b-12d3-a456-426614174000"),
        )
    }
}

macro_rules! named {
    ($name:ident, $wire:ident, $class:literal, $field:literal, $about:literal) => {
        #[doc = $about]
        #[derive(Clone, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash)]
        pub struct $name(pub String);

        #[derive(Default, Serialize, Deserialize)]
        #[serde(rename = $class, default)]
        struct $wire {
            #[serde(rename = $field)]
            text: String,
        }

        impl From<$name> for $wire {
            fn from(it: $name) -> Self {
                Self { text: it.0 }
            }
        }

        impl From<$wire> for $name {
            fn from(wire: $wire) -> Self {
                Self(wire.text)
            }
        }

        wire_and_text!($name, $wire);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = ParseError;

            fn from_str(text: &str) -> Result<Self, ParseError> {
                Ok(Self(text.to_owned()))
            }
        }
    };
}

named!(
    Locale,
    LocaleWire,
    "com.alibaba.com.caucho.hessian.io.LocaleHandle",
    "value",
    "`java.util.Locale`: its name, such as `en_US`."
);
named!(
    Class,
    ClassWire,
    "java.lang.Class",
    "name",
    "`java.lang.Class`: its name. Nothing is loaded."
);
named!(File, FileWire, "java.io.File", "value", "`java.io.File`: its path. Nothing is opened.");

macro_rules! atomic {
    ($name:ident, $wire:ident, $number:ty, $class:literal) => {
        #[doc = concat!("`", $class, "`: its number at the moment of writing.")]
        #[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash)]
        pub struct $name(pub $number);

        #[derive(Default, Serialize, Deserialize)]
        #[serde(rename = $class, default)]
        struct $wire {
            value: $number,
        }

        impl From<$name> for $wire {
            fn from(it: $name) -> Self {
                Self { value: it.0 }
            }
        }

        impl From<$wire> for $name {
            fn from(wire: $wire) -> Self {
                Self(wire.value)
            }
        }

        wire_and_text!($name, $wire);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = ParseError;

            fn from_str(text: &str) -> Result<Self, ParseError> {
                text.parse().map(Self).map_err(|_| ParseError::new(text, "whole number such as 42"))
            }
        }
    };
}

atomic!(AtomicInteger, AtomicIntegerWire, i32, "java.util.concurrent.atomic.AtomicInteger");
atomic!(AtomicLong, AtomicLongWire, i64, "java.util.concurrent.atomic.AtomicLong");
