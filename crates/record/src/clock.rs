//! `CLOCK_MONOTONIC`, the clock of all records of a run, and how the wall clock maps onto it; this crate's only `unsafe`.
#![allow(unsafe_code)]

#[inline]
fn read(clock: libc::clockid_t) -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Now, ns.
#[inline]
#[must_use]
pub fn now() -> u64 {
    read(libc::CLOCK_MONOTONIC) as u64
}

/// Seconds as ns.
#[must_use]
pub fn ns(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

/// ns as s.
#[must_use]
pub fn s(ns: u64) -> f64 {
    ns as f64 * 1e-9
}

/// How the wall clock (`CLOCK_REALTIME`), which the kernel stamps packets with, differs from `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WallClockOffset {
    /// Wall time less monotonic time, ns.
    pub ns: i64,
    /// The most that `ns` can be wrong by, ns.
    pub error_ns: i64,
}

impl WallClockOffset {
    /// The closest of three pairs of readings: a preemption between two readings spoils one pair.
    #[must_use]
    pub fn now() -> WallClockOffset {
        let (monotonic, wall) = (libc::CLOCK_MONOTONIC, libc::CLOCK_REALTIME);
        closest([(); 3].map(|()| [monotonic, wall, monotonic].map(read)))
    }
}

/// Readings of the monotonic, the wall, the monotonic clock: the wall clock's was between the two others.
fn closest(readings: [[i64; 3]; 3]) -> WallClockOffset {
    let offset = |[before, wall, after]: [i64; 3]| {
        let half = (after - before) / 2;
        WallClockOffset { ns: wall - before - half, error_ns: half + 1 }
    };
    let [first, rest @ ..] = readings.map(offset);
    rest.into_iter().fold(first, |best, next| if next.error_ns < best.error_ns { next } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preemption_between_two_readings_does_not_move_the_offset() {
        // The clocks differ by 5 s. A reading takes 20 ns; in two pairs of three the thread is held up for 1 ms.
        let wall = 5_000_000_000;
        let held_before = [0, wall + 1_000_020, 1_000_040];
        let good = [2_000_000, wall + 2_000_020, 2_000_040];
        let held_after = [3_000_000, wall + 3_000_020, 4_000_040];
        for readings in [[held_before, good, held_after], [good, held_after, held_before]] {
            let found = closest(readings);
            assert!((found.ns - wall).abs() <= found.error_ns && found.error_ns <= 21, "{found:?}");
        }
        // Each states its error, the worst of them too.
        let found = closest([held_before; 3]);
        assert!((found.ns - wall).abs() <= found.error_ns && found.error_ns > 500_000, "{found:?}");
    }
}
