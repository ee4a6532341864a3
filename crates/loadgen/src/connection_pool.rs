//! The connections to one address: which are idle, which requests wait for one. Slots, not sockets.

use std::collections::VecDeque;

use sojourn_dist::Stream;

use crate::request_outcome::RequestInFlight;

/// Connects that go on at once. A connect takes as long as several requests: one for each of some thousand that wait after a
/// stall would keep the thread from its schedule, while connections that are there work the queue off.
const CONNECTING_MAX: usize = 16;

/// Of the time, what connects beyond the most that were open may take: a connect takes as long as one or two requests, of this thread and of
/// the service. Where requests come faster than both could connect, connecting for each that waits would make a stall of some
/// milliseconds one of half a second, and would open thousands of connections.
const GROWING_SHARE: f64 = 0.1;
/// No connect takes longer, s, but where somebody else ran meanwhile.
const LONGEST_CONNECT_S: f64 = 2e-4;

/// The pool of one address in one lane.
#[derive(Debug)]
pub struct ConnectionPool {
    idle: Vec<u32>,
    /// Requests that found no idle connection, in the order in which they were intended.
    pub waiting: VecDeque<RequestInFlight>,
    /// Connections that are open or being opened.
    open: usize,
    connecting: usize,
    connecting_since_s: f64,
    /// So many were open at once.
    most_open: usize,
    /// From when on there may be more than that.
    grows_at_s: f64,
    kept: usize,
    limit: usize,
    /// The last connection failed or closed without an answer: open for requests only, not to keep the
    /// number, or a peer that closes at once would make the loop spin.
    failing: bool,
}

impl ConnectionPool {
    pub fn new(kept: u32, limit: u32) -> ConnectionPool {
        let (kept, limit) = (kept as usize, limit as usize);
        let (idle, waiting) = (Vec::new(), VecDeque::new());
        ConnectionPool {
            idle,
            waiting,
            open: 0,
            connecting: 0,
            connecting_since_s: 0.0,
            most_open: 0,
            grows_at_s: 0.0,
            kept,
            limit,
            failing: false,
        }
    }

    /// An idle connection, each with the same probability; it is idle no longer.
    pub fn take_idle(&mut self, stream: &mut Stream) -> Option<u32> {
        let at = stream.below(self.idle.len() as u64) as usize;
        (!self.idle.is_empty()).then(|| self.idle.swap_remove(at))
    }

    pub fn put_idle(&mut self, slot: u32) {
        self.idle.push(slot);
    }

    /// Should one more be opened now? One for each waiting request up to the limit; and as many as are kept. Beyond the most that were open
    /// at once only from time to time, see [`ConnectionPool::took`].
    pub fn wants_more(&self, now_s: f64) -> bool {
        self.lacks() && (self.open < self.most_open || now_s >= self.grows_at_s)
    }

    /// When to ask again whether one more is to be opened; never, where events will tell.
    pub fn grows_at_s(&self) -> f64 {
        if self.lacks() {
            self.grows_at_s
        } else {
            f64::INFINITY
        }
    }

    fn lacks(&self) -> bool {
        if self.connecting >= CONNECTING_MAX {
            return false;
        }
        let to_serve = self.waiting.len() > self.connecting && self.open < self.limit;
        to_serve || (!self.failing && self.open < self.kept)
    }

    /// A connect began at `since_s` and took until now. If it was one beyond the most that were open, the next such waits.
    pub fn took(&mut self, since_s: f64, now_s: f64) {
        if self.open > self.most_open {
            self.most_open = self.open;
            let took_s = (now_s - since_s).min(LONGEST_CONNECT_S);
            self.grows_at_s = now_s + took_s * (1.0 / GROWING_SHARE - 1.0);
        }
    }

    pub fn opening(&mut self, now_s: f64) {
        if self.connecting == 0 {
            self.connecting_since_s = now_s;
        }
        self.open += 1;
        self.connecting += 1;
    }

    /// A connection that was there before the start.
    pub fn opened_before(&mut self, slot: u32) {
        self.open += 1;
        self.most_open = self.open;
        self.idle.push(slot);
    }

