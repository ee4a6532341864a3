//! Counts and times of one class of requests: an operation of memcached, or of the message service.

use serde::Serialize;

use crate::latency_statistics::{LatencyStatistics, StreamingStatistics};
use crate::request_outcome::{Failure, RequestOutcome};

/// Width of a bin of the histogram, s.
const BIN_S: f64 = 1e-4;
/// Bins up to 1 s; what is longer is in the overflow bin.
const BINS: usize = 10_000;

/// Times of one class, from send to the last byte; the histogram has successes only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassSummary {
    pub ok: u64,
    pub failed: u64,
    pub latency: LatencyStatistics,
    pub p25_s: Option<f64>,
    pub p75_s: Option<f64>,
    pub histogram: FixedWidthHistogram,
}

/// Counts in bins of `bin_s`, as many as were needed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FixedWidthHistogram {
    pub bin_s: f64,
    pub counts: Vec<u64>,
    pub overflow: u64,
}

/// Adds up the outcomes of one class.
pub struct ClassStatistics {
    pub ok: u64,
    pub failed: u64,
    pub asked: u64,
    pub found: u64,
    pub bytes: u64,
    sent: StreamingStatistics,
    bins: Vec<u64>,
    overflow: u64,
}

impl ClassStatistics {
    pub fn new() -> ClassStatistics {
        let (sent, bins) = (StreamingStatistics::new(), vec![0; BINS]);
        ClassStatistics { ok: 0, failed: 0, asked: 0, found: 0, bytes: 0, sent, bins, overflow: 0 }
    }

    pub fn add(&mut self, outcome: &RequestOutcome) {
        if outcome.failure != Failure::Ok {
            self.failed += 1;
            if !outcome.request.sent_s.is_nan() {
                self.sent.fail();
            }
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

    pub fn summary(&self) -> ClassSummary {
        let used = self.bins.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        ClassSummary {
            ok: self.ok,
            failed: self.failed,
            latency: self.sent.statistics(),
            p25_s: self.sent.quantile_s(0.25),
            p75_s: self.sent.quantile_s(0.75),
            histogram: FixedWidthHistogram {
                bin_s: BIN_S,
                counts: self.bins[..used].to_vec(),
                overflow: self.overflow,
            },
        }
    }
}
