//! What was done: counts, times by phase, and a row for each request where a log is kept.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hdrhistogram::Histogram;

use crate::operation::{OperationKind, KINDS};
use sojourn_record::clock::s;
use sojourn_serving::thread_cpu_time;
use sojourn_serving::time_histogram::{histogram, record};

/// Times of a request, in their order, and the whole.
pub(crate) const PHASES: [&str; 6] = ["dispatch", "parse", "wait", "database", "respond", "response"];

/// When a request came to each point, ns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timestamps {
    /// Read by the event loop.
    pub received: u64,
    /// Taken up by a worker.
    pub taken: u64,
    pub parsed: u64,
    /// It had a connection to the database.
    pub connected: u64,
    /// The database had answered.
    pub answered: u64,
    /// The answer was handed to the kernel, or kept for a client that is slow to take it.
    pub done: u64,
}

impl Timestamps {
    /// Lengths of the phases, ns, in the order of `PHASES`.
    pub fn phases(&self) -> [u64; 6] {
        let points = [self.received, self.taken, self.parsed, self.connected, self.answered, self.done];
        let between = |i: usize| points[i + 1].saturating_sub(points[i]);
        [between(0), between(1), between(2), between(3), between(4), self.done.saturating_sub(self.received)]
    }
}

/// One request that was served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompletedRequest {
    pub timestamps: Timestamps,
    pub kind: OperationKind,
    pub status: u16,
    /// Of the message put or taken.
    pub bytes: u32,
    pub worker: u16,
    /// Requests that shared its statement.
    pub batch: u16,
    /// Its client had gone.
    pub gone: bool,
}

/// Of one thread, or of all.
#[derive(Debug)]
pub(crate) struct StatsSnapshot {
    pub kinds: [u64; KINDS.len()],
    pub statuses: BTreeMap<u16, u64>,
    pub sums_ns: [u64; PHASES.len()],
    pub histograms: Vec<Histogram<u64>>,
    pub abandoned: u64,
    /// CPU time of threads that have ended, s.
    pub cpu_s: BTreeMap<String, f64>,
    keeps_rows: bool,
    rows: Vec<CompletedRequest>,
}

/// Threads that have statistics of their own; of more workers, some share them.
const WRITERS: usize = 16;

/// Each worker has its own, so that none waits for another; who asks for all of them adds them up.
#[derive(Debug)]
pub(crate) struct Stats(Vec<Mutex<StatsSnapshot>>);

impl Stats {
    pub fn new(writers: usize, keeps_rows: bool) -> Self {
        let one = |_| Mutex::new(StatsSnapshot::new(keeps_rows));
        Self((0..writers.clamp(1, WRITERS)).map(one).collect())
    }

    fn lock(one: &Mutex<StatsSnapshot>) -> MutexGuard<'_, StatsSnapshot> {
        one.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn first(&self) -> MutexGuard<'_, StatsSnapshot> {
        Self::lock(&self.0[0])
    }

    /// Requests that one worker served.
    pub fn done(&self, all: &[CompletedRequest]) {
        let Some(first) = all.first() else { return };
        let mut own = Self::lock(&self.0[usize::from(first.worker) % self.0.len()]);
        for done in all {
            own.add(done);
        }
    }

    /// A request that no worker was needed for.
    pub fn refused(&self, status: u16) {
        let mut first = self.first();
        first.kinds[OperationKind::Refused as usize] += 1;
        *first.statuses.entry(status).or_default() += 1;
    }

    /// To be called by a thread before it ends: afterwards /proc knows it no more.
    pub fn thread_ends(&self, name: String) {
        let cpu_s = thread_cpu_time::own_ns().map_or(0.0, s);
        self.first().cpu_s.insert(name, cpu_s);
    }

    /// In the order in which they were done.
    pub fn take_rows(&self) -> Vec<CompletedRequest> {
        let mut rows: Vec<_> =
            self.0.iter().flat_map(|one| std::mem::take(&mut Self::lock(one).rows)).collect();
        rows.sort_by_key(|row| row.timestamps.done);
        rows
    }

    pub fn completions(&self) -> u64 {
        self.0.iter().map(|one| Self::lock(one).kinds.iter().sum::<u64>()).sum()
    }

    /// All of them, without rows.
    pub fn snapshot(&self) -> StatsSnapshot {
        let mut all = StatsSnapshot::new(false);
        self.0.iter().for_each(|one| all.merge(&Self::lock(one)));
        all
    }
}

impl StatsSnapshot {
    fn new(keeps_rows: bool) -> Self {
        Self {
            kinds: [0; KINDS.len()],
            statuses: BTreeMap::new(),
            sums_ns: [0; PHASES.len()],
            histograms: PHASES.iter().map(|_| histogram()).collect(),
            abandoned: 0,
            cpu_s: BTreeMap::new(),
            keeps_rows,
            rows: Vec::new(),
        }
    }

    /// Adds another's, but for its rows.
    fn merge(&mut self, other: &Self) {
        for (all, one) in self.kinds.iter_mut().zip(other.kinds) {
            *all += one;
        }
        for (all, one) in self.sums_ns.iter_mut().zip(other.sums_ns) {
            *all += one;
        }
        for (status, count) in &other.statuses {
            *self.statuses.entry(*status).or_default() += count;
        }
        for (all, one) in self.histograms.iter_mut().zip(&other.histograms) {
            // Of the same bounds: it cannot be refused.
            let _ = all.add(one);
        }
        self.abandoned += other.abandoned;
        self.cpu_s.extend(other.cpu_s.iter().map(|(name, cpu_s)| (name.clone(), *cpu_s)));
    }

    fn add(&mut self, done: &CompletedRequest) {
        self.kinds[done.kind as usize] += 1;
        self.abandoned += u64::from(done.gone);
        *self.statuses.entry(done.status).or_default() += 1;
        for (phase, ns) in done.timestamps.phases().into_iter().enumerate() {
            self.sums_ns[phase] += ns;
            record(&mut self.histograms[phase], ns);
        }
        if self.keeps_rows {
            self.rows.push(*done);
        }
    }
}

/// CPU time of all threads of this process that live, s.
pub(crate) fn process_cpu_s() -> f64 {
    s(thread_cpu_time::of_all_ns())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_workers_did_adds_up_in_the_order_in_which_it_was_done() {
        let stats = Stats::new(40, true);
        for worker in (0..40).rev() {
            let timestamps = Timestamps { done: u64::from(worker), ..Timestamps::default() };
            let (kind, status, bytes, batch) = (OperationKind::Put, 201, 1, 1);
            stats.done(&[CompletedRequest {
                timestamps,
                kind,
                status,
                bytes,
                worker,
                batch,
                gone: worker == 7,
            }]);
        }
        stats.refused(503);
        let all = stats.snapshot();
        assert_eq!(
            (
                all.kinds[OperationKind::Put as usize],
                all.kinds[OperationKind::Refused as usize],
                all.abandoned
            ),
            (40, 1, 1)
        );
        assert_eq!((all.statuses[&201], all.statuses[&503], stats.completions()), (40, 1, 41));
        // 0 to 39 ns.
        assert_eq!((all.histograms[5].len(), all.sums_ns[5]), (40, 780));
        let rows = stats.take_rows();
        assert!(rows.len() == 40 && rows.is_sorted_by_key(|row| row.timestamps.done));
        assert!(stats.take_rows().is_empty());
    }
}
