//! A lane: one thread, one event loop. What is due is taken up between any two events, so that a burst of
//! answers does not delay the schedule.

mod connection_events;
mod request_lifecycle;
mod thread_counts;
mod timeouts;

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use sojourn_dist::Stream;
use sojourn_serving::Slab;

use crate::clock::{now_s, ReceiveTimestamps};
use crate::config::Config;
use crate::connection::{Connection, ConnectionPhase};
use crate::connection_pool::ConnectionPool;
use crate::error::LoadError;
use crate::prepared_load::{Address, PreparedClientThread, Target};
use crate::protocol::RequestGenerator;
use crate::request_outcome::RequestOutcome;
use crate::request_source::RequestSource;
use crate::summary::ClientThreadSummary;
use crate::sys::{self, Poller};
use crate::tls::Transport;

pub use thread_counts::{LiveCounts, ThreadCounts};
use timeouts::TimeOuts;

/// How often outcomes go to the sink, and how soon a stop is seen.
const REPORT_S: f64 = 0.1;
/// So many outcomes go at once: the sink's share of a core comes in small pieces, behind which nobody waits for long.
const BATCH_OUTCOMES: usize = 256;
/// What is in flight gets this long when the run is stopped.
const STOP_GRACE_S: f64 = 0.5;
/// Requests taken up before the loop looks at its sockets again.
const TAKE_MAX: usize = 64;
const BUFFER_BYTES: usize = 128 * 1024;
const REALTIME_PRIORITY: i32 = 10;

/// What all lanes of a run have in common.
pub struct SharedState<'a> {
    pub config: &'a Config,
    pub start_s: f64,
    pub end_s: f64,
    /// The user's wish to stop, and the sink's after a failure.
    pub stop: &'a AtomicBool,
    pub halt: &'a AtomicBool,
}

/// Outcomes on their way to the sink.
pub struct OutcomeBatch {
    pub lane: u8,
    pub outcomes: Vec<RequestOutcome>,
}

/// The time by which a connect must have succeeded.
struct ConnectDeadline {
    at_s: f64,
    slot: u32,
    generation: u32,
}

pub struct ClientThread<'a> {
    shared: &'a SharedState<'a>,
    gauges: &'a LiveCounts,
    index: usize,
    targets: Vec<Target>,
    addresses: Vec<Address>,
    pools: Vec<ConnectionPool>,
    slots: Slab<Connection>,
    /// Of connects; all have the same length, so they are in order.
    deadlines: VecDeque<ConnectDeadline>,
    timeouts: TimeOuts,
    source: RequestSource,
    /// What is drawn: operations of memcached or of the message service, pages of sessions.
    generator: Option<RequestGenerator>,
    poller: Poller,
    choose_target: Stream,
    choose_connection: Stream,
    stamps: ReceiveTimestamps,
    buffer: Vec<u8>,
    sender: Sender<OutcomeBatch>,
    account: ThreadCounts,
    /// A user in a session waits for a connection that the system did not give.
    out_of_sockets: Option<io::Error>,
    /// When the stop was seen.
    stopped_s: Option<f64>,
    next_report_s: f64,
}

