//! A line of requests before servers that only take time: the backend that `/wait` waits for. No clock, no threads.
//!
//! FCFS; a server that is taken away ends what it has begun. Settings hold for a lease; after it the safe ones are back, whatever
//! became of who set them. Times are ns of one monotonic clock, and every event counts at its own time, not when it is looked at.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use serde::{Deserialize, Serialize};
use sojourn_dist::{Distribution, Stream};

/// What can be changed while it runs.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BackendSettings {
    /// Servers.
    pub workers: usize,
    /// Requests that may be present; of more, each is refused with 503.
    pub cap: usize,
}

/// Who may change the settings, and until when they hold.
#[derive(Clone, Debug)]
struct Lease {
    holder: String,
    until: u64,
}

/// Whose request it is, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WaitingRequest {
    pub arrived: u64,
    pub thread: usize,
    pub token: u64,
}

/// A request whose time is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ServedRequest {
    pub request: WaitingRequest,
    pub service_s: f64,
}

/// Sums since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct PoolCounts {
    /// Taken up; refused ones are not among them.
    pub arrivals: u64,
    pub departures: u64,
    pub refused: u64,
    /// Integrals over time of busy servers, of servers (set, or ending what they have begun), of requests present.
    pub busy_s: f64,
    pub worker_s: f64,
    pub present_s: f64,
    /// Of the departures.
    pub response_s: f64,
    /// Leases that ended without their holder.
    pub expired: u64,
}

/// State of the pool at `now`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct PoolState {
    pub now_s: f64,
    pub settings: BackendSettings,
    pub safe: BackendSettings,
    pub waiting: usize,
    pub in_service: usize,
    pub holder: Option<String>,
    pub lease_left_s: f64,
}

type InService = Reverse<(u64, WaitingRequest, u64)>;

#[derive(Debug)]
pub(crate) struct BackendPool {
    safe: BackendSettings,
    settings: BackendSettings,
    lease: Option<Lease>,
    waiting: VecDeque<WaitingRequest>,
    in_service: BinaryHeap<InService>,
    service: Distribution,
    stream: Stream,
    counts: PoolCounts,
    now: u64,
    served: Vec<ServedRequest>,
}

impl BackendPool {
    pub(crate) fn new(service: &Distribution, seed: u64, safe: BackendSettings, now: u64) -> Self {
        Self {
            safe,
            settings: safe,
            lease: None,
            waiting: VecDeque::new(),
            in_service: BinaryHeap::new(),
            service: service.clone(),
            stream: Stream::new(seed, "web-backend"),
            counts: PoolCounts::default(),
            now,
            served: Vec::new(),
        }
    }

    /// Up to `now`: ends of service and of the lease, each at its time.
    pub(crate) fn advance(&mut self, now: u64) {
        while let Some(at) = self.next_event().filter(|at| *at <= now) {
            self.account(at);
            if self.lease.as_ref().is_some_and(|lease| lease.until <= at) {
                self.counts.expired += 1;
                self.revert();
            } else if let Some(Reverse((end, request, service))) = self.in_service.pop() {
                self.counts.departures += 1;
                self.counts.response_s += (end - request.arrived) as f64 * 1e-9;
                self.served.push(ServedRequest { request, service_s: service as f64 * 1e-9 });
            }
            self.start();
        }
        self.account(now);
    }

    /// When something happens next.
    pub(crate) fn next_event(&self) -> Option<u64> {
        let end = self.in_service.peek().map(|Reverse((end, ..))| *end);
        let lease = self.lease.as_ref().map(|lease| lease.until);
        end.into_iter().chain(lease).min()
    }

    /// Those whose service has ended since the last call.
    pub(crate) fn take_served(&mut self) -> Vec<ServedRequest> {
        std::mem::take(&mut self.served)
    }

    /// A request that arrives at the time it was advanced to; whether it is taken up.
    pub(crate) fn arrive(&mut self, thread: usize, token: u64) -> bool {
        if self.waiting.len() + self.in_service.len() >= self.settings.cap {
            self.counts.refused += 1;
            return false;
        }
        self.counts.arrivals += 1;
        self.waiting.push_back(WaitingRequest { arrived: self.now, thread, token });
        self.start();
        true
    }

    /// Settings of `holder` until `until`; a word on why not, where another's lease holds.
    pub(crate) fn set(&mut self, holder: &str, settings: BackendSettings, until: u64) -> Result<(), String> {
        self.held_by_another(holder)?;
        self.settings = settings;
        self.lease = Some(Lease { holder: holder.into(), until });
        self.start();
        Ok(())
    }

    /// Back to the safe settings; nobody holds it then.
    pub(crate) fn release(&mut self, holder: &str) -> Result<(), String> {
        self.held_by_another(holder)?;
        self.revert();
        self.start();
        Ok(())
    }

    pub(crate) fn settings(&self) -> BackendSettings {
        self.settings
    }

    pub(crate) fn counts(&self) -> PoolCounts {
        self.counts
    }

