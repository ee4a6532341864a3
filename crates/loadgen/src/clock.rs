//! What time it is: CLOCK_MONOTONIC in seconds, and how the kernel's receive stamps map onto it.

use std::time::{Duration, SystemTime};

use crate::sys;

/// Seconds of CLOCK_MONOTONIC: the time axis of all records.
pub fn now_s() -> f64 {
    sys::clock_ns(libc::CLOCK_MONOTONIC) as f64 * 1e-9
}

/// The wall time at a CLOCK_MONOTONIC time, for the header of a foreign format.
pub fn wall_time(at_s: f64) -> SystemTime {
    let ns = (at_s * 1e9) as i64 + sys::realtime_offset_ns();
    SystemTime::UNIX_EPOCH + Duration::from_nanos(ns.max(0) as u64)
}

/// The offset is read anew at this age: a step of the wall clock spoils at most as much.
const OFFSET_AGE_S: f64 = 0.01;
/// A stamp this far outside [sent, done] is the work of a stepped clock, not of a slow kernel.
const STAMP_SLACK_S: f64 = 1e-3;

/// Receive stamps are CLOCK_REALTIME; this maps them onto CLOCK_MONOTONIC.
pub struct Stamps {
    offset_ns: i64,
    read_s: f64,
}

impl Stamps {
    pub fn new() -> Stamps {
        Stamps { offset_ns: 0, read_s: f64::NEG_INFINITY }
    }

    /// The stamp as seconds of CLOCK_MONOTONIC; NaN without one, or where it cannot be true.
    pub fn monotonic_s(&mut self, stamp_ns: Option<i64>, sent_s: f64, done_s: f64) -> f64 {
        let Some(stamp_ns) = stamp_ns else {
            return f64::NAN;
        };
        if done_s - self.read_s > OFFSET_AGE_S {
            self.offset_ns = sys::realtime_offset_ns();
            self.read_s = done_s;
        }
        let received_s = (stamp_ns - self.offset_ns) as f64 * 1e-9;
        let possible = sent_s - STAMP_SLACK_S..=done_s + STAMP_SLACK_S;
        if possible.contains(&received_s) {
            received_s
        } else {
            f64::NAN
        }
    }
}
