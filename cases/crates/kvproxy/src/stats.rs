//! Counters with one writer each, which anybody may read while they grow.

use crate::response_time_bins::ResponseTimeBins;
use crate::route::{RequestKind, KINDS};
use crate::single_writer_counter::SingleWriterCounter;
use sojourn_serving::thread_cpu_time;

/// What one thread saw of one server.
#[derive(Debug, Default)]
pub(crate) struct ServerStats {
    pub requests: SingleWriterCounter,
    pub replies: SingleWriterCounter,
    /// Errors that it answered, and requests that it did not answer.
    pub errors: SingleWriterCounter,
    /// Waiting for its replies, ns in all.
    pub service_ns: SingleWriterCounter,
    pub reconnects: SingleWriterCounter,
}

/// What one thread did. Cache lines of different threads stay apart: each is an allocation of its own.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Stats {
    pub name: String,
    /// The thread's number in /proc; 0 before it runs.
    pub thread: SingleWriterCounter,
    cpu_before_ns: SingleWriterCounter,
    cpu_ns: SingleWriterCounter,
    /// Requests received, refused ones too.
    pub arrivals: SingleWriterCounter,
    /// Requests that were done, by kind: answered, or with `noreply` carried out.
    pub done: [SingleWriterCounter; KINDS.len()],
    /// Those of them that say SERVER_ERROR, CLIENT_ERROR or ERROR.
    pub errors: SingleWriterCounter,
    /// Requests whose client was gone before the answer.
    pub abandoned: SingleWriterCounter,
    /// Connections that were refused.
    pub turned_away: SingleWriterCounter,
    pub accepted: SingleWriterCounter,
    pub connections: SingleWriterCounter,
    pub hits: SingleWriterCounter,
    pub misses: SingleWriterCounter,
    /// Requests that servers were asked about; the base of the two sums that follow.
    pub served: SingleWriterCounter,
    /// From received to sent to a server, ns.
    pub queue_ns: SingleWriterCounter,
    /// From sent to a server to its (last) reply, ns.
    pub service_ns: SingleWriterCounter,
    /// From received to the answer sent, ns, over `responses`.
    pub response_ns: SingleWriterCounter,
    pub responses: SingleWriterCounter,
    /// Requests waiting (`staged`) or under way (`direct`) now; and its sum over arrivals.
    pub queue: SingleWriterCounter,
    pub queue_seen: SingleWriterCounter,
    /// Awake, ns: for a thread that waits for events, all but its waiting.
    pub busy_ns: SingleWriterCounter,
    pub servers: Box<[ServerStats]>,
    /// Response times.
    pub bins: ResponseTimeBins,
}

impl Stats {
    pub fn new(name: String, servers: usize) -> Self {
        let zero = SingleWriterCounter::default;
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
            bins: ResponseTimeBins::new(),
        }
    }

    /// One request is done.
    #[inline]
    pub fn done(&self, kind: RequestKind, error: bool) {
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
        self.done.iter().map(SingleWriterCounter::get).sum()
    }

    /// CPU time of the thread since it began, s; `None` where /proc does not say.
    pub fn cpu_s(&self) -> Option<f64> {
        let total = match self.cpu_ns.get() {
            0 => thread_cpu_time::of_thread_ns(self.thread.get())?,
            total => total,
        };
        Some(sojourn_record::clock::s(total.saturating_sub(self.cpu_before_ns.get())))
    }

    /// To be called by the thread itself when it starts.
    pub fn begin(&self) {
        self.thread.set(thread_cpu_time::own_number());
        self.cpu_before_ns.set(thread_cpu_time::own_ns().unwrap_or(0));
    }

    /// To be called by the thread itself before it ends: afterwards /proc knows it no more.
    pub fn end(&self) {
        self.cpu_ns.set(thread_cpu_time::own_ns().unwrap_or(0));
    }
}

/// The response times of all threads.
pub(crate) fn bins<'a>(all: &[&'a Stats]) -> Vec<&'a ResponseTimeBins> {
    all.iter().map(|stats| &stats.bins).collect()
}
