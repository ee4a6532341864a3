//! The end of serving: no further request is taken up, those under way are answered.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use sojourn_record::clock::{now, ns};

/// How often a stop flag is looked at.
pub const TICK: Duration = Duration::from_millis(20);
/// How long clients may take their last answers after whoever is behind the service has given theirs.
const GRACE_NS: u64 = 500_000_000;

/// Whether a service halts, and until when it may still answer.
#[derive(Debug)]
pub struct GracefulShutdown {
    flag: AtomicBool,
    deadline: AtomicU64,
}

impl Default for GracefulShutdown {
    fn default() -> Self {
        Self { flag: AtomicBool::new(false), deadline: AtomicU64::new(u64::MAX) }
    }
}

impl GracefulShutdown {
    /// From now on; who is behind the service may take `timeout_s` to answer.
    pub fn set(&self, timeout_s: f64) {
        self.deadline.store(now() + ns(timeout_s) + GRACE_NS, Ordering::Relaxed);
        self.flag.store(true, Ordering::Relaxed);
    }

    #[inline]
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Whether it halts and has had the time to answer what was under way.
    #[must_use]
    pub fn is_overdue(&self, now: u64) -> bool {
        self.is_set() && now > self.deadline.load(Ordering::Relaxed)
    }

    /// For those who only look.
    #[must_use]
    pub fn flag(&self) -> &AtomicBool {
        &self.flag
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_overdue_after_the_timeout_and_the_grace() {
        let (shutdown, before) = (GracefulShutdown::default(), now());
        assert!(!shutdown.is_set() && !shutdown.is_overdue(u64::MAX));
        shutdown.set(2.0);
        assert!(shutdown.is_set() && !shutdown.is_overdue(before + ns(2.4)));
        assert!(shutdown.is_overdue(now() + ns(2.5) + 1));
    }
}