    pub(crate) fn state(&self) -> PoolState {
        let left = |lease: &Lease| lease.until.saturating_sub(self.now) as f64 * 1e-9;
        PoolState {
            now_s: self.now as f64 * 1e-9,
            settings: self.settings,
            safe: self.safe,
            waiting: self.waiting.len(),
            in_service: self.in_service.len(),
            holder: self.lease.as_ref().map(|lease| lease.holder.clone()),
            lease_left_s: self.lease.as_ref().map_or(0.0, left),
        }
    }

    fn held_by_another(&self, holder: &str) -> Result<(), String> {
        match &self.lease {
            Some(lease) if lease.holder != holder => {
                let left_s = lease.until.saturating_sub(self.now) as f64 * 1e-9;
                Err(format!("held by {} for {left_s:.1} s more", lease.holder))
            }
            _ => Ok(()),
        }
    }

    fn revert(&mut self) {
        self.settings = self.safe;
        self.lease = None;
    }

    fn start(&mut self) {
        while self.in_service.len() < self.settings.workers {
            let Some(request) = self.waiting.pop_front() else { return };
            let service = (self.service.sample(&mut self.stream) * 1e9) as u64;
            self.in_service.push(Reverse((self.now + service, request, service)));
        }
    }

    /// The integrals up to `at`.
    fn account(&mut self, at: u64) {
        let passed_s = at.saturating_sub(self.now) as f64 * 1e-9;
        self.counts.busy_s += passed_s * self.in_service.len() as f64;
        let there = self.settings.workers.max(self.in_service.len());
        self.counts.worker_s += passed_s * there as f64;
        self.counts.present_s += passed_s * (self.in_service.len() + self.waiting.len()) as f64;
        self.now = self.now.max(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn pool(workers: usize, cap: usize) -> BackendPool {
        let service = serde_json::from_str(r#"{"kind": "deterministic", "mean": 1.0}"#).unwrap();
        BackendPool::new(&service, 1, BackendSettings { workers, cap }, 0)
    }

    fn served(pool: &mut BackendPool) -> Vec<u64> {
        pool.take_served().iter().map(|one| one.request.token).collect()
    }

    /// Two servers of 1 s, three requests at 0: ends at 1, 1 and 2 s, looked at late.
    #[test]
    fn first_come_first_served_whenever_it_is_looked_at() {
        let mut pool = pool(2, 10);
        assert!((0..3).all(|token| pool.arrive(0, token)));
        pool.advance(5 * S);
        assert_eq!(served(&mut pool), [0, 1, 2]);
        let counts = pool.counts();
        assert_eq!((counts.arrivals, counts.departures, counts.refused), (3, 3, 0));
        let sums = [counts.busy_s, counts.worker_s, counts.present_s, counts.response_s];
        let expected = [3.0, 10.0, 4.0, 4.0]; // present: 3 for 1 s, 1 for 1 s
        assert!(sums.iter().zip(expected).all(|(found, is)| (found - is).abs() < 1e-6), "{sums:?}");
    }

    #[test]
    fn above_the_cap_they_are_refused() {
        let mut pool = pool(1, 2);
        assert_eq!([0, 1, 2].map(|token| pool.arrive(0, token)), [true, true, false]);
        pool.advance(S);
        assert!(pool.arrive(0, 3));
        assert_eq!(pool.counts().refused, 1);
    }

    #[test]
    fn more_servers_start_at_once_and_fewer_end_what_they_have() {
        let mut pool = pool(1, 10);
        (0..4).for_each(|token| assert!(pool.arrive(0, token)));
        pool.advance(S / 2);
        pool.set("a", BackendSettings { workers: 4, cap: 10 }, 100 * S).unwrap();
        assert_eq!(pool.state().in_service, 4);
        pool.set("a", BackendSettings { workers: 1, cap: 10 }, 100 * S).unwrap();
        pool.advance(3 * S / 2);
        assert_eq!(served(&mut pool).len(), 4);
    }

    #[test]
    fn after_the_lease_the_safe_settings_are_back_at_its_end() {
        let mut pool = pool(4, 10);
        pool.set("a", BackendSettings { workers: 1, cap: 5 }, 2 * S).unwrap();
        assert_eq!(pool.next_event(), Some(2 * S));
        pool.advance(2 * S - 1);
        assert_eq!(pool.settings().workers, 1);
        pool.advance(10 * S);
        assert_eq!(pool.settings(), BackendSettings { workers: 4, cap: 10 });
        assert_eq!((pool.counts().expired, pool.state().holder), (1, None));
        assert!((pool.counts().worker_s - (2.0 + 4.0 * 8.0)).abs() < 1e-6);
    }

    #[test]
    fn one_holder_at_a_time() {
        let mut pool = pool(4, 10);
        let one = BackendSettings { workers: 1, cap: 5 };
        pool.set("a", one, 2 * S).unwrap();
        assert_eq!(pool.set("b", one, 3 * S).unwrap_err(), "held by a for 2.0 s more");
        assert!(pool.release("b").is_err());
        pool.release("a").unwrap();
        assert_eq!((pool.settings().workers, pool.counts().expired), (4, 0));
        pool.set("b", one, 3 * S).unwrap();
    }
}
