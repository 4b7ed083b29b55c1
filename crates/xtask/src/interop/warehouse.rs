//! Our provider of the protobuf service.

use std::sync::Arc;
use std::time::Duration;

use equipoise::Reply;
use equipoise::core::attachments::{AttachmentValue, Attachments};
use equipoise::core::service::ServiceKey;
use equipoise::protocol::{CallContext, RunningServer, Server, Status, code};
use prost::Message;

use crate::interop::messages::{Blob, Nap, Noted, Receipt, Reservation, Trouble, WAREHOUSE};
use crate::interop::stage::ours;

/// Serves it with options.
pub(super) async fn serve(options: impl FnOnce(Server) -> Server) -> anyhow::Result<RunningServer> {
    let server = Server::builder().service(ServiceKey::new(WAREHOUSE), Arc::new(answer));
    Ok(options(server).bind(&ours()).await?)
}

async fn answer(call: CallContext) -> Result<Reply, Status> {
    match call.method() {
        "Reserve" | "reserve" => {
            let wish: Reservation = read(&call)?;
            let text = format!("{} of {} {:?}", wish.amount, wish.sku, wish.tags);
            Ok(reply(&Receipt { text, total: i64::from(wish.amount) }))
        }
        "Fail" | "fail" => {
            let trouble: Trouble = read(&call)?;
            Err(Status::new(code::FAILED_PRECONDITION, trouble.message))
        }
        "Sleep" | "sleep" => {
            let nap: Nap = read(&call)?;
            // What the method is for: the peer's timeout is what the cell looks at.
            tokio::time::sleep(Duration::from_millis(nap.millis.unsigned_abs())).await;
            Ok(reply(&Receipt { text: "slept".to_owned(), total: nap.millis }))
        }
        "Blob" | "blob" => Ok(reply(&read::<Blob>(&call)?)),
        "Attachments" | "attachments" => attachments(&call),
        other => Err(Status::unknown_method(WAREHOUSE, other)),
    }
}

fn attachments(call: &CallContext) -> Result<Reply, Status> {
    let asked: Trouble = read(call)?;
    let text = |value: &AttachmentValue| match value {
        AttachmentValue::Text(text) => text.to_string(),
        AttachmentValue::Binary(bytes) => format!("{bytes:?}"),
    };
    let seen = call.attachments.iter().map(|(key, value)| (key.to_string(), text(value))).collect();
    let mut reply = reply(&Noted { attachments: seen });
    reply.attachments.set(format!("{}-reply", asked.kind), asked.message);
    Ok(reply)
}

fn read<M: Message + Default>(call: &CallContext) -> Result<M, Status> {
    M::decode(call.body.clone()).map_err(|e| Status::new(code::INVALID_ARGUMENT, e.to_string()))
}

fn reply(message: &impl Message) -> Reply {
    Reply { body: message.encode_to_vec().into(), attachments: Attachments::new() }
}
