//! How a contender is timed: batches of about a millisecond, alone and with two threads on two
//! cores, one contender after another in every round, so that whatever else the machine does meets
//! all of them alike. The loop is compiled for each contender; nothing in it is a dynamic call.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed},
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use crate::world::{KEYS, Key, keys};
use crate::{alloc, machine};

/// Calls that each thread keeps in flight: the oldest ends when the next has started.
pub(crate) const IN_FLIGHT: usize = 16;

/// Something that picks.
pub(crate) trait Contender: Send + Sync + 'static {
    /// What one thread keeps: a generator, a snapshot.
    type Local: Send + 'static;
    /// What a pick hands out, held until the call ends.
    type Held: Send + 'static;

    /// The state of a thread.
    fn local(&self) -> Self::Local;
    /// Picks, and counts in where that is part of it.
    fn pick(&self, local: &mut Self::Local, key: Key) -> Self::Held;
    /// Ends the call.
    fn end(&self, local: &mut Self::Local, held: Self::Held) {
        let _ = (local, held);
    }
    /// Which provider was picked. Not timed.
    fn provider(&self, held: &Self::Held) -> usize;
}

/// A contender that is one function of the key, without state per thread.
pub(crate) struct Function<F>(pub(crate) F);

impl<F: Fn(Key) -> usize + Send + Sync + 'static> Contender for Function<F> {
    type Local = ();
    type Held = usize;

    fn local(&self) {}

    #[inline(always)]
    fn pick(&self, (): &mut (), key: Key) -> usize {
        (self.0)(key)
    }

    fn provider(&self, held: &usize) -> usize {
        *held
    }
}

/// One batch on one thread.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sample {
    pub(crate) nanos: u64,
    pub(crate) picks: u64,
    pub(crate) allocations: u64,
    /// The thread lost its core meanwhile: the time says little.
    pub(crate) disturbed: bool,
}

impl Sample {
    pub(crate) fn per_pick(&self) -> f64 {
        self.nanos as f64 / self.picks as f64
    }
}

/// Starts threads together and stops them together.
pub(crate) struct Gate {
    missing: AtomicU32,
    stop: AtomicBool,
}

impl Gate {
    fn of(threads: u32) -> Arc<Self> {
        Arc::new(Self { missing: AtomicU32::new(threads), stop: AtomicBool::new(false) })
    }

    fn pass(&self) {
        self.missing.fetch_sub(1, AcqRel);
        while self.missing.load(Acquire) > 0 {
            spin_loop();
        }
    }
}

/// A contender, with its type forgotten.
pub(crate) trait Timed: Send + Sync {
    /// One batch as thread 0 or 1.
    fn batch(&self, thread: usize, picks: u64, gate: &Gate) -> Sample;
    /// Picks in sequence, until there are `picks` or the time is up, handing each provider to
    /// `seen` with the key.
    fn watch(&self, picks: usize, until: Instant, seen: &mut dyn FnMut(Key, usize));
}

/// What one thread needs, on cache lines of its own.
#[repr(align(128))]
struct Lane<C: Contender> {
    local: C::Local,
    held: [Option<C::Held>; IN_FLIGHT],
    at: usize,
}

/// A contender and its two lanes.
pub(crate) struct Course<C: Contender> {
    contender: C,
    lanes: [Mutex<Option<Lane<C>>>; 2],
}

impl<C: Contender> Course<C> {
    pub(crate) fn new(contender: C) -> Self {
        Self { contender, lanes: Default::default() }
    }

    fn lane(&self, thread: usize) -> (MutexGuard<'_, Option<Lane<C>>>, Lane<C>) {
        let mut place = self.lanes[thread].lock().unwrap_or_else(PoisonError::into_inner);
        let lane = place.take().unwrap_or_else(|| Lane {
            local: self.contender.local(),
            held: [const { None }; IN_FLIGHT],
            at: thread * KEYS / 2,
        });
        (place, lane)
    }

    #[inline(always)]
    fn step(&self, lane: &mut Lane<C>, key: Key) {
        let held = self.contender.pick(&mut lane.local, key);
        let place = black_box(&mut lane.held[lane.at % IN_FLIGHT]);
        lane.at += 1;
        if let Some(oldest) = place.replace(held) {
            self.contender.end(&mut lane.local, oldest);
        }
    }
}

