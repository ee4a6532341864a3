//! Counters with one writer each, which anybody may read while they grow.

use crate::bins::Bins;
use crate::count::Count;
use crate::route::{Kind, KINDS};
use sojourn_serving::cpu;

/// What one thread saw of one server.
#[derive(Debug, Default)]
pub(crate) struct ServerStats {
    pub requests: Count,
    pub replies: Count,
    /// Errors that it answered, and requests that it did not answer.
    pub errors: Count,
    /// Waiting for its replies, ns in all.
    pub service_ns: Count,
    pub reconnects: Count,
}

/// What one thread did. Cache lines of different threads stay apart: each is an allocation of its own.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Stats {
    pub name: String,
    /// The thread's number in /proc; 0 before it runs.
    pub thread: Count,
    cpu_before_ns: Count,
    cpu_ns: Count,
    /// Requests received, refused ones too.
    pub arrivals: Count,
    /// Requests that were done, by kind: answered, or with `noreply` carried out.
    pub done: [Count; KINDS.len()],
    /// Those of them that say SERVER_ERROR, CLIENT_ERROR or ERROR.
    pub errors: Count,
    /// Requests whose client was gone before the answer.
    pub abandoned: Count,
    /// Connections that were refused.
    pub turned_away: Count,
    pub accepted: Count,
    pub connections: Count,
    pub hits: Count,
    pub misses: Count,
    /// Requests that servers were asked about; the base of the two sums that follow.
    pub served: Count,
    /// From received to sent to a server, ns.
    pub queue_ns: Count,
    /// From sent to a server to its (last) reply, ns.
    pub service_ns: Count,
    /// From received to the answer sent, ns, over `responses`.
    pub response_ns: Count,
    pub responses: Count,
    /// Requests waiting (`staged`) or under way (`direct`) now; and its sum over arrivals.
    pub queue: Count,
    pub queue_seen: Count,
    /// Awake, ns: for a thread that waits for events, all but its waiting.
    pub busy_ns: Count,
    pub servers: Box<[ServerStats]>,
    /// Response times.
    pub bins: Bins,
}

impl Stats {
    pub fn new(name: String, servers: usize) -> Self {
        let zero = Count::default;
        Self {
            name,
            thread: zero(),
            cpu_before_ns: zero(),
            cpu_ns: zero(),
            arrivals: zero(),
            done: std::array::from_fn(|_| zero()),
            errors: zero(),
            abandoned: zero(),
            turned_away: zero(),
            accepted: zero(),
            connections: zero(),
            hits: zero(),
            misses: zero(),
            served: zero(),
            queue_ns: zero(),
            service_ns: zero(),
            response_ns: zero(),
            responses: zero(),
            queue: zero(),
            queue_seen: zero(),
            busy_ns: zero(),
            servers: (0..servers).map(|_| ServerStats::default()).collect(),
            bins: Bins::new(),
        }
    }

    /// One request is done.
    #[inline]
    pub fn done(&self, kind: Kind, error: bool) {
        self.done[kind as usize].add(1);
        self.errors.add(u64::from(error));
    }

    #[inline]
    pub fn responded(&self, ns: u64) {
        self.responses.add(1);
        self.response_ns.add(ns);
        self.bins.add(ns);
    }

    pub fn completions(&self) -> u64 {
        self.done.iter().map(Count::get).sum()
    }

    /// CPU time of the thread since it began, s; `None` where /proc does not say.
    pub fn cpu_s(&self) -> Option<f64> {
        let total = match self.cpu_ns.get() {
            0 => cpu::of_thread_ns(self.thread.get())?,
            total => total,
        };
        Some(sojourn_record::clock::s(total.saturating_sub(self.cpu_before_ns.get())))
    }

    /// To be called by the thread itself when it starts.
    pub fn begin(&self) {
        self.thread.set(cpu::own_number());
        self.cpu_before_ns.set(cpu::own_ns().unwrap_or(0));
    }

    /// To be called by the thread itself before it ends: afterwards /proc knows it no more.
    pub fn end(&self) {
        self.cpu_ns.set(cpu::own_ns().unwrap_or(0));
    }
}

/// The response times of all threads.
pub(crate) fn bins<'a>(all: &[&'a Stats]) -> Vec<&'a Bins> {
    all.iter().map(|stats| &stats.bins).collect()
}
