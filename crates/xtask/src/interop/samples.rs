//! The values of `Samples.java`, in Rust.

use std::collections::BTreeMap;

use anyhow::Context;
use equipoise::java::{Date, Locale, Value};

use crate::interop::stock::{Customer, Everything, Kind, Line, Order, User};

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// A Java type from its text.
fn read<T: std::str::FromStr>(text: &str) -> anyhow::Result<Option<T>> {
    Ok(Some(text.parse().ok().with_context(|| text.to_owned())?))
}

/// `user`.
pub(crate) fn user() -> User {
    User { name: some("Ann é世😀"), age: 31, likes: Some(Kind::Book) }
}

/// The one without a favourite.
fn young() -> User {
    User { name: some("Cy"), age: 5, likes: None }
}

/// `users`.
pub(crate) fn users() -> Vec<User> {
    vec![user(), young()]
}

/// `index`.
pub(crate) fn index() -> BTreeMap<String, User> {
    BTreeMap::from([("ann".to_owned(), user()), ("cy".to_owned(), young())])
}

fn customer() -> Customer {
    Customer {
        name: some("Bob"),
        age: 47,
        likes: Some(Kind::Tool),
        address: some("1 Long Lane"),
        since: 1_500_000_000_000,
    }
}

/// `order`.
pub(crate) fn order() -> anyhow::Result<Order> {
    let kinds = [Kind::Food, Kind::Tool, Kind::Book];
    let mut lines = Vec::new();
    for (at, kind) in (0..6).zip(kinds.iter().cycle()) {
        lines.push(Line {
            sku: Some(format!("sku-000{at}")),
            amount: at + 1,
            price: read(&format!("{at}.99"))?,
            kind: Some(kind.clone()),
        });
    }
    let notes = [
        ("gift", "wrap it in paper with stars, and no ribbon"),
        ("door", "the blue one behind the house"),
    ];
    Ok(Order {
        id: 9_007_199_254_740_993,
        customer: Some(customer()),
        lines: Some(lines),
        notes: Some(notes.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()),
        placed: Some(Date(1_700_000_000_123)),
        signature: Some((0..=255).collect()),
        total: None,
        paid: true,
    })
}

/// What `order` costs.
pub(crate) const TOTAL: &str = "90.79";

/// `everything`.
pub(crate) fn everything() -> anyhow::Result<Everything> {
    use equipoise::protocol::hessian::Node;
    let value = |node| Value::of(node);
    Ok(Everything {
        flag: true,
        octet: -7,
        small: -300,
        letter: 'é',
        number: 1_000_000,
        large: -5_000_000_000,
        real: 0.1,
        boxed_flag: Some(false),
        boxed_octet: Some(7),
        boxed_small: Some(300),
        boxed_letter: Some('x'),
        boxed_number: Some(-1),
        boxed_large: Some(1),
        boxed_single: Some(-2.25),
        boxed_real: Some(1e300),
        text: some("text with é, 世界 and 😀"),
        missing: None,
        bytes: Some(vec![0, 1, 255, 127, 128]),
        numbers: Some(vec![1, -2, 300_000]),
        larges: Some(vec![1, -2, 1 << 40]),
        reals: Some(vec![0.0, 1.0, -2.5]),
        flags: Some(vec![true, false]),
        letters: some("aé"),
        texts: Some(vec![some("one"), None, some("three")]),
        objects: Some(vec![
            value(Node::Int(1)),
            Value::text("two"),
            value(Node::Double(3.5)),
            Value::null(),
        ]),
        users: Some(vec![user()]),
        grid: Some(vec![vec![1, 2], vec![], vec![3]]),
        list: Some(vec!["a".to_owned(), "b".to_owned()]),
        linked: Some(vec![1, 2, 3]),
        set: Some(vec!["red".to_owned(), "green".to_owned()]),
        map: Some(BTreeMap::from([("one".to_owned(), 1)])),
        sorted: Some(BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 2)])),
        ordered: Some(BTreeMap::from([(2, "two".to_owned()), (1, "one".to_owned())])),
        date: Some(Date(1_700_000_000_123)),
        local_date: read("2024-02-29")?,
        local_time: read("23:59:58.123456789")?,
        local_date_time: read("2024-02-29T23:59:58.123456789")?,
        offset_date_time: read("2024-02-29T23:59:58.123456789+08:00")?,
        zoned_date_time: read("2024-02-29T23:59:58.123456789+08:00[Asia/Shanghai]")?,
        instant: read("1969-12-31T23:59:59.999999999Z")?,
        duration: read("PT1M30.000000005S")?,
        decimal: read("-12345678901234567890.123456789")?,
        integer: read("-123456789012345678901234567890")?,
        kind: Some(Kind::Tool),
        uuid: read("123e4567-e89b-12d3-a456-426614174000")?,
        locale: Some(Locale("de_CH".into())),
        user: Some(user()),
        heir: Some(customer()),
        people: Some(vec![customer(), customer()]),
    })
}

/// The bytes of `blob`.
pub(crate) fn blob(size: usize) -> Vec<u8> {
    (0..size).map(|at| (at % 251) as u8).collect()
}
