//! The machine: cores, priorities, and what else was going on while something was measured. Linux
//! knows all of it; elsewhere nothing is pinned and nothing reported.

use std::fs;

use rustix::process::setpriority_process;
use rustix::thread::{CpuSet, sched_setaffinity};

/// Keeps this thread on one core and ahead of other programs, where that is allowed.
pub(crate) fn pin(core: usize) {
    let mut only = CpuSet::new();
    only.set(core);
    // A refusal leaves the times noisier, not wrong.
    let _ = sched_setaffinity(None, &only);
    prefer(-20);
}

/// Sets the priority of this thread: -20 is first, 19 last.
pub(crate) fn prefer(nice: i32) {
    let _ = setpriority_process(None, nice);
}

/// Puts the whole process ahead of other sessions, where they are scheduled in groups.
pub(crate) fn prefer_process() {
    let _ = rustix::process::setsid();
    let _ = fs::write("/proc/self/autogroup", "-20");
}

/// How often this thread was taken off its core against its will.
pub(crate) fn interruptions() -> u64 {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("nonvoluntary_ctxt_switches:"));
    line.and_then(|n| n.trim().parse().ok()).unwrap_or(0)
}

/// One line about processor, cores and load.
pub(crate) fn describe() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find(|l| l.starts_with("model name"));
    let model = model.and_then(|l| l.split(": ").nth(1)).unwrap_or("unknown processor");
    let family = |key: &str| {
        let line = info.lines().find(|l| l.split('\t').next() == Some(key));
        line.and_then(|l| l.split(": ").nth(1)).unwrap_or("?").to_owned()
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!(
        "{model} (family {}, model {}), {cores} cores, load average {}",
        family("cpu family"),
        family("model"),
        load()
    )
}

/// The load average of the last minute.
pub(crate) fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("?").to_owned()
}

/// Keeps every core from falling asleep, with a thread of the lowest priority each: to wake one
/// takes milliseconds on some virtual machines and would hide everything else.
#[cfg(feature = "rpc")]
pub(crate) fn keep_awake() {
    for core in 0..std::thread::available_parallelism().map_or(1, usize::from) {
        std::thread::spawn(move || {
            pin(core);
            prefer(19);
            loop {
                std::hint::spin_loop();
            }
        });
    }
}
