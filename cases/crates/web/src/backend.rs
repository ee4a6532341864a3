//! The backend beside the serving threads: its pool, the thread that ends services in time, and its metrics.

use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sojourn_record::clock::now;
use sojourn_serving::{GracefulShutdown, OpenMetricsText};

use crate::backend_config::BackendConfig;
use crate::backend_pool::BackendPool;
use crate::mailbox::Mailbox;

/// How often the end of the service is looked for.
const LONGEST_SLEEP: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) struct Backend<'a> {
    config: &'a BackendConfig,
    pool: Mutex<BackendPool>,
    changed: Condvar,
}

impl<'a> Backend<'a> {
    pub(crate) fn new(config: &'a BackendConfig, seed: u64) -> Self {
        let pool = BackendPool::new(&config.service, seed, config.safe, now());
        Self { config, pool: Mutex::new(pool), changed: Condvar::new() }
    }

    /// The pool as it is now.
    pub(crate) fn pool(&self) -> MutexGuard<'_, BackendPool> {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        pool.advance(now());
        pool
    }

    /// A request of a thread's connection; whether it is taken up.
    pub(crate) fn arrive(&self, thread: usize, token: u64) -> bool {
        let taken = self.pool().arrive(thread, token);
        self.changed.notify_one();
        taken
    }

    /// What it waits for may be another than before.
    pub(crate) fn wake(&self) {
        self.changed.notify_one();
    }

    /// Tells the threads whose requests have been served, until the service ends.
    pub(crate) fn run(&self, mailboxes: &[Mailbox], shutdown: &GracefulShutdown) {
        while !shutdown.flag().load(Ordering::Relaxed) || self.owes(shutdown) {
            let mut pool = self.pool();
            let served = pool.take_served();
            let left = pool.next_event().map(|at| Duration::from_nanos(at.saturating_sub(now())));
            if served.is_empty() {
                let sleep = left.unwrap_or(LONGEST_SLEEP).min(LONGEST_SLEEP);
                drop(self.changed.wait_timeout(pool, sleep).unwrap_or_else(PoisonError::into_inner));
                continue;
            }
            drop(pool);
            for one in served {
                mailboxes[one.request.thread].answer(one);
            }
        }
    }

    /// Whether requests are still with it, and there is time for them.
    fn owes(&self, shutdown: &GracefulShutdown) -> bool {
        let state = self.pool().state();
        state.waiting + state.in_service > 0 && !shutdown.is_overdue(now())
    }

    pub(crate) fn metrics(&self) -> String {
        let (state, counts) = {
            let pool = self.pool();
            (pool.state(), pool.counts())
        };
        let mut out = OpenMetricsText::new("sojourn_web");
        out.counter("arrivals", counts.arrivals);
        out.counter("departures", counts.departures);
        out.counter("refused", counts.refused);
        out.counter("busy_seconds", counts.busy_s);
        out.counter("worker_seconds", counts.worker_s);
        out.counter("present_seconds", counts.present_s);
        out.counter("response_seconds", counts.response_s);
        out.counter("leases_expired", counts.expired);
        out.gauge("clock_seconds", state.now_s);
        out.gauge("workers", state.settings.workers);
        out.gauge("cap", state.settings.cap);
        out.gauge("waiting", state.waiting);
        out.gauge("in_service", state.in_service);
        out.gauge("lease_left_seconds", state.lease_left_s);
        if let Some(path) = &self.config.control {
            out.gauges("control", "socket", [(path.display(), 1)]);
        }
        out.end()
    }
}
