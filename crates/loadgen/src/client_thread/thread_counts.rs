//! What a lane counts of itself.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::clock::now_s;
use crate::request_outcome::RequestOutcome;
use crate::summary::ClientThreadSummary;
use crate::sys;

/// What a live view reads while the lane runs.
#[derive(Debug, Default)]
pub struct LiveCounts {
    pub sent: AtomicU64,
    pub outstanding: AtomicU64,
    pub waiting: AtomicU64,
    /// The thread, where it has real-time priority and may use any core; else 0.
    pub movable: AtomicU64,
}

pub struct ThreadCounts {
    pub outcomes: Vec<RequestOutcome>,
    pub requested: u64,
    pub sent: u64,
    /// Taken up and not ended.
    pub outstanding: u64,
    pub missed: u64,
    pub abandoned: u64,
    pub opened: u32,
    /// Answers without a length.
    pub ended_by_close: u64,
    realtime: bool,
    started_s: f64,
    cpu_ns: i64,
    switches: (u64, u64),
}

impl ThreadCounts {
    pub fn new(realtime: bool) -> ThreadCounts {
        ThreadCounts {
            outcomes: Vec::new(),
            requested: 0,
            sent: 0,
            outstanding: 0,
            missed: 0,
            abandoned: 0,
            opened: 0,
            ended_by_close: 0,
            realtime,
            started_s: now_s(),
            cpu_ns: sys::clock_ns(libc::CLOCK_THREAD_CPUTIME_ID),
            switches: sys::context_switches(),
        }
    }

    pub fn publish(&self, gauges: &LiveCounts, waiting: usize) {
        gauges.sent.store(self.sent, Ordering::Relaxed);
        gauges.outstanding.store(self.outstanding, Ordering::Relaxed);
        gauges.waiting.store(waiting as u64, Ordering::Relaxed);
    }

    pub fn summary(&self, lane: usize, cpu: Option<usize>) -> ClientThreadSummary {
        let (voluntary, involuntary) = sys::context_switches();
        ClientThreadSummary {
            lane,
            cpu,
            cpu_s: (sys::clock_ns(libc::CLOCK_THREAD_CPUTIME_ID) - self.cpu_ns) as f64 * 1e-9,
            wall_s: now_s() - self.started_s,
            voluntary_switches: voluntary - self.switches.0,
            involuntary_switches: involuntary - self.switches.1,
            connections_opened: u64::from(self.opened),
            ended_by_close: self.ended_by_close,
            requested: self.requested,
            sent: self.sent,
            missed: self.missed,
            abandoned: self.abandoned,
            realtime: self.realtime,
        }
    }
}
