//! `CLOCK_MONOTONIC`, the clock of all records of a run; this crate's only `unsafe`.
#![allow(unsafe_code)]

/// Now, ns.
#[inline]
#[must_use]
pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
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
