//! The services that every server of ours offers, through the stubs of their own packages.

use std::sync::Arc;

use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet,
    MethodDescriptorProto, ServiceDescriptorProto,
};
use serde_json::json;

use crate::peers::cell::{Seen, same};
use crate::peers::client::PeerClient;
use crate::peers::server::SERVICE;
use crate::peers::serving::plain::pair;
use crate::peers::stage::Stage;
use crate::peers::temper::Ours;

/// `Check` of the server, of a service, of one that is out of order, and of a stranger.
pub(super) async fn health_check(stage: Arc<Stage>) -> Seen {
    let (ours, client) = pair(&stage).await?;
    let check = async |service: &str| {
        let answer = client.ask("check", json!({ "service": service })).await?;
        anyhow::Ok((answer["code"].as_i64(), answer["status"].as_str().map(str::to_owned)))
    };
    let serving = (Some(0), Some("SERVING".to_owned()));
    same("the server", check("").await?, serving.clone())?;
    same("the service", check(SERVICE).await?, serving.clone())?;
    same("a stranger", check("peers.Nobody").await?, (Some(5), None))?;
    ours.server.health().set(SERVICE, false);
    same("out of order", check(SERVICE).await?, (Some(0), Some("NOT_SERVING".to_owned())))?;
    same("the server", check("").await?, serving)?;
    Ok("SERVING, NOT_SERVING, status 5".to_owned())
}

/// `Watch` tells every change, also that the server ends.
pub(super) async fn health_watch(stage: Arc<Stage>) -> Seen {
    let (ours, client) = pair(&stage).await?;
    client.ask("watch", json!({ "service": SERVICE })).await?;
    let next = async || {
        let event = client.event().await?;
        anyhow::Ok(
            event["status"].as_str().map_or_else(|| event["code"].to_string(), str::to_owned),
        )
    };
    same("at first", next().await?.as_str(), "SERVING")?;
    ours.server.health().set(SERVICE, false);
    same("then", next().await?.as_str(), "NOT_SERVING")?;
    ours.server.health().set(SERVICE, true);
    same("then", next().await?.as_str(), "SERVING")?;
    ours.server.drain();
    same("at the end", next().await?.as_str(), "NOT_SERVING")?;
    same("status of the end", next().await?.as_str(), "14")?;
    Ok("SERVING, NOT_SERVING, SERVING, NOT_SERVING, status 14".to_owned())
}

/// Two files, one of which imports the other.
fn descriptors() -> Vec<u8> {
    let message = |name: &str| DescriptorProto {
        name: Some(name.to_owned()),
        field: vec![FieldDescriptorProto {
            name: Some("text".to_owned()),
            number: Some(1),
            r#type: Some(Type::String.into()),
            label: Some(Label::Optional.into()),
            ..Default::default()
        }],
        ..Default::default()
    };
    let file = |name: &str| FileDescriptorProto {
        name: Some(name.to_owned()),
        package: Some("peers".to_owned()),
        syntax: Some("proto3".to_owned()),
        ..Default::default()
    };
    let name =
        FileDescriptorProto { message_type: vec![message("Name")], ..file("peers/name.proto") };
    let greet = MethodDescriptorProto {
        name: Some("Greet".to_owned()),
        input_type: Some(".peers.Name".to_owned()),
        output_type: Some(".peers.Greeting".to_owned()),
        ..Default::default()
    };
    let temper = FileDescriptorProto {
        dependency: vec!["peers/name.proto".to_owned()],
        message_type: vec![message("Greeting")],
        service: vec![ServiceDescriptorProto {
            name: Some("Temper".to_owned()),
            method: vec![greet],
            ..Default::default()
        }],
        ..file("peers/temper.proto")
    };
    FileDescriptorSet { file: vec![temper, name] }.encode_to_vec()
}

/// A server that describes itself, and a Python client of it.
async fn described(stage: &Stage) -> anyhow::Result<(Ours, PeerClient)> {
    let ours = Ours::serve(|server| server.descriptors(descriptors())).await?;
    let client = PeerClient::start(stage, &ours.target(), json!({})).await?;
    Ok((ours, client))
}

/// Services are listed and files found, with what they import.
pub(super) async fn reflection(stage: Arc<Stage>) -> Seen {
    let (_ours, client) = described(&stage).await?;
    let listed = client.ask("services", json!({})).await?;
    for name in [SERVICE, "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"] {
        let services = listed["services"].as_array();
        anyhow::ensure!(
            services.is_some_and(|all| all.contains(&json!(name))),
            "{listed}: no {name}"
        );
    }
    let mut file = client.ask("file", json!({ "name": "peers/temper.proto" })).await?;
    file["id"].take();
    let wanted = json!({
        "found": true, "messages": ["Greeting"], "services": ["Temper"],
        "imports": ["peers/name.proto"], "id": null,
    });
    same("the file", &file, &wanted)?;
    let missing = client.ask("file", json!({ "name": "peers/nothing.proto" })).await?;
    same("a file that is not there", &missing["found"], &json!(false))?;
    Ok(listed["services"].to_string())
}

/// A client that knows nothing but the server's own description calls a method with its types.
pub(super) async fn typed_call(stage: Arc<Stage>) -> Seen {
    let (_ours, client) = described(&stage).await?;
    let command = json!({ "service": SERVICE, "method": "Greet", "fields": { "text": "Zoë 😀" } });
    let answer = client.ask("greet", command).await?;
    same("answer", &answer["fields"], &json!({ "text": "Hello, Zoë 😀" }))?;
    Ok(answer["fields"].to_string())
}
