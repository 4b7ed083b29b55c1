//! `equipoise call`: calls a provider, through any strategy and policy, and says who served. What
//! it knows about providers and attempts it reads from the consumer's own report.

mod grammar;
mod print;
mod served;

use std::time::{Duration, Instant};

use bytes::Bytes;
use clap::Args;
use equipoise::client::CallBuilder;
use equipoise::core::url::Url;
use equipoise::protocol;
use equipoise::{Body, CallError, Consumer, Reply};

use crate::failure::usage;
use crate::options::{self, Settings};

use grammar::Target;
use served::Counts;

/// Calls a service and prints the result, the provider that served and the attempts it took.
///
/// With a URL that has a path, the path is the service: call URL METHOD [TYPES] JSON. Without one:
/// call URL[,URL...] SERVICE METHOD [TYPES] JSON.
#[derive(Debug, Args)]
#[command(
    override_usage = "equipoise call [OPTIONS] <URL> <METHOD> [TYPES] <JSON>\n       \
                      equipoise call [OPTIONS] <URL[,URL...]> <SERVICE> <METHOD> [TYPES] <JSON>",
    after_help = "Examples:\n  \
                  equipoise call tri://127.0.0.1:50051/equipoise.Demo echo '[\"hello\"]'\n  \
                  equipoise call 'dubbo://10.9.0.1:20880/com.acme.Stock?group=g&version=1.0' \
                  reserve java.lang.String,int '[\"s1\",2]'"
)]
pub(crate) struct CallArgs {
    /// Providers: addresses with parameters, and with the service as path where it is not given
    /// as a word of its own. `group` and `version` are read from the parameters.
    #[arg(value_name = "URL")]
    urls: String,
    /// Service (unless the URL has a path), method, Java types of the parameters (dubbo needs them
    /// where a method has overloads, tri with --generic), and the arguments as one JSON document:
    /// an array is the list of arguments.
    #[arg(value_name = "[SERVICE] METHOD [TYPES] JSON", allow_negative_numbers = true)]
    words: Vec<String>,
    /// Java types of the parameters, such as java.lang.String,int.
    #[arg(long)]
    types: Option<String>,
    /// Over tri, sends the arguments as Java values ($invoke) and not as JSON. Over dubbo they
    /// always are.
    #[arg(long)]
    generic: bool,
    /// Group of the service.
    #[arg(long)]
    group: Option<String>,
    /// Version of the service.
    #[arg(long)]
    version: Option<String>,
    /// Strategy.
    #[arg(long, value_name = "NAME", value_parser = options::strategies())]
    strategy: Option<String>,
    /// Cluster policy.
    #[arg(long, value_name = "NAME", value_parser = options::policies())]
    policy: Option<String>,
    /// Attempts after the first.
    #[arg(long, value_name = "N")]
    retries: Option<u32>,
    /// Time for one attempt, ms or with a unit.
    #[arg(long, value_name = "TIME", value_parser = options::positive_duration)]
    timeout: Option<Duration>,
    /// Time for all attempts of a call together, ms or with a unit.
    #[arg(long, value_name = "TIME", value_parser = options::positive_duration)]
    deadline: Option<Duration>,
    /// Tag of the call.
    #[arg(long)]
    tag: Option<String>,
    /// What keyed strategies hash, instead of the arguments.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    key: Option<String>,
    /// An attachment that travels with the call.
    #[arg(long = "attachment", value_name = "KEY=VALUE", value_parser = options::pair)]
    attachments: Vec<(String, String)>,
    /// A setting under its key in Dubbo URLs, such as hash.arguments=1.
    #[arg(long = "param", value_name = "KEY=VALUE", value_parser = options::setting)]
    params: Vec<(String, String)>,
    /// How many calls, one after the other.
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    calls: u32,
    /// One JSON document.
    #[arg(long)]
    json: bool,
}

/// One call that was made.
pub(crate) struct Made {
    pub(crate) result: Result<Reply, CallError>,
    pub(crate) elapsed: Duration,
    /// Who answered: one, or none, or several (`broadcast`).
    pub(crate) providers: Vec<String>,
    pub(crate) attempts: u64,
}

/// Runs the command.
pub(crate) fn run(args: &CallArgs) -> anyhow::Result<()> {
    let target = grammar::target(&args.urls, &args.words, args.types.as_deref())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let consumer = consumer(args, &target)?;
        let mut made = Vec::new();
        for _ in 0..args.calls {
            made.push(one(args, &consumer, &target).await);
        }
        let report = consumer.report();
        if args.json {
            print::json(&target, &made, &report)?;
        } else {
            print::text(&made, &report)?;
        }
        print::verdict(&made)
    })
}

fn consumer(args: &CallArgs, target: &Target) -> anyhow::Result<Consumer> {
    let settings = Settings::default()
        .params(&args.params)
        .option("--strategy", "loadbalance", args.strategy.clone())
        .option("--policy", "cluster", args.policy.clone())
        .option("--retries", "retries", args.retries.map(|n| n.to_string()))
        .option("--timeout", "timeout", args.timeout.map(options::written))
        .option("--deadline", "deadline", args.deadline.map(options::written));
    let of_urls = |key: &str| target.urls.iter().find_map(|u| u.param(key)).map(str::to_owned);
    let or_of_urls = |own: &Option<String>, key| own.clone().or_else(|| of_urls(key));
    equipoise::consumer(&target.service)
        .group(or_of_urls(&args.group, "group").unwrap_or_default())
        .version(or_of_urls(&args.version, "version").unwrap_or_default())
        .endpoints(target.urls.iter().map(ToString::to_string))
        .config(settings.0)
        .build()
        .map_err(|error| usage(error.to_string()).into())
}

async fn one(args: &CallArgs, consumer: &Consumer, target: &Target) -> Made {
    let before = Counts::of(&consumer.report());
    let started = Instant::now();
    let body = Bytes::from(target.json.clone().into_bytes());
    let mut call = prepared(args, consumer.call(&target.method));
    if let Some(types) = types(args, target) {
        call = call.types(types);
    }
    let result = call.raw(Body::json(body)).await;
    let elapsed = started.elapsed();
    let since = Counts::of(&consumer.report()).since(&before);
    // An error lists its attempts itself, those included whose provider has left the report.
    let attempts = match &result {
        Ok(_) => since.attempts(),
        Err(error) => error.attempts.iter().filter(|a| !a.address.is_empty()).count() as u64,
    };
    Made { providers: since.answered(), attempts, result, elapsed }
}

/// The Java types that travel with the call. A call of JSON over tri has none; giving it some makes
/// it a call of Java values.
fn types(args: &CallArgs, target: &Target) -> Option<String> {
    let dubbo = |url: &Url| protocol::lookup(&url.protocol).is_some_and(|p| p.scheme == "dubbo");
    let takes_types = args.generic || target.urls.iter().any(dubbo);
    let given = target.types.as_ref().map(|types| types.join(","));
    given.filter(|_| takes_types)
}

fn prepared(args: &CallArgs, call: CallBuilder) -> CallBuilder {
    let mut call = call;
    if let Some(key) = &args.key {
        call = call.key(key);
    }
    if let Some(tag) = &args.tag {
        call = call.tag(tag);
    }
    for (key, value) in &args.attachments {
        call = call.attachment(key, value);
    }
    call
}
