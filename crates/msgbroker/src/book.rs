//! What was done: counts, times by phase, and a row for each request where a log is kept.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hdrhistogram::Histogram;

use crate::operation::{Kind, KINDS};
use sojourn_record::clock::s;
use sojourn_serving::cpu;
use sojourn_serving::times::{histogram, record};

/// Times of a request, in their order, and the whole.
pub(crate) const PHASES: [&str; 6] = ["dispatch", "parse", "wait", "database", "respond", "response"];

/// When a request came to each point, ns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stamps {
    /// Read by the dispatcher.
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

impl Stamps {
    /// Lengths of the phases, ns, in the order of `PHASES`.
    pub fn phases(&self) -> [u64; 6] {
        let points = [self.received, self.taken, self.parsed, self.connected, self.answered, self.done];
        let between = |i: usize| points[i + 1].saturating_sub(points[i]);
        [between(0), between(1), between(2), between(3), between(4), self.done.saturating_sub(self.received)]
    }
}

/// One request that was served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    pub stamps: Stamps,
    pub kind: Kind,
    pub status: u16,
    /// Of the message put or taken.
    pub bytes: u32,
    pub worker: u16,
    /// Requests that shared its statement.
    pub batch: u16,
    /// Its client had gone.
    pub gone: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub kinds: [u64; KINDS.len()],
    pub statuses: BTreeMap<u16, u64>,
    pub sums_ns: [u64; PHASES.len()],
    pub histograms: Vec<Histogram<u64>>,
    pub abandoned: u64,
    /// CPU time of threads that have ended, s.
    pub cpu_s: BTreeMap<String, f64>,
    keeps_rows: bool,
    rows: Vec<Done>,
}

/// All threads write into one page: a lock of a fraction of a µs for each request.
#[derive(Debug)]
pub(crate) struct Book(Mutex<Page>);

impl Book {
    pub fn new(keeps_rows: bool) -> Self {
        Self(Mutex::new(Page {
            kinds: [0; KINDS.len()],
            statuses: BTreeMap::new(),
            sums_ns: [0; PHASES.len()],
            histograms: PHASES.iter().map(|_| histogram()).collect(),
            abandoned: 0,
            cpu_s: BTreeMap::new(),
            keeps_rows,
            rows: Vec::new(),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Page> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn done(&self, all: &[Done]) {
        let mut page = self.lock();
        for done in all {
            page.add(done);
        }
    }

    /// A request that no worker was needed for.
    pub fn refused(&self, status: u16) {
        let mut page = self.lock();
        page.kinds[Kind::Refused as usize] += 1;
        *page.statuses.entry(status).or_default() += 1;
    }

    /// To be called by a thread before it ends: afterwards /proc knows it no more.
    pub fn thread_ends(&self, name: String) {
        let cpu_s = cpu::own_ns().map_or(0.0, s);
        self.lock().cpu_s.insert(name, cpu_s);
    }

    pub fn take_rows(&self) -> Vec<Done> {
        std::mem::take(&mut self.lock().rows)
    }

    pub fn completions(&self) -> u64 {
        self.lock().kinds.iter().sum()
    }

    /// A copy, without rows.
    pub fn page(&self) -> Page {
        let mut page = self.lock();
        let rows = std::mem::take(&mut page.rows);
        let copy = page.clone();
        page.rows = rows;
        copy
    }
}

impl Page {
    fn add(&mut self, done: &Done) {
        self.kinds[done.kind as usize] += 1;
        self.abandoned += u64::from(done.gone);
        *self.statuses.entry(done.status).or_default() += 1;
        for (phase, ns) in done.stamps.phases().into_iter().enumerate() {
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
    s(cpu::of_all_ns())
}
