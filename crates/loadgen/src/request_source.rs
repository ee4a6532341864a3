//! When the next request is due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sojourn_dist::{Distribution, Schedule, Stream};

use crate::config::{AgentConfig, Config};
use crate::request_outcome::Failure;

/// The `user` of a request in an open loop.
pub const NO_USER: u32 = u32::MAX;
/// After a failure a user thinks at least this long: a dead service must not make the loop spin.
const FAILURE_PAUSE_S: f64 = 0.01;

/// What a user does between a request and the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PauseBeforeNext {
    Think,
    /// Thinks, but at least for a moment: the request has failed.
    Recover,
    /// Waits exactly this long, s, and does not think.
    For(f64),
}

impl PauseBeforeNext {
    /// Where only success and failure differ.
    pub fn after(failure: Failure) -> PauseBeforeNext {
        if failure == Failure::Ok {
            PauseBeforeNext::Think
        } else {
            PauseBeforeNext::Recover
        }
    }
}

/// A due time that orders; always finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DueTime(f64);

impl Eq for DueTime {}

impl PartialOrd for DueTime {
    fn partial_cmp(&self, other: &DueTime) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for DueTime {
    fn cmp(&self, other: &DueTime) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Where the requests of a lane come from.
pub enum RequestSource {
    Open { start_s: f64, next_s: Option<f64>, schedule: Schedule },
    Closed { end_s: f64, due: BinaryHeap<Reverse<(DueTime, u32)>>, streams: Vec<Stream>, think: Distribution },
}

impl RequestSource {
    /// A lane without a load (which `Config::validate` refuses) has no requests.
    pub fn new(config: &Config, lane: usize, start_s: f64) -> RequestSource {
        let (seed, duration_s, of_lane) = (config.seed, config.duration_s, &config.lanes[lane]);
        if let Some(closed) = &of_lane.closed {
            let name = |user| format!("lane {lane} user {user}");
            let streams = (0..closed.users).map(|user| Stream::new(seed, &name(user))).collect();
            let (end_s, due, think) = (start_s + duration_s, BinaryHeap::new(), closed.think.clone());
            let mut source = RequestSource::Closed { end_s, due, streams, think };
            // In the first half, so that the last to come have read some pages too before anything counts.
            let come_s = config.sessions.as_ref().map_or(0.0, |sessions| sessions.ramp_up_s / 2.0);
            for user in 0..closed.users {
                let begins_s = start_s + come_s * f64::from(user) / f64::from(closed.users);
                source.finished(user, begins_s, PauseBeforeNext::Think);
            }
            return source;
        }
        let nothing = sojourn_dist::Arrivals::Trace { times_s: Vec::new() };
        let process = of_lane.arrivals.as_ref().unwrap_or(&nothing);
        let mut schedule = process.schedule(seed, &format!("lane {lane} arrivals"), duration_s);
        if let Some(AgentConfig { index, count }) = config.agent {
            schedule = schedule.share(index, count, seed, &format!("lane {lane} agents"));
        }
        RequestSource::Open { start_s, next_s: schedule.next(), schedule }
    }

    /// When the next request is due; `None` if there is none, or none yet.
    pub fn next_due_s(&self) -> Option<f64> {
        match self {
            RequestSource::Open { start_s, next_s, .. } => next_s.map(|next| start_s + next),
            RequestSource::Closed { due, .. } => due.peek().map(|Reverse((due, _))| due.0),
        }
    }

    /// Takes the next request: its intended time and user.
    pub fn take(&mut self) -> Option<(f64, u32)> {
        match self {
            RequestSource::Open { start_s, next_s, schedule } => {
                let intended_s = *start_s + next_s.take()?;
                *next_s = schedule.next();
                Some((intended_s, NO_USER))
            }
            RequestSource::Closed { due, .. } => due.pop().map(|Reverse((due, user))| (due.0, user)),
        }
    }

    /// A request has ended: its user pauses and is due again, unless the run is over by then.
    pub fn finished(&mut self, user: u32, done_s: f64, pause: PauseBeforeNext) {
        let RequestSource::Closed { end_s, due, streams, think } = self else {
            return;
        };
        let Some(stream) = streams.get_mut(user as usize) else {
            return;
        };
        let pause_s = match pause {
            PauseBeforeNext::Think => think.sample(stream),
            PauseBeforeNext::Recover => think.sample(stream).max(FAILURE_PAUSE_S),
            PauseBeforeNext::For(exactly_s) => exactly_s,
        };
        if done_s + pause_s < *end_s {
            due.push(Reverse((DueTime(done_s + pause_s), user)));
        }
    }
}
