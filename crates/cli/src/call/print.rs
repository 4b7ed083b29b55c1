//! What `equipoise call` prints: the result, who served, and how it failed.

use anyhow::bail;
use equipoise::core::attachments::AttachmentValue;
use equipoise::{CallError, Reply, Report};
use serde_json::{Map, Value, json};

use super::Made;
use super::grammar::Target;
use crate::failure::one_line;
use crate::output::{self, Column, Width};

/// For people: the results, then who served; with several calls a table of providers.
pub(crate) fn text(made: &[Made], report: &Report) -> anyhow::Result<()> {
    for one in made {
        if let Ok(reply) = &one.result {
            output::lines([result_text(reply)])?;
        }
    }
    match made {
        [one] if one.result.is_ok() => output::lines([String::new(), line(one)])?,
        [_] => {}
        _ => {
            output::lines([String::new()])?;
            output::lines(providers(report))?;
        }
    }
    Ok(())
}

/// One document: of the one call, or of all calls and providers.
pub(crate) fn json(target: &Target, made: &[Made], report: &Report) -> anyhow::Result<()> {
    let mut document = Map::new();
    document.insert("service".to_owned(), json!(report.service));
    document.insert("method".to_owned(), json!(target.method));
    match made {
        [one] => document.extend(call_json(one)),
        _ => {
            let calls: Vec<Value> = made.iter().map(|one| Value::Object(call_json(one))).collect();
            document.insert("calls".to_owned(), Value::Array(calls));
            document.insert("report".to_owned(), serde_json::to_value(report)?);
        }
    }
    Ok(output::json(&document)?)
}

/// Whether the command succeeded: all calls did.
pub(crate) fn verdict(made: &[Made]) -> anyhow::Result<()> {
    let mut failed = made.iter().filter_map(|one| one.result.as_ref().err());
    match (failed.next(), failed.count() + 1) {
        (None, _) => Ok(()),
        (Some(error), _) if made.len() == 1 => bail!("{error}"),
        (Some(first), count) => bail!("{count} of {} calls failed; the first: {first}", made.len()),
    }
}

fn result_text(reply: &Reply) -> String {
    match serde_json::from_slice::<Value>(&reply.body) {
        Ok(value) => format!("{value:#}"),
        Err(_) => String::from_utf8_lossy(&reply.body).into_owned(),
    }
}

fn line(one: &Made) -> String {
    let by = match one.providers.as_slice() {
        [] => "nobody".to_owned(),
        all => all.join(", "),
    };
    let attempts = match one.attempts {
        1 => "1 attempt".to_owned(),
        n => format!("{n} attempts"),
    };
    format!("served by {by} in {:.1} ms, {attempts}", one.elapsed.as_secs_f64() * 1000.0)
}

fn call_json(one: &Made) -> Map<String, Value> {
    let mut call = Map::new();
    match &one.result {
        Ok(reply) => {
            call.insert("result".to_owned(), result_json(reply));
            call.insert("attachments".to_owned(), attachments(reply));
        }
        Err(error) => call.extend(error_json(error)),
    }
    let provider = match one.providers.as_slice() {
        [only] => json!(only),
        _ => Value::Null,
    };
    call.insert("provider".to_owned(), provider);
    if one.providers.len() > 1 {
        call.insert("providers".to_owned(), json!(one.providers));
    }
    call.insert("attempts".to_owned(), json!(one.attempts));
    call.insert("elapsed_ms".to_owned(), json!(one.elapsed.as_secs_f64() * 1000.0));
    call
}

fn result_json(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&reply.body).into_owned()))
}

fn attachments(reply: &Reply) -> Value {
    let text = |(key, value): (&str, &AttachmentValue)| {
        let value = match value {
            AttachmentValue::Text(text) => json!(text),
            AttachmentValue::Binary(bytes) => json!(bytes.to_vec()),
        };
        (key.to_owned(), value)
    };
    Value::Object(reply.attachments.iter().map(text).collect())
}

fn error_json(error: &CallError) -> Map<String, Value> {
    let failed: Vec<Value> = error
        .attempts
        .iter()
        .map(|a| {
            json!({
                "address": a.address,
                "elapsed_ms": a.elapsed.as_secs_f64() * 1000.0,
                "kind": a.failure.kind.name(),
                "status": a.failure.status,
                "message": a.failure.message,
            })
        })
        .collect();
    let mut map = Map::new();
    map.insert("error".to_owned(), json!(one_line(&error.failure.message)));
    map.insert("kind".to_owned(), json!(error.failure.kind.name()));
    map.insert("status".to_owned(), json!(error.failure.status));
    map.insert("failed_attempts".to_owned(), Value::Array(failed));
    map
}

/// A table of providers, from the consumer's report.
fn providers(report: &Report) -> Vec<String> {
    let columns = [
        Column::Name("PROVIDER"),
        Column::Number("ATTEMPTS"),
        Column::Number("SHARE"),
        Column::Number("MEAN MS"),
        Column::Number("P99 MS"),
        Column::Number("ERRORS"),
    ];
    let rows: Vec<Vec<String>> = report
        .methods
        .iter()
        .flat_map(|method| &method.endpoints)
        .map(|e| {
            vec![
                e.address.clone(),
                e.picks.to_string(),
                output::percent(e.share),
                output::ms(e.mean_ms),
                output::ms(e.p99_ms),
                output::percent(e.error_rate),
            ]
        })
        .collect();
    output::table(&columns, &rows, Width::of_stdout())
}
