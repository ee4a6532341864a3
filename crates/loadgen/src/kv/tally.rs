//! What a load on memcached counts beside what every load counts.

use std::collections::BTreeMap;

use serde::Serialize;

use super::CLASSES;
use crate::outcome::{Failure, Outcome};
use crate::stats::{Statistics, Tally};

/// Width of a bin of the histogram, s.
const BIN_S: f64 = 1e-4;
/// Bins up to 1 s; what is longer is in the overflow bin.
const BINS: usize = 10_000;

/// Times of one class, from send to the last byte, successes only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassSummary {
    pub ok: u64,
    pub failed: u64,
    pub latency: Statistics,
    pub p25_s: Option<f64>,
    pub p75_s: Option<f64>,
    pub histogram: Histogram,
}

/// Counts in bins of `bin_s`, as many as were needed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Histogram {
    pub bin_s: f64,
    pub counts: Vec<u64>,
    pub overflow: u64,
}

/// The memcached part of a summary.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KvSummary {
    /// Keys stored before the start, over all targets.
    pub populated: u64,
    /// Keys that successful gets asked for, and how many of them were there.
    pub keys_asked: u64,
    pub hits: u64,
    pub misses: u64,
    /// Answers that were not those of the request: wrong value, wrong key, wrong order.
    pub wrong: u64,
    pub bytes_read: u64,
    pub bytes_written: u64,
    /// Were values compared?
    pub verified: bool,
    pub classes: BTreeMap<&'static str, ClassSummary>,
}

struct Class {
    ok: u64,
    failed: u64,
    asked: u64,
    found: u64,
    bytes: u64,
    sent: Tally,
    bins: Vec<u64>,
    overflow: u64,
}

/// Adds up outcomes by class.
pub struct KvTally {
    classes: [Class; CLASSES.len()],
    wrong: u64,
    pub populated: u64,
    pub verified: bool,
}

impl Class {
    fn new() -> Class {
        let (sent, bins) = (Tally::new(), vec![0; BINS]);
        Class { ok: 0, failed: 0, asked: 0, found: 0, bytes: 0, sent, bins, overflow: 0 }
    }

    fn add(&mut self, outcome: &Outcome) {
        if outcome.failure != Failure::Ok {
            self.failed += 1;
            return;
        }
        self.ok += 1;
        self.asked += u64::from(outcome.asked);
        self.found += u64::from(outcome.status);
        self.bytes += outcome.bytes;
        let latency_s = outcome.done_s - outcome.request.sent_s;
        self.sent.add(latency_s);
        match self.bins.get_mut((latency_s / BIN_S).max(0.0) as usize) {
            Some(bin) => *bin += 1,
            None => self.overflow += 1,
        }
    }

    fn summary(&self) -> ClassSummary {
        let used = self.bins.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        ClassSummary {
            ok: self.ok,
            failed: self.failed,
            latency: self.sent.statistics(),
            p25_s: self.sent.quantile_s(0.25),
            p75_s: self.sent.quantile_s(0.75),
            histogram: Histogram {
                bin_s: BIN_S,
                counts: self.bins[..used].to_vec(),
                overflow: self.overflow,
            },
        }
    }
}

impl KvTally {
    pub fn new(populated: u64, verified: bool) -> KvTally {
        KvTally { classes: [(); CLASSES.len()].map(|()| Class::new()), wrong: 0, populated, verified }
    }

    pub fn add(&mut self, outcome: &Outcome) {
        self.wrong += u64::from(outcome.failure == Failure::Wrong);
        if let Some(class) = self.classes.get_mut(usize::from(outcome.class)) {
            class.add(outcome);
        }
    }

    pub fn summary(&self) -> KvSummary {
        let [set, gets @ ..] = &self.classes;
        let sum = |of: fn(&Class) -> u64| gets.iter().map(of).sum::<u64>();
        let (keys_asked, hits) = (sum(|class| class.asked), sum(|class| class.found));
        let seen = CLASSES.iter().zip(&self.classes).filter(|(_, class)| class.ok + class.failed > 0);
        KvSummary {
            populated: self.populated,
            keys_asked,
            hits,
            misses: keys_asked - hits,
            wrong: self.wrong,
            bytes_read: sum(|class| class.bytes),
            bytes_written: set.bytes,
            verified: self.verified,
            classes: seen.map(|(name, class)| (*name, class.summary())).collect(),
        }
    }
}
