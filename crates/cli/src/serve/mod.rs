//! `equipoise serve`: a provider to try things on. Prints its URL, answers until it is told to end,
//! then lets the calls in flight finish.

mod lru;
mod pauses;
mod provider;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use equipoise::SystemClock;
use equipoise::core::clock::Clock;
use equipoise::core::service::ServiceKey;
use equipoise::core::url::Url;
use equipoise::protocol::Server;
use tokio::sync::oneshot;

use crate::failure::usage;
use crate::options;
use crate::signals::Signals;

use pauses::Pauses;
use provider::Provider;
pub(crate) use provider::{CACHE, HIT};

/// Service of a provider that is given no other name.
pub(crate) const SERVICE: &str = "equipoise.Demo";

/// Runs a provider, and prints its URL once it listens.
///
/// It answers `echo` with its arguments after --delay, and `get` (a look-up by its first argument)
/// at once when the key is in its small cache, else after --delay. Health and reflection of gRPC
/// are on. It ends at Ctrl-C or SIGTERM, after the calls in flight.
#[derive(Debug, Args)]
#[command(after_help = "Example: equipoise serve --port 50051 --delay 5ms --weight 200")]
pub(crate) struct ServeArgs {
    /// Port; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Address to listen at.
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Service that is provided.
    #[arg(long, default_value = SERVICE)]
    service: String,
    /// Group of the service.
    #[arg(long, default_value = "")]
    group: String,
    /// Version of the service.
    #[arg(long, default_value = "", hide_default_value = true)]
    version: String,
    /// Time that an answer takes, ms or with a unit.
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = options::duration)]
    delay: Duration,
    /// Weight in the URL that is printed.
    #[arg(long, value_name = "N", default_value_t = 100,
          value_parser = clap::value_parser!(u32).range(0..=i64::from(i32::MAX)))]
    weight: u32,
    /// Puts the start time and this time to full weight into the URL that is printed.
    #[arg(long, value_name = "TIME", value_parser = options::positive_duration)]
    warmup: Option<Duration>,
    /// Share of calls (0 to 1) that are answered with the error UNAVAILABLE.
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = options::share)]
    error_rate: f64,
    /// Calls that are worked on at a time; further ones wait. Unlimited where it is not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    concurrency: Option<u32>,
    /// Keys that the cache of `get` holds.
    #[arg(long, value_name = "N", default_value_t = 64)]
    cache: usize,
    /// Stops the world for so long, again and again, as a garbage collector may.
    #[arg(long, value_name = "TIME", value_parser = options::positive_duration,
          requires = "pause_every")]
    pause: Option<Duration>,
    /// Time from the start of one pause to the start of the next.
    #[arg(long, value_name = "TIME", value_parser = options::positive_duration, requires = "pause")]
    pause_every: Option<Duration>,
    /// Brings the first pause forward by so much.
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = options::duration,
          requires = "pause")]
    pause_offset: Duration,
    /// Ends when standard input closes, so that it does not outlive whoever started it.
    #[arg(long)]
    until_stdin_closes: bool,
    /// Time that calls in flight have to finish at the end.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = options::duration)]
    grace: Duration,
    /// Worker threads; as many as there are processors where it is not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    threads: Option<u16>,
}

/// Runs the command.
pub(crate) fn run(args: &ServeArgs) -> anyhow::Result<()> {
    let mut runtime = match args.threads {
        Some(1) => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    if let Some(threads) = args.threads {
        runtime.worker_threads(usize::from(threads));
    }
    runtime.enable_all().build()?.block_on(serve(args))
}

async fn serve(args: &ServeArgs) -> anyhow::Result<()> {
    let pauses = match (args.pause, args.pause_every) {
        (Some(length), Some(every)) if length >= every => {
            bail!(usage("--pause must be shorter than --pause-every"));
        }
        (Some(length), Some(every)) => Some(Pauses::new(every, length, args.pause_offset)),
        _ => None,
    };
    let key = ServiceKey::new(&args.service).group(&args.group).version(&args.version);
    let provider = Provider::new(args.delay, args.error_rate)
        .concurrency(args.concurrency)
        .cache(args.cache)
        .pauses(pauses);
    let server = Server::builder()
        .service(key, Arc::new(provider))
        .health(true)
        .reflection(true)
        .bind((args.host.as_str(), args.port))
        .await
        .with_context(|| format!("--host {} --port {}", args.host, args.port))?;
    // Before the URL is known to anybody, so that whoever reads it may end us from then on.
    let mut signals = Signals::listen()?;
    announce(args, server.local_addr())?;
    tokio::select! {
        () = signals.asked_to_end() => {}
        () = stdin_closed(args.until_stdin_closes) => {}
    }
    tokio::select! {
        finished = server.shutdown(args.grace) => match finished {
            true => Ok(()),
            false => bail!("calls were still in flight after --grace and have been cut off"),
        },
        () = signals.asked_to_end() => Err(crate::failure::Interrupted.into()),
    }
}

/// Prints the URL under which consumers reach this provider: the one line on standard output.
fn announce(args: &ServeArgs, local: SocketAddr) -> io::Result<()> {
    let mut url = Url {
        protocol: "tri".to_owned(),
        host: local.ip().to_string(),
        port: local.port(),
        path: args.service.clone(),
        ..Url::default()
    };
    url.set("weight", &args.weight.to_string());
    for (key, value) in [("group", &args.group), ("version", &args.version)] {
        if !value.is_empty() {
            url.set(key, value);
        }
    }
    if let Some(warmup) = args.warmup {
        url.set("timestamp", &SystemClock::new().wall_ms().to_string());
        url.set("warmup", &warmup.as_millis().to_string());
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{url}")?;
    out.flush()
}

/// Resolves when standard input closes; never where nobody asked for that.
async fn stdin_closed(asked: bool) {
    if !asked {
        return std::future::pending().await;
    }
    let (closed, answer) = oneshot::channel();
    // A thread of its own: a read of standard input cannot be given up, and must not hold the
    // runtime when it ends for another reason.
    std::thread::spawn(move || {
        // Whatever it says, and also if it cannot be read: it has come to its end.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = closed.send(());
    });
    let _ = answer.await;
}