    pub fn connected(&mut self) {
        self.connecting -= 1;
    }

    /// An answer came; true if that is news.
    pub fn served(&mut self) -> bool {
        std::mem::replace(&mut self.failing, false)
    }

    pub fn connect_failed(&mut self) {
        self.connecting -= 1;
        self.open -= 1;
        self.failing = true;
    }

    /// `served`: it has carried an answer.
    pub fn closed(&mut self, slot: u32, served: bool) {
        self.failing |= !served;
        self.open -= 1;
        self.idle.retain(|idle| *idle != slot);
    }

    /// The system gives no more sockets: live with what is open.
    pub fn limit_to_open(&mut self) {
        self.limit = self.open;
        self.kept = self.kept.min(self.open);
    }

    /// For how long at least one connect has been going on while no connection is there, s.
    pub fn connecting_s(&self, now_s: f64) -> f64 {
        let none_there = self.connecting == self.open && self.open > 0;
        if none_there {
            now_s - self.connecting_since_s
        } else {
            0.0
        }
    }

    pub fn is_empty(&self) -> bool {
        self.open == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> RequestInFlight {
        RequestInFlight {
            sequence: 0,
            target: 0,
            class: 0,
            user: 0,
            intended_s: 0.0,
            taken_s: 0.0,
            sent_s: f64::NAN,
        }
    }

    #[test]
    fn opens_one_for_each_waiting_request_up_to_the_limit() {
        let mut pool = ConnectionPool::new(1, 2);
        pool.opened_before(0);
        assert!(!pool.wants_more(0.0));
        assert_eq!(pool.take_idle(&mut Stream::new(1, "x")), Some(0));
        assert_eq!(pool.take_idle(&mut Stream::new(1, "x")), None);
        pool.waiting.push_back(request());
        assert!(pool.wants_more(0.0));
        pool.opening(0.0);
        assert!(!pool.wants_more(0.0));
        pool.waiting.push_back(request());
        assert!(!pool.wants_more(0.0), "the limit is 2");
    }

    #[test]
    fn a_long_queue_opens_a_few_at_a_time() {
        let mut pool = ConnectionPool::new(1, 1000);
        (0..500).for_each(|_| pool.waiting.push_back(request()));
        let mut begun = 0;
        while pool.wants_more(0.0) {
            pool.opening(0.0);
            begun += 1;
        }
        assert_eq!(begun, CONNECTING_MAX);
        pool.connected();
        assert!(pool.wants_more(0.0));
    }

    #[test]
    fn a_failing_address_is_tried_for_requests_only() {
        let mut pool = ConnectionPool::new(1, 2);
        assert!(pool.wants_more(0.0));
        pool.opening(0.0);
        pool.connect_failed();
        assert!(!pool.wants_more(0.0));
        pool.waiting.push_back(request());
        assert!(pool.wants_more(0.0));
        pool.waiting.clear();
        assert!(pool.served() && pool.wants_more(0.0));
        pool.opened_before(3);
        pool.closed(3, false);
        assert!(!pool.wants_more(0.0), "a peer that closes at once is not asked again and again");
    }

    #[test]
    fn beyond_the_most_that_were_open_connects_take_a_tenth_of_the_time() {
        let mut pool = ConnectionPool::new(1, 100);
        pool.opened_before(0);
        pool.take_idle(&mut Stream::new(1, "x"));
        (0..50).for_each(|_| pool.waiting.push_back(request()));
        assert!(pool.wants_more(1.0));
        pool.opening(1.0);
        pool.took(1.0, 1.0001);
        // 0.1 ms of 1 ms: not again before 1.001.
        assert!(!pool.wants_more(1.0009) && pool.wants_more(1.00101));
        assert!((pool.grows_at_s() - 1.001).abs() < 1e-9);
        // One that was open may come back at once, as of a service that closes after each answer.
        pool.connected();
        pool.closed(7, true);
        assert!(pool.wants_more(1.0002));
        pool.waiting.clear();
        assert!(pool.grows_at_s().is_infinite(), "nobody waits");
    }
}