impl<C: Contender> Timed for Course<C> {
    fn batch(&self, thread: usize, picks: u64, gate: &Gate) -> Sample {
        // On this thread's stack while it runs.
        let (mut place, mut lane) = self.lane(thread);
        let keys: &[Key; KEYS] = keys().try_into().expect("as many keys as there are");
        let chunk = (picks / 64).clamp(1, 64);
        // Untimed: what others have put into the caches meanwhile must go first.
        for _ in 0..picks / 2 {
            let key = keys[lane.at % KEYS];
            self.step(&mut lane, key);
        }
        let mut done = 0;
        let interrupted = machine::interruptions();
        gate.pass();
        let allocated = alloc::here();
        let start = Instant::now();
        while done < picks && !gate.stop.load(Relaxed) {
            for _ in 0..chunk {
                let key = keys[lane.at % KEYS];
                self.step(&mut lane, key);
            }
            done += chunk;
        }
        let nanos = start.elapsed().as_nanos() as u64;
        gate.stop.store(true, Relaxed);
        let allocations = alloc::here() - allocated;
        let disturbed = machine::interruptions() != interrupted;
        *place = Some(lane);
        Sample { nanos, picks: done, allocations, disturbed }
    }

    fn watch(&self, picks: usize, until: Instant, seen: &mut dyn FnMut(Key, usize)) {
        let (mut place, mut lane) = self.lane(0);
        for i in 0..picks {
            if i % 16 == 0 && Instant::now() > until {
                break;
            }
            let key = keys()[i % KEYS];
            let held = self.contender.pick(&mut lane.local, key);
            seen(key, self.contender.provider(&held));
            let oldest = lane.held[lane.at % IN_FLIGHT].replace(held);
            lane.at += 1;
            if let Some(oldest) = oldest {
                self.contender.end(&mut lane.local, oldest);
            }
        }
        *place = Some(lane);
    }
}

/// The second thread. It waits by spinning while two threads are measured: to wake a sleeping core
/// takes milliseconds on some virtual machines.
pub(crate) struct Second {
    jobs: mpsc::Sender<Job>,
    samples: mpsc::Receiver<Sample>,
}

enum Job {
    Awake(bool),
    Run(Arc<dyn Timed>, u64, Arc<Gate>),
}

impl Second {
    pub(crate) fn start() -> Self {
        let (jobs, inbox) = mpsc::channel();
        let (outbox, samples) = mpsc::channel();
        std::thread::spawn(move || {
            machine::pin(1);
            let mut awake = false;
            while let Some(job) = receive(&inbox, awake) {
                match job {
                    Job::Awake(yes) => awake = yes,
                    Job::Run(timed, picks, gate) => {
                        let sample = timed.batch(1, picks, &gate);
                        drop(timed);
                        if outbox.send(sample).is_err() {
                            return;
                        }
                    }
                }
            }
        });
        Self { jobs, samples }
    }

    /// Whether to wait for work by spinning.
    pub(crate) fn awake(&self, yes: bool) {
        let _ = self.jobs.send(Job::Awake(yes));
    }
}

fn receive<T>(inbox: &mpsc::Receiver<T>, spinning: bool) -> Option<T> {
    if !spinning {
        return inbox.recv().ok();
    }
    loop {
        match inbox.try_recv() {
            Ok(it) => return Some(it),
            Err(mpsc::TryRecvError::Disconnected) => return None,
            Err(mpsc::TryRecvError::Empty) => spin_loop(),
        }
    }
}

/// One batch on this thread alone.
pub(crate) fn alone(timed: &Arc<dyn Timed>, picks: u64) -> Sample {
    timed.batch(0, picks, &Gate::of(1))
}

/// One batch on both threads at once.
pub(crate) fn both(timed: &Arc<dyn Timed>, picks: u64, second: &Second) -> [Sample; 2] {
    let gate = Gate::of(2);
    let job = Job::Run(timed.clone(), picks, gate.clone());
    second.jobs.send(job).expect("the second thread runs until the end");
    let first = timed.batch(0, picks, &gate);
    let other = receive(&second.samples, true).expect("the second thread runs until the end");
    [first, other]
}

/// How many picks make a batch of about `length`: grown step by step, since contention shows only
/// when batches are long enough to overlap.
pub(crate) fn fitting(length: Duration, mut run: impl FnMut(u64) -> Sample) -> u64 {
    let want = length.as_nanos() as f64;
    let mut picks = 16_u64;
    loop {
        // The better of two: one may have been disturbed.
        let took = run(picks).nanos.min(run(picks).nanos).max(1) as f64;
        if took > want / 2.0 || picks > 1 << 23 {
            return ((picks as f64 * want / took) as u64).clamp(4, 1 << 24);
        }
        picks = (picks as f64 * (want / took).clamp(1.5, 6.0)) as u64;
    }
}

/// Repeats a batch that lost its core, a few times at most.
pub(crate) fn undisturbed<const N: usize>(mut run: impl FnMut() -> [Sample; N]) -> [Sample; N] {
    let mut samples = run();
    for _ in 0..3 {
        if samples.iter().all(|s| !s.disturbed) {
            break;
        }
        samples = run();
    }
    samples
}
