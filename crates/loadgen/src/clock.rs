//! What time it is: CLOCK_MONOTONIC in seconds, and how the kernel's receive stamps map onto it.

use std::time::{Duration, SystemTime};

use sojourn_record::clock::{self, WallClockOffset};

/// Seconds of CLOCK_MONOTONIC: the time axis of all records.
#[inline]
pub fn now_s() -> f64 {
    clock::s(clock::now())
}

/// The wall time at a CLOCK_MONOTONIC time, for the header of a foreign format.
pub fn wall_time(at_s: f64) -> SystemTime {
    let ns = (at_s * 1e9) as i64 + WallClockOffset::now().ns;
    SystemTime::UNIX_EPOCH + Duration::from_nanos(ns.max(0) as u64)
}

/// A receive time is known to this. It covers the offset's age: in 10 ms a wall clock that is being set slews by 5 µs.
pub const STAMP_ERROR_S: f64 = 50e-6;
/// The offset is read anew at this age.
const OFFSET_AGE_S: f64 = 0.01;
/// An offset that is less certain than this is not taken.
const OFFSET_ERROR_NS: i64 = 20_000;

/// Receive stamps are CLOCK_REALTIME; this maps them onto CLOCK_MONOTONIC.
pub struct ReceiveTimestamps {
    offset: Option<WallClockOffset>,
    read_s: f64,
}

impl ReceiveTimestamps {
    pub fn new() -> ReceiveTimestamps {
        ReceiveTimestamps { offset: None, read_s: f64::NEG_INFINITY }
    }

    /// The stamp as seconds of CLOCK_MONOTONIC; NaN without one, or where it lies outside [sent, done] by more than
    /// `STAMP_ERROR_S`: the wall clock was set meanwhile.
    pub fn monotonic_s(&mut self, stamp_ns: Option<i64>, sent_s: f64, done_s: f64) -> f64 {
        let Some(stamp_ns) = stamp_ns else {
            return f64::NAN;
        };
        if done_s - self.read_s > OFFSET_AGE_S {
            self.offset =
                Some(WallClockOffset::now()).filter(|new| new.error_ns <= OFFSET_ERROR_NS).or(self.offset);
            self.read_s = done_s;
        }
        let received_s = self.offset.map_or(f64::NAN, |offset| (stamp_ns - offset.ns) as f64 * 1e-9);
        let possible = sent_s - STAMP_ERROR_S..=done_s + STAMP_ERROR_S;
        if possible.contains(&received_s) {
            received_s
        } else {
            f64::NAN
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receive_time_lies_between_sent_and_done_or_is_none() {
        let mut stamps = ReceiveTimestamps::new();
        let (done_s, wall) = (now_s(), WallClockOffset::now().ns);
        let mut at = |s: f64| stamps.monotonic_s(Some((s * 1e9) as i64 + wall), done_s - 0.01, done_s);
        assert!((at(done_s - 0.005) - (done_s - 0.005)).abs() < STAMP_ERROR_S);
        // A millisecond outside used to be taken for possible.
        assert!(at(done_s + 0.0005).is_nan() && at(done_s - 0.0105).is_nan());
    }
}