impl<'a> ClientThread<'a> {
    /// Called on the lane's own thread: pins it and sets its priority.
    pub fn new(
        shared: &'a SharedState<'a>,
        gauges: &'a LiveCounts,
        plan: PreparedClientThread,
        sender: Sender<OutcomeBatch>,
    ) -> Result<ClientThread<'a>, LoadError> {
        let config = shared.config;
        let (index, lane) = (plan.index, &config.lanes[plan.index]);
        if let Some(cpu) = lane.cpu {
            sys::pin(cpu).map_err(|cause| LoadError::Pin { lane: index, cpu, cause })?;
        }
        sys::precise_timers();
        let realtime = config.realtime && sys::realtime(REALTIME_PRIORITY).is_ok();
        if realtime && lane.cpu.is_none() {
            gauges.movable.store(sys::thread_id(), Ordering::Relaxed);
        }
        let system = |cause| LoadError::System { lane: index, call: "epoll_create1", cause };
        let pool = |_: &_| ConnectionPool::new(lane.connections(), lane.connections_max());
        let stream = |of: &str| Stream::new(config.seed, &config.own_stream(&format!("lane {index} {of}")));
        let mut new = ClientThread {
            shared,
            gauges,
            index,
            pools: plan.addresses.iter().map(pool).collect(),
            targets: plan.targets,
            addresses: plan.addresses,
            slots: Slab::default(),
            deadlines: VecDeque::new(),
            timeouts: TimeOuts::default(),
            generator: RequestGenerator::new(config, index, shared.start_s),
            source: RequestSource::new(config, index, shared.start_s),
            poller: Poller::new(false).map_err(system)?,
            choose_target: stream("targets"),
            choose_connection: stream("connections"),
            stamps: ReceiveTimestamps::new(),
            buffer: vec![0; BUFFER_BYTES],
            sender,
            account: ThreadCounts::new(realtime),
            out_of_sockets: None,
            stopped_s: None,
            next_report_s: 0.0,
        };
        new.adopt(plan.links)?;
        Ok(new)
    }

    fn adopt(&mut self, links: Vec<(usize, Transport)>) -> Result<(), LoadError> {
        for (pool, link) in links {
            let added = self.insert(link, pool, ConnectionPhase::Idle);
            let system = |cause| LoadError::System { lane: self.index, call: "epoll_ctl", cause };
            self.pools[pool].opened_before(added.map_err(system)?);
        }
        Ok(())
    }

    /// Runs to the end of the schedule and of what is in flight then.
    pub fn run(mut self) -> Result<ClientThreadSummary, LoadError> {
        loop {
            self.take_due();
            let now = now_s();
            self.expire(now);
            self.grow(now);
            if now >= self.next_report_s {
                self.next_report_s = now + REPORT_S;
                self.report();
            } else if self.account.outcomes.len() >= BATCH_OUTCOMES {
                self.hand_over();
            }
            if let Some(cause) = self.out_of_sockets.take() {
                let (users, open) = (self.shared.config.users(), self.account.outstanding);
                return Err(LoadError::Users { users, open, files: sys::files_max(), cause });
            }
            if self.is_over(now) {
                break;
            }
            sys::sleep_s(self.shared.config.slack_s);
            let waited = self.poller.wait(self.wake_s());
            let system = |cause| LoadError::System { lane: self.index, call: "epoll_wait", cause };
            for event in 0..waited.map_err(system)? {
                if let Some((key, flags)) = self.poller.event(event) {
                    self.handle(key, flags);
                    self.take_due();
                }
            }
        }
        self.give_up(now_s());
        self.report();
        Ok(self.account.summary(self.index, self.shared.config.lanes[self.index].cpu))
    }

    fn wake_s(&self) -> f64 {
        let due_s = self.source.next_due_s().filter(|_| self.stopped_s.is_none()).unwrap_or(f64::INFINITY);
        let deadline_s = self.deadlines.front().map_or(f64::INFINITY, |deadline| deadline.at_s);
        let growing = self.pools.iter().filter(|_| self.stopped_s.is_none()).map(ConnectionPool::grows_at_s);
        let grows_s = growing.fold(f64::INFINITY, f64::min);
        self.next_report_s.min(due_s).min(deadline_s).min(self.timeouts.next_s()).min(grows_s)
    }

    fn is_over(&mut self, now: f64) -> bool {
        let stop = self.shared.stop.load(Ordering::Relaxed) || self.shared.halt.load(Ordering::Relaxed);
        if stop && self.stopped_s.is_none() {
            self.stopped_s = Some(now);
        }
        let nothing_left = self.account.outstanding == 0;
        if let Some(stopped_s) = self.stopped_s {
            return nothing_left || now >= stopped_s + STOP_GRACE_S;
        }
        let all_taken = self.source.next_due_s().is_none();
        let end_s = self.shared.end_s;
        (now >= end_s && nothing_left && all_taken) || now >= end_s + self.shared.config.timeout_s
    }
}
