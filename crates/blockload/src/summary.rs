//! What a block load says of itself at its end, beside what every load says.

use std::collections::BTreeMap;

use serde::Serialize;
use sojourn_loadgen::Summary;

/// Below this share of the rate that was asked for a run is `saturated`.
const SATURATED_BELOW: f64 = 0.98;
/// Above this share of the span in the page cache a run is `cached`.
const CACHED_ABOVE: f64 = 0.01;
/// Above this share of answers that stalled a run is `ack stall`.
const STALLED_ABOVE: f64 = 0.01;

/// The account of a run: that of every load, and `storage`.
#[derive(Debug, Serialize)]
pub struct BlockSummary {
    #[serde(flatten)]
    pub run: Summary,
    pub storage: StorageSummary,
}

/// Shares in [0, 1]; times in s from when an I/O was due to its end.
#[derive(Debug, Clone, Default, Serialize)]
pub struct StorageSummary {
    pub path: &'static str,
    pub engine: &'static str,
    pub direct: bool,
    pub span_bytes: u64,
    /// Of the schedule.
    pub window_s: f64,
    pub asked_iops: f64,
    /// Reads and writes that fell due.
    pub due: u64,
    /// Reads and writes that were done before the end of the schedule, and a second of it.
    pub completed: u64,
    pub achieved_iops: f64,
    pub reads: u64,
    pub writes: u64,
    pub flushes: u64,
    pub read_bytes: u64,
    pub write_bytes: u64,
    /// I/Os that fell due while the queue was full.
    pub refused: u64,
    /// I/Os that the path said had failed, by name.
    pub errors: BTreeMap<&'static str, u64>,
    pub latency_s: Option<f64>,
    pub p50_s: Option<f64>,
    pub p99_s: Option<f64>,
    pub cache_before: Option<f64>,
    pub cache_after: Option<f64>,
    /// The larger of both; `None` where it cannot be read.
    pub cache_share: Option<f64>,
    /// Times that anything was found to have ended.
    pub reaps: u64,
    /// CPU time from the first I/O on: of the thread that does the I/O, and of the process.
    pub generator_cpu_s: f64,
    pub process_cpu_s: f64,
    pub quick_ack: Option<bool>,
    /// Of NBD answers with data, those that waited for an acknowledgement: their last bytes, or all of them.
    pub stalled_share: Option<f64>,
    pub reconnects: u64,
    /// Reads that were compared, were wrong, could not be compared; the first that was wrong.
    pub verified: u64,
    pub wrong: u64,
    pub not_compared: u64,
    pub first_wrong: Option<String>,
    /// `saturated`, `cached`, `ack stall`.
    pub status: Vec<&'static str>,
}

impl StorageSummary {
    /// Fills in what follows from the rest and from the run.
    pub fn conclude(&mut self, run: &Summary) {
        let window_s = run.end_s - run.start_s;
        let latency = &run.latency.from_intended.to_done;
        self.window_s = window_s;
        self.achieved_iops = self.completed as f64 / window_s.max(1e-9);
        (self.latency_s, self.p50_s, self.p99_s) = (latency.mean_s, latency.p50_s, latency.p99_s);
        let shares = [self.cache_before, self.cache_after];
        self.cache_share = shares.into_iter().flatten().reduce(f64::max);
        self.status = self.marks();
    }

    fn marks(&self) -> Vec<&'static str> {
        // Of what this schedule had, which by chance is more or less than the rate says.
        let least = SATURATED_BELOW * self.due as f64;
        let marks = [
            ("saturated", (self.completed as f64) < least),
            ("cached", self.cache_share.is_some_and(|share| share > CACHED_ABOVE)),
            ("ack stall", self.stalled_share.is_some_and(|share| share > STALLED_ABOVE)),
        ];
        marks.into_iter().filter(|(_, is)| *is).map(|(mark, _)| mark).collect()
    }
}
