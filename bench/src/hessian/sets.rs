//! What is written and read: objects as RPC carries them, made of texts or of numbers. Pure and the
//! same in every run.

use fastrand::Rng;
use serde::{Deserialize, Serialize};

/// An object that is nearly all text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "com.acme.Customer")]
pub(super) struct Customer {
    id: String,
    name: String,
    email: String,
    phone: String,
    street: String,
    city: String,
    country: String,
    note: Option<String>,
    tags: Vec<String>,
}

/// An object that is nearly all numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "com.acme.Trade")]
pub(super) struct Trade {
    id: i64,
    instrument: i32,
    venue: i32,
    price: f64,
    quantity: i64,
    volatility: f64,
    time: i64,
    open: bool,
    depths: Vec<i32>,
    levels: Vec<f64>,
}

/// An object of objects, as an order service has them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "com.acme.Order")]
pub(super) struct Order {
    number: i64,
    customer: Customer,
    lines: Vec<Line>,
    total: f64,
    paid: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "com.acme.Line")]
struct Line {
    sku: String,
    count: i32,
    price: f64,
}

impl Customer {
    pub(super) fn new(rng: &mut Rng) -> Self {
        // One in eight is not ASCII.
        let plain = rng.u32(..8) > 0;
        let name = if plain { word(rng, 6..20) } else { "Zoë 李小龍".to_owned() };
        let city = if plain { word(rng, 5..14) } else { "Zürich".to_owned() };
        Self {
            id: word(rng, 12..13),
            email: format!("{}@example.com", word(rng, 6..14)),
            phone: format!("+41 44 {}", rng.u32(1_000_000..9_999_999)),
            street: format!("{} {}", word(rng, 8..20), rng.u32(1..200)),
            country: word(rng, 4..12),
            note: rng.bool().then(|| word(rng, 40..120)),
            tags: (0..rng.usize(..5)).map(|_| word(rng, 3..10)).collect(),
            name,
            city,
        }
    }
}

impl Trade {
    pub(super) fn new(rng: &mut Rng) -> Self {
        Self {
            id: rng.i64(..),
            instrument: rng.i32(..100_000),
            venue: rng.i32(..40),
            price: price(rng),
            quantity: rng.i64(1..1_000_000),
            // With few enough digits for the quick way of serde_json, which is not exact otherwise.
            volatility: f64::from(rng.u32(..1_000_000)) / 1e6,
            time: 1_796_000_000_000 + rng.i64(..100_000_000),
            open: rng.bool(),
            depths: (0..8).map(|_| rng.i32(..5_000)).collect(),
            levels: (0..8).map(|_| price(rng)).collect(),
        }
    }
}

impl Order {
    pub(super) fn new(rng: &mut Rng) -> Self {
        let lines = |rng: &mut Rng| Line {
            sku: word(rng, 8..12),
            count: rng.i32(1..20),
            price: price(rng),
        };
        Self {
            number: rng.i64(..1 << 40),
            customer: Customer::new(rng),
            lines: (0..rng.usize(1..6)).map(|_| lines(rng)).collect(),
            total: price(rng),
            paid: rng.bool(),
        }
    }
}

/// A text of lower-case letters and, here and there, a space.
fn word(rng: &mut Rng, length: std::ops::Range<usize>) -> String {
    let letter = |rng: &mut Rng| if rng.u32(..9) == 0 { ' ' } else { rng.lowercase() };
    (0..rng.usize(length)).map(|_| letter(rng)).collect()
}

/// An amount with two digits after the point.
fn price(rng: &mut Rng) -> f64 {
    f64::from(rng.u32(100..2_000_000)) / 100.0
}
