//! Consistent hashing: a consumer of theirs and one of ours send every key to the same one of our
//! providers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::interop::cell::{Seen, same, works};
use crate::interop::peer::Peer;
use crate::interop::shop::Recording;
use crate::interop::stage::{Stage, Wire};
use crate::interop::stock::{STOCK, StockClient};

/// Providers by number, in the order in which consumers list them: growing, shrunk, in another
/// order.
const LISTS: [&[usize]; 5] = [&[0, 1], &[0, 1, 2], &[2, 0, 1], &[0, 1, 2, 3, 4], &[5, 4, 2, 1, 0]];

/// Points of a provider on the ring: the default, and more.
const NODES: [&str; 2] = ["160", "320"];

/// Time enough for a call on a busy machine; a retry would go to another provider.
const AMPLE: Duration = Duration::from_secs(20);

/// Who was served by which provider.
type Served = BTreeMap<String, usize>;

/// A thousand of them: of ASCII, of longer UTF-8, outside of the first plane, and the empty one.
fn keys() -> Vec<String> {
    (0..1000)
        .map(|number| match number % 5 {
            _ if number == 0 => String::new(),
            0 => format!("user-{number}"),
            1 => format!("{number}"),
            2 => format!("订单-{number}"),
            3 => format!("Ärger 😀 {number}"),
            _ => format!("{number} ").repeat(20),
        })
        .collect()
}

/// What the providers wrote down since they were last asked. Every key must be there once.
fn served(providers: &[Recording], keys: &[String]) -> anyhow::Result<Served> {
    let mut served = Served::new();
    let mut calls = 0;
    for (number, provider) in providers.iter().enumerate() {
        let greeted = provider.greeted();
        calls += greeted.len();
        served.extend(greeted.into_iter().map(|key| (key, number)));
    }
    same("calls", calls, keys.len())?;
    same("keys", served.len(), keys.len())?;
    Ok(served)
}

/// Has the peer send every key.
async fn theirs(peer: &Peer, urls: &[String], keys: &[String]) -> anyhow::Result<()> {
    let command = json!({
        "url": urls.join(";"), "interface": STOCK, "loadbalance": "consistenthash", "args": keys,
    });
    let answer = peer.ask("greets", command).await?;
    same("thrown by the peer", answer.get("thrown"), None)
}

/// Sends every key.
async fn ours(urls: &[String], keys: &[String]) -> anyhow::Result<()> {
    let builder = StockClient::builder().endpoints(urls).strategy("consistenthash");
    let stock = StockClient::new(builder.timeout(AMPLE).retries(0).build()?);
    for key in keys {
        stock.greet(key.clone(), 1).await?;
    }
    Ok(())
}

/// A thousand keys, five lists and two sizes of the ring: no key goes two ways.
pub(super) async fn agree(stage: Arc<Stage>, wire: Wire) -> Seen {
    let peer = stage.consumer(wire).await?;
    let keys = keys();
    let mut providers = Vec::new();
    for _ in 0..6 {
        providers.push(Recording::serve(|server| server).await?);
    }
    let mut sent = 0;
    for list in LISTS {
        let mut rings: Vec<Served> = Vec::new();
        for nodes in NODES {
            let urls: Vec<String> = list
                .iter()
                .filter_map(|number| providers.get(*number))
                .map(|provider| format!("{}?hash.nodes={nodes}", provider.url(wire.scheme)))
                .collect();
            theirs(peer, &urls, &keys).await?;
            let want = served(&providers, &keys)?;
            ours(&urls, &keys).await?;
            let got = served(&providers, &keys)?;
            let differing = keys.iter().filter(|key| want.get(*key) != got.get(*key)).count();
            same(&format!("keys of {list:?} with {nodes} that go two ways"), differing, 0)?;
            sent += keys.len();
            rings.push(got);
        }
        // Else both sides might not have read the setting at all.
        anyhow::ensure!(rings.first() != rings.last(), "the size of the ring changes nothing");
    }
    works(format!("{sent} keys on {} rings, 0 differences", LISTS.len() * NODES.len()))
}
