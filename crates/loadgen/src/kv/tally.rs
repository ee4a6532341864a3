//! What a load on memcached counts beside what every load counts.

use std::collections::BTreeMap;

use serde::Serialize;

use super::CLASSES;
use crate::class_statistics::{ClassStatistics, ClassSummary};
use crate::request_outcome::{Failure, RequestOutcome};

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

/// Adds up outcomes by class.
pub struct KvTally {
    classes: [ClassStatistics; CLASSES.len()],
    wrong: u64,
    pub populated: u64,
    pub verified: bool,
}

impl KvTally {
    pub fn new(populated: u64, verified: bool) -> KvTally {
        KvTally {
            classes: [(); CLASSES.len()].map(|()| ClassStatistics::new()),
            wrong: 0,
            populated,
            verified,
        }
    }

    pub fn add(&mut self, outcome: &RequestOutcome) {
        self.wrong += u64::from(outcome.failure == Failure::Wrong);
        if let Some(class) = self.classes.get_mut(usize::from(outcome.class)) {
            class.add(outcome);
        }
    }

    pub fn summary(&self) -> KvSummary {
        let [set, gets @ ..] = &self.classes;
        let sum = |of: fn(&ClassStatistics) -> u64| gets.iter().map(of).sum::<u64>();
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
