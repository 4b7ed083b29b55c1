//! Who gets the calls, counted at the servers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use equipoise::{Body, Consumer, STRATEGIES};
use serde_json::json;

use crate::peers::calling::consumer;
use crate::peers::cell::{Seen, same};
use crate::peers::load::Load;
use crate::peers::server::Peers;
use crate::peers::stage::Stage;

/// Shares by weight are exact, whatever connects first.
pub(super) async fn round_robin(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let weights = [200, 100, 100];
    let urls: Vec<String> = peers.urls();
    let urls: Vec<String> =
        urls.iter().zip(weights).map(|(url, weight)| format!("{url}?weight={weight}")).collect();
    let consumer = consumer(&urls).strategy("roundrobin").build()?;
    for _ in 0..400 {
        consumer.call("Who").raw(Body::protobuf("")).await?;
    }
    let counts = peers.counts("Who").await?;
    same("calls by server", counts, weights.to_vec())?;
    Ok("weights 200/100/100: 200/100/100 calls".to_owned())
}

/// Calls go to whoever has the fewest in flight.
pub(super) async fn least_active(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).strategy("leastactive").build()?;
    let mut held = tokio::task::JoinSet::new();
    let mut hold = async |wanted: &[u64]| {
        held.spawn(consumer.call("Hold").raw(Body::protobuf("")));
        let counts = loop {
            let counts = peers.counts("Hold").await?;
            if counts.iter().sum::<u64>() == wanted.iter().sum::<u64>() {
                break counts;
            }
        };
        let mut sorted = counts.clone();
        sorted.sort_unstable();
        same("calls in flight, sorted", sorted.as_slice(), wanted)?;
        anyhow::Ok(counts)
    };
    for wanted in [[0, 0, 1], [0, 1, 1], [1, 1, 1], [1, 1, 2], [1, 2, 2], [2, 2, 2]] {
        hold(&wanted).await?;
    }
    same("released", peers.0[1].release().await?, 2)?;
    for _ in 0..2 {
        // Their answers are fed back before the next call is made.
        held.join_next().await.transpose()?.transpose()?;
    }
    for more in 1..=2 {
        held.spawn(consumer.call("Hold").raw(Body::protobuf("")));
        while peers.counts("Hold").await?.iter().sum::<u64>() < 6 + more {}
        same("calls by server", peers.counts("Hold").await?, vec![2, 2 + more, 2])?;
    }
    for server in &peers.0 {
        server.release().await?;
    }
    while let Some(reply) = held.join_next().await {
        reply??;
    }
    Ok("2/2/2 held, 2 released: the next 2 go there".to_owned())
}

/// Which server answers which key.
async fn owners(consumer: &Consumer) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    let mut owners = BTreeMap::new();
    for key in 0..60 {
        let key = format!("user-{key}");
        let call = consumer.call("Who").key(&key).raw(Body::protobuf(""));
        owners.insert(key, call.await?.body.to_vec());
    }
    Ok(owners)
}

/// A key keeps its server, also when another server leaves.
pub(super) async fn consistent_hash(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).strategy("consistenthash").build()?;
    let first = owners(&consumer).await?;
    let used: BTreeSet<_> = first.values().collect();
    same("servers used", used.len(), 3)?;
    same("owners", owners(&consumer).await?, first.clone())?;
    let gone = peers.0[2].port.to_string().into_bytes();
    consumer.update(peers.urls().iter().take(2)).await?;
    let after = owners(&consumer).await?;
    let stay = |owners: &BTreeMap<String, Vec<u8>>| {
        owners.iter().filter(|(key, _)| first[*key] != gone).count()
    };
    let kept = first.iter().filter(|(key, owner)| after[*key] == **owner).count();
    same("keys that keep their server", kept, stay(&first))?;
    Ok(format!("60 keys; one server leaves, the {kept} keys of the others stay"))
}

/// Whatever the strategy, calls are answered, and everybody's count is that of the servers.
pub(super) async fn every_strategy(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let mut shown = Vec::new();
    let mut before = vec![0; 3];
    for strategy in STRATEGIES {
        let name = strategy.about().name;
        let consumer = consumer(&peers.urls()).strategy(name).build()?;
        for key in 0..90 {
            let call = consumer.call("Who").key(format!("key-{key}"));
            call.raw(Body::protobuf("")).await?;
        }
        let counts = peers.counts("Who").await?;
        let mine: Vec<u64> = counts.iter().zip(&before).map(|(now, then)| now - then).collect();
        same(name, mine.iter().sum::<u64>(), 90)?;
        let report = consumer.report();
        let told: Vec<u64> =
            report.methods.iter().flat_map(|m| &m.endpoints).map(|e| e.success).collect();
        same(&format!("{name}: calls by server"), &told, &mine)?;
        shown.push(format!("{name} {}/{}/{}", mine[0], mine[1], mine[2]));
        before = counts;
    }
    Ok(shown.join(", "))
}

/// Every server gets the call once.
pub(super) async fn broadcast(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).policy("broadcast").build()?;
    consumer.call("Who").raw(Body::protobuf("")).await?;
    same("calls by server", peers.counts("Who").await?, vec![1; 3])?;
    Ok("1/1/1".to_owned())
}

/// The first answer counts; the other servers learn that theirs is not wanted.
pub(super) async fn forking(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).policy("forking").set("forks", "3").build()?;
    let call = tokio::spawn(consumer.call("Hold").raw(Body::protobuf("one of three")));
    for server in &peers.0 {
        server.expect("started").await?;
    }
    peers.0[1].release().await?;
    same("answer", call.await??.body.as_ref(), b"one of three")?;
    for loser in [0, 2] {
        peers.0[loser].expect("dropped").await?;
    }
    Ok("one answers, two see the end".to_owned())
}

/// Servers leave and join the list while calls are made; none fails, and who has left gets none.
pub(super) async fn list_changes(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let urls = peers.urls();
    let consumer = consumer(&urls[..2]).strategy("roundrobin").retries(0).build()?;
    let ports: Vec<u64> = peers.0.iter().map(|server| server.port).collect();
    let mut load = Load::on(&consumer);
    load.until(|tally| tally.of(ports[0]) >= 50 && tally.of(ports[1]) >= 50).await?;
    consumer.update(&urls[1..]).await?;
    load.until(|tally| tally.of(ports[2]) >= 100).await?;
    let tally = load.finish().await?;
    let left = peers.0[0].count("Who").await?;
    for _ in 0..100 {
        consumer.call("Who").raw(Body::protobuf("")).await?;
    }
    same("calls of the one that has left", peers.0[0].count("Who").await?, left)?;
    same("its answers and its calls", tally.of(ports[0]), left)?;
    Ok(format!("{} calls, none failed, no retry allowed", tally.total()))
}
