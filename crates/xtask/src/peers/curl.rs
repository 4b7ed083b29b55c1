//! Our server, curl: JSON over HTTP/1.1 and HTTP/2.

use std::process::Stdio;
use std::sync::Arc;

use anyhow::{Context, ensure};
use equipoise::protocol::tls::ServerTls;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::peers::cell::{Cell, Seen, cells, same};
use crate::peers::certificates::Authority;
use crate::peers::server::SERVICE;
use crate::peers::stage::Stage;
use crate::peers::temper::Ours;

/// The cells.
pub(crate) const CELLS: &[Cell] = cells![
    "curl: JSON over HTTP/1.1" => http1,
    "curl: JSON over HTTP/2" => http2,
    "curl: JSON over TLS" => tls,
    "curl: two calls on one connection" => keep_alive,
    "curl: errors as HTTP statuses" => errors,
    "curl: large bodies" => large,
];

const JSON: &str = "content-type: application/json";

/// What came back.
struct Answer {
    /// `version status` and whatever else was asked for.
    about: String,
    /// All headers as received.
    headers: String,
    body: Vec<u8>,
}

/// A call of `method` at our server.
fn url(scheme: &str, ours: &Ours, method: &str) -> String {
    format!("{scheme}://{}/{SERVICE}/{method}", ours.target())
}

/// Calls with a JSON document.
async fn curl(arguments: &[&str], body: &[u8]) -> anyhow::Result<Answer> {
    run(&[&["--header", JSON], arguments].concat(), body).await
}

