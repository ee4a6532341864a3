//! The life of a request in a lane: taken up, sent or waiting, finished.

use super::{ClientThread, OutcomeBatch, TAKE_MAX};
use crate::clock::now_s;
use crate::connection::{ConnectionPhase, ReadProgress};
use crate::request_outcome::{Failure, RequestInFlight, RequestOutcome, ResponseFacts};
use crate::request_source::{PauseBeforeNext, NO_USER};
use crate::response_check::check;

impl ClientThread<'_> {
    /// Takes up what is due, at most `TAKE_MAX`; the clock is read for each, as a send can take long.
    pub(super) fn take_due(&mut self) {
        for _ in 0..TAKE_MAX {
            let Some(due_s) = self.source.next_due_s().filter(|_| self.stopped_s.is_none()) else {
                return;
            };
            let now = now_s();
            if due_s > now {
                return;
            }
            let Some((intended_s, user)) = self.source.take() else {
                return;
            };
            let (sequence, target) = (self.account.requested, self.choose_target(user));
            let class = match &mut self.generator {
                Some(generator) => generator.choose(user),
                None => self.targets[target].class,
            };
            self.account.requested += 1;
            self.account.outstanding += 1;
            self.start(RequestInFlight {
                sequence,
                target,
                class,
                user,
                intended_s,
                taken_s: now,
                sent_s: f64::NAN,
            });
        }
    }

    fn choose_target(&mut self, user: u32) -> usize {
        let last = self.targets.len() - 1;
        if last == 0 {
            return 0;
        }
        // A client of memcached or of messages has its connection: a user stays with one target.
        if self.generator.is_some() && user != NO_USER {
            return user as usize % self.targets.len();
        }
        let u = self.choose_target.uniform();
        self.targets.partition_point(|target| target.up_to <= u).min(last)
    }

    fn start(&mut self, request: RequestInFlight) {
        let pool = self.targets[request.target].pool;
        self.timeouts.push(request.intended_s + self.shared.config.timeout_s, pool);
        match self.pools[pool].take_idle(&mut self.choose_connection) {
            Some(slot) => self.send(slot, request, request.taken_s),
            None if self.pools[pool].waiting.len() as u64 >= self.shared.config.waiting_limit => {
                self.finish_unsent(request, Failure::Unsent, request.taken_s);
            }
            None => {
                self.pools[pool].waiting.push_back(request);
                self.open_more(pool);
            }
        }
    }

    /// The connection is free: for the request that waits longest, or to be idle.
    pub(super) fn ready(&mut self, slot: u32) {
        let Some(conn) = self.slots.get(slot) else {
            return;
        };
        conn.phase = ConnectionPhase::Idle;
        let pool = &mut self.pools[conn.pool];
        match pool.waiting.pop_front() {
            Some(request) => self.send(slot, request, now_s()),
            None => pool.put_idle(slot),
        }
    }

    fn send(&mut self, slot: u32, mut request: RequestInFlight, now: f64) {
        let Some(conn) = self.slots.get(slot) else {
            return;
        };
        let target = &mut self.targets[request.target];
        request.sent_s = now;
        if let (Some(generator), Some(exchange)) = (&mut self.generator, &mut conn.exchange) {
            generator.compose(&request, &target.request, exchange);
            request.sent_s = now_s();
        }
        let begun = conn.begin(request, target);
        self.account.sent += 1;
        self.timeouts.sent(request.sequence, slot);
        if let Err(cause) = begun {
            self.fail(slot, Failure::of_broken(&cause));
        }
    }

    /// Reads the answer of a busy connection as far as it is there.
    pub(super) fn read(&mut self, slot: u32, closing: bool) {
        let Some(conn) = self.slots.get(slot) else {
            return;
        };
        match conn.read(&mut self.buffer, closing, self.generator.as_ref()) {
            ReadProgress::More => {}
            ReadProgress::Failed(failure) => self.fail(slot, failure),
            ReadProgress::Complete { done_s, stamp_ns, reusable } => {
                let pool = conn.pool;
                conn.served = true;
                let ConnectionPhase::Busy(request) = conn.phase else {
                    return;
                };
                let response = &mut conn.response;
                let failure = match (&mut conn.exchange, &mut self.generator) {
                    (Some(exchange), Some(generator)) => generator.judge(exchange, response, request.user),
                    _ => check(&self.targets[request.target].expect, response.status, response.body.bytes),
                };
                self.account.ended_by_close += u64::from(response.ends_with_connection());
                self.finish(slot, failure, stamp_ns, done_s);
                if reusable {
                    self.ready(slot);
                } else {
                    self.close(slot);
                }
                if self.pools[pool].served() {
                    self.open_more(pool);
                }
            }
        }
    }

    /// The request of a connection fails, and the connection is of no more use.
    pub(super) fn fail(&mut self, slot: u32, failure: Failure) {
        self.finish(slot, failure, None, now_s());
        self.close(slot);
    }

    fn finish(&mut self, slot: u32, failure: Failure, stamp_ns: Option<i64>, done_s: f64) {
        let Some(conn) = self.slots.get(slot) else {
            return;
        };
        let ConnectionPhase::Busy(request) = conn.phase else {
            return;
        };
        conn.phase = ConnectionPhase::Idle;
        let (answer, connection) = (conn.answer(request.class), conn.id);
        let received_s = self.stamps.monotonic_s(stamp_ns, request.sent_s, done_s);
        self.end(RequestOutcome::new(request, answer, [received_s, done_s], failure, connection));
    }

    /// A request that never had a connection.
    pub(super) fn finish_unsent(&mut self, request: RequestInFlight, failure: Failure, done_s: f64) {
        let answer = ResponseFacts::none(request.class);
        self.end(RequestOutcome::new(request, answer, [f64::NAN, done_s], failure, u32::MAX));
    }

    fn end(&mut self, outcome: RequestOutcome) {
        self.account.outstanding -= 1;
        self.timeouts.ended(outcome.request.sequence);
        let pause = match &mut self.generator {
            Some(generator) => generator.pause(&outcome),
            None => PauseBeforeNext::after(outcome.failure),
        };
        self.source.finished(outcome.request.user, outcome.done_s, pause);
        self.account.outcomes.push(outcome);
    }

    /// Time is up: what is left has failed; or is dropped, if the user stopped the run.
    pub(super) fn give_up(&mut self, now: f64) {
        if self.stopped_s.is_some() {
            self.account.abandoned = self.account.outstanding;
            return;
        }
        for slot in 0..self.slots.end() {
            self.finish(slot, Failure::Timeout, None, now);
        }
        for pool in 0..self.pools.len() {
            while let Some(request) = self.pools[pool].waiting.pop_front() {
                self.finish_unsent(request, Failure::Unsent, now);
            }
        }
        while self.source.take().is_some() {
            self.account.missed += 1;
        }
    }

    pub(super) fn report(&mut self) {
        let waiting = self.pools.iter().map(|pool| pool.waiting.len()).sum();
        self.account.publish(self.gauges, waiting);
        self.hand_over();
    }

    pub(super) fn hand_over(&mut self) {
        if !self.account.outcomes.is_empty() {
            let room = Vec::with_capacity(self.account.outcomes.len());
            let outcomes = std::mem::replace(&mut self.account.outcomes, room);
            // The sink is gone only after a failure, which has set `halt` too.
            let _ = self.sender.send(OutcomeBatch { lane: self.index as u8, outcomes });
        }
    }
}
