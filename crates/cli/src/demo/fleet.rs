//! The providers of the demo: processes of this very binary, started, killed and, whatever
//! happens, ended. Each one also ends by itself once its standard input closes, so that not even a
//! demo that is killed leaves any behind.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use equipoise::core::url::Url;

use super::plan::{DELAY, PAUSE, PAUSE_EVERY};

/// Longest time until a provider listens.
const START: Duration = Duration::from_secs(10);

/// What a provider is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    /// Answers in a few milliseconds.
    Steady,
    /// Stalls again and again, for the first time so much earlier than others.
    Slow(Duration),
    /// Has just started, and reaches its full weight after so long.
    Warming(Duration),
}

/// All providers. Dropping it kills them.
pub(crate) struct Fleet {
    cache: u32,
    members: Vec<Member>,
}

struct Member {
    role: Role,
    process: Process,
    url: Url,
}

impl Fleet {
    /// Starts a provider for each role, with a cache of so many keys.
    ///
    /// # Errors
    /// One that does not start.
    pub(crate) async fn start(roles: &[Role], cache: u32) -> anyhow::Result<Self> {
        // All are started before the first one is waited for.
        let mut started = Vec::new();
        for role in roles {
            started.push((*role, Process::start(*role, cache)?));
        }
        let mut fleet = Self { cache, members: Vec::new() };
        for (role, mut process) in started {
            let url = process.url().await?;
            fleet.members.push(Member { role, process, url });
        }
        Ok(fleet)
    }

    /// One more provider.
    ///
    /// # Errors
    /// It does not start.
    pub(crate) async fn join(&mut self, role: Role) -> anyhow::Result<Url> {
        let mut process = Process::start(role, self.cache)?;
        let url = process.url().await?;
        self.members.push(Member { role, process, url: url.clone() });
        Ok(url)
    }

    /// Ends the provider that joined last.
    pub(crate) fn part(&mut self) {
        self.members.pop();
    }

    /// URLs of all providers, as they printed them.
    pub(crate) fn urls(&self) -> Vec<Url> {
        self.members.iter().map(|m| m.url.clone()).collect()
    }

    /// Addresses of the slow ones.
    pub(crate) fn slow(&self) -> HashSet<String> {
        let slow = self.members.iter().filter(|m| matches!(m.role, Role::Slow(_)));
        slow.map(|m| m.url.address()).collect()
    }

    /// The provider whose death hurts most: a slow one where there is any, since calls pile up
    /// there.
    pub(crate) fn victim(&self) -> Option<Url> {
        let slow = self.members.iter().rev().find(|m| matches!(m.role, Role::Slow(_)));
        slow.or(self.members.last()).map(|m| m.url.clone())
    }

    /// Kills a provider on the spot (SIGKILL where there are signals).
    ///
    /// # Errors
    /// No such provider, or the operating system refuses.
    pub(crate) fn kill(&mut self, victim: &Url) -> anyhow::Result<()> {
        let member = self.members.iter_mut().find(|m| m.url == *victim);
        let member = member.with_context(|| format!("no provider {victim}"))?;
        member.process.child.kill().with_context(|| format!("killing {victim}"))
    }

    /// Puts a new provider of the same kind in the place of one.
    ///
    /// # Errors
    /// No such provider, or the new one does not start.
    pub(crate) async fn replace(&mut self, gone: &Url) -> anyhow::Result<()> {
        let place = self.members.iter().position(|m| m.url == *gone);
        let place = place.with_context(|| format!("no provider {gone}"))?;
        let role = self.members.get(place).map_or(Role::Steady, |m| m.role);
        self.join(role).await?;
        self.members.swap_remove(place);
        Ok(())
    }
}

/// A child process that ends with its owner.
struct Process {
    child: Child,
    /// Open for as long as the provider is to live.
    _stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
}

impl Process {
    fn start(role: Role, cache: u32) -> anyhow::Result<Self> {
        let binary = std::env::current_exe().context("where is this binary?")?;
        let mut command = Command::new(binary);
        command
            .args(["serve", "--port", "0", "--until-stdin-closes", "--threads", "1"])
            .args(["--delay", &ms(DELAY), "--cache", &cache.to_string()])
            // A log of theirs would fill the pipe that nobody reads.
            .env_remove("EQUIPOISE_LOG")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        match role {
            Role::Steady => {}
            Role::Slow(early) => {
                command.args(["--pause", &ms(PAUSE), "--pause-every", &ms(PAUSE_EVERY)]);
                command.args(["--pause-offset", &ms(early)]);
            }
            Role::Warming(time) => {
                command.args(["--warmup", &ms(time)]);
            }
        }
        // Ctrl-C is for the demo, which then ends them; not for each of them as well.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().context("starting a provider")?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        Ok(Self { child, _stdin: stdin, stdout })
    }

    /// The URL that the provider prints once it listens.
    async fn url(&mut self) -> anyhow::Result<Url> {
        let stdout = self.stdout.take().context("the provider has no standard output")?;
        let first_line = tokio::task::spawn_blocking(move || {
            let mut line = String::new();
            BufReader::new(stdout).read_line(&mut line).map(|_| line)
        });
        let Ok(line) = tokio::time::timeout(START, first_line).await else {
            bail!("a provider did not listen within {START:?}");
        };
        match line?? {
            line if line.is_empty() => Err(self.complaint()),
            line => Url::parse(&line).context("what a provider printed first"),
        }
    }

    /// Why it ended before it had begun.
    fn complaint(&mut self) -> anyhow::Error {
        let mut said = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            // What can be read is better than nothing.
            let _ = stderr.read_to_string(&mut said);
        }
        anyhow!("a provider did not start: {}", said.trim())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // An error means that it has ended already, which is all we want.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ms(time: Duration) -> String {
    time.as_millis().to_string()
}