/// Runs curl with the body at its stdin.
async fn run(arguments: &[&str], body: &[u8]) -> anyhow::Result<Answer> {
    let mut command = Command::new("curl");
    command
        // First of all: no settings of the user's.
        .args(["--disable", "--silent", "--show-error", "--noproxy", "*", "--max-time", "20"])
        .args(["--data-binary", "@-"])
        .args(["--dump-header", "-"])
        .args(["--write-out", "\n%{http_version} %{http_code} %{num_connects}"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn().context("curl cannot be started")?;
    let mut stdin = child.stdin.take().context("curl has no stdin")?;
    stdin.write_all(body).await?;
    drop(stdin);
    let output = child.wait_with_output().await?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "curl: {}: {}", output.status, errors.trim());
    cut(&output.stdout)
}

/// Cuts the last answer of an output into its parts.
fn cut(output: &[u8]) -> anyhow::Result<Answer> {
    let end = output.iter().rposition(|byte| *byte == b'\n').context("no last line")?;
    let (rest, about) = (&output[..end], &output[end + 1..]);
    // An interim answer (100) has a block of its own in front.
    let mut rest = rest;
    let mut headers = String::new();
    while rest.starts_with(b"HTTP/") {
        let blank =
            rest.windows(4).position(|at| at == b"\r\n\r\n").context("headers do not end")?;
        headers = String::from_utf8_lossy(&rest[..blank]).to_ascii_lowercase();
        rest = &rest[blank + 4..];
    }
    Ok(Answer { about: String::from_utf8_lossy(about).into_owned(), headers, body: rest.to_vec() })
}

/// Adds numbers and takes attachments there and back.
async fn add(arguments: &[&str], url: &str, version: &str) -> Seen {
    let answer = curl(&[arguments, &[url]].concat(), b"[20, 22]").await?;
    same("version, status, connections", answer.about.as_str(), &format!("{version} 200 1"))?;
    same("answer", answer.body.as_slice(), b"42")?;
    ensure!(answer.headers.contains("content-type: application/json"), "{}", answer.headers);
    let echo = url.replace("/Add", "/Echo");
    let text = ["--header", "X-Text: with spaces", "--header", "x-blob-bin: AP8=", &echo];
    let answer = curl(&[arguments, &text].concat(), "{\"é\": [null, 1.5]}".as_bytes()).await?;
    same("answer", serde_json::from_slice::<Value>(&answer.body)?, json!({ "é": [null, 1.5] }))?;
    for header in ["x-text: with spaces", "x-blob-bin: ap8"] {
        ensure!(answer.headers.contains(header), "no {header} in {}", answer.headers);
    }
    Ok(format!("HTTP/{version}: 42, attachments as headers"))
}

async fn http1(_: Arc<Stage>) -> Seen {
    let ours = Ours::serve(|server| server).await?;
    add(&["--http1.1"], &url("http", &ours, "Add"), "1.1").await
}

async fn http2(_: Arc<Stage>) -> Seen {
    let ours = Ours::serve(|server| server).await?;
    add(&["--http2-prior-knowledge"], &url("http", &ours, "Add"), "2").await
}

/// Our server with TLS, and the file that holds the certificate of its authority.
async fn secured(stage: &Stage) -> anyhow::Result<(Ours, String)> {
    let authority = Authority::new()?;
    let tls = ServerTls::new(authority.sign("127.0.0.1")?.identity(), None)?;
    let ours = Ours::serve(|server| server.tls(tls)).await?;
    let file = stage.log(&format!("authority-{}", ours.server.local_addr().port()));
    tokio::fs::write(&file, &authority.pem).await?;
    Ok((ours, file.to_str().context("a path that is no text")?.to_owned()))
}

/// Both versions, as agreed on during the handshake.
async fn tls(stage: Arc<Stage>) -> Seen {
    let (ours, authority) = secured(&stage).await?;
    let url = url("https", &ours, "Add");
    let one = add(&["--cacert", &authority, "--http1.1"], &url, "1.1").await?;
    let two = add(&["--cacert", &authority, "--http2"], &url, "2").await?;
    Ok(format!("{one}; {two}"))
}

/// A connection takes a second call, in both versions.
async fn keep_alive(stage: Arc<Stage>) -> Seen {
    let (ours, authority) = secured(&stage).await?;
    let url = url("https", &ours, "Add");
    // Over TLS, because curl 7.88 cannot use a connection of prior knowledge again.
    for version in ["--http1.1", "--http2"] {
        let answer = curl(&["--cacert", &authority, version, &url, &url], b"[1]").await?;
        ensure!(answer.about.ends_with("200 0"), "{version}: {}", answer.about);
    }
    Ok("HTTP/1.1 and HTTP/2".to_owned())
}

/// Errors have the HTTP status of their code, and a document that says the same.
async fn errors(_: Arc<Stage>) -> Seen {
    let ours = Ours::serve(|server| server).await?;
    let text = "用户不存在: é 😀 line1\nline2";
    let mut shown = Vec::new();
    for (code, status) in [("3", 400), ("5", 404), ("7", 403), ("8", 429), ("13", 500), ("14", 503)]
    {
        let header = format!("code: {code}");
        let arguments = ["--http1.1", "--header", &header, &url("http", &ours, "Fail")];
        let answer = curl(&arguments, json!(text).to_string().as_bytes()).await?;
        same(&header, answer.about.as_str(), &format!("1.1 {status} 1"))?;
        let document: Value = serde_json::from_slice(&answer.body)?;
        let wanted = json!({ "status": status.to_string(), "message": text });
        same("document", document, wanted)?;
        shown.push(format!("{code}: {status}"));
    }
    for (arguments, method, status) in [
        (vec!["--http1.1", "--header", JSON], "Missing", 404),
        (vec!["--http2-prior-knowledge", "--header", JSON], "Missing", 404),
        (vec!["--http1.1", "--header", "content-type: text/plain"], "Add", 415),
        (vec!["--http1.1", "--header", JSON, "--request", "PUT"], "Add", 405),
    ] {
        let url = url("http", &ours, method);
        let answer = run(&[arguments, vec![&url]].concat(), b"[]").await?;
        ensure!(answer.about.contains(&format!(" {status} ")), "{method}: {}", answer.about);
    }
    Ok(format!("{}; 404, 415, 405", shown.join(", ")))
}

/// A body that curl announces and waits with (100-continue), and one over the limit, answered
/// before it has been sent.
async fn large(_: Arc<Stage>) -> Seen {
    let ours = Ours::serve(|server| server.max_message_bytes(3_000_000)).await?;
    let url = url("http", &ours, "Echo");
    let document = |size: usize| format!("\"{}\"", "x".repeat(size - 2)).into_bytes();
    let mut seen = Vec::new();
    for version in ["--http1.1", "--http2-prior-knowledge"] {
        let body = document(2_000_000);
        let answer = curl(&[version, &url], &body).await?;
        ensure!(answer.body == body, "{version}: {} bytes came back", answer.body.len());
        seen.push(match curl(&[version, &url], &document(3_000_001)).await {
            Ok(answer) => {
                ensure!(answer.about.contains(" 413 "), "{version}: {}", answer.about);
                "413"
            }
            // curl 7.88 forgets a whole answer when RST_STREAM (NO_ERROR) follows it, against
            // RFC 9113, 8.1.
            Err(error) if version != "--http1.1" && error.to_string().contains("(92)") => {
                "413 that curl forgot"
            }
            Err(error) => return Err(error),
        });
    }
    Ok(format!("2 000 000 bytes; one over the limit: {}", seen.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interim_answer_is_not_the_answer() {
        let output = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: B\r\n\r\n1\n2\n1.1 200 1";
        let answer = cut(output).unwrap();
        assert_eq!(answer.about, "1.1 200 1");
        assert_eq!(answer.headers, "http/1.1 200 ok\r\na: b");
        assert_eq!(answer.body, b"1\n2");
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        assert!(cut(b"").is_err());
        assert!(cut(b"HTTP/2 200\r\n\n2 200 1").is_err());
    }
}
