//! What a run records, over which time, and how it is ended.

use std::sync::atomic::AtomicBool;

/// What is recorded, and over which time.
#[derive(Debug, Clone, Copy)]
pub struct RunTerms {
    pub seed: u64,
    /// CLOCK_MONOTONIC: the first request is due from `start_s` on, the last before `end_s`.
    pub start_s: f64,
    pub end_s: f64,
    pub timeout_s: f64,
    /// Rows; above it every k-th request is recorded.
    pub record_limit: u64,
    /// SCHED_FIFO was asked for.
    pub realtime: bool,
    /// Requests may be sent this late, to save CPU.
    pub slack_s: f64,
}

/// How a run is ended before its time: by the user's `stop`, or by `halt` after a failure of a thread or of the record.
#[derive(Debug, Clone, Copy)]
pub struct StopFlags<'a> {
    pub stop: &'a AtomicBool,
    pub halt: &'a AtomicBool,
}
