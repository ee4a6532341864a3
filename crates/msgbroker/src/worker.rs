//! A worker: takes a request, reads it, asks the database, answers.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::answer::Answer;
use crate::book::{Done, Stamps};
use crate::database::{operate, Lease};
use crate::line::Waiting;
use crate::operation::Operation;
use crate::outcome::{parsed, unless_it_panics, Outcome};
use crate::refusal::Refusal;
use crate::shared::Shared;
use sojourn_record::clock::now;

/// One thread's.
pub(crate) struct Worker<'a> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) me: u16,
    bytes: Vec<u8>,
}

impl<'a> Worker<'a> {
    pub fn new(shared: &'a Shared<'a>, me: usize) -> Self {
        Self { shared, me: me as u16, bytes: Vec::new() }
    }

    /// Serves until the queue is closed and empty.
    pub fn run(mut self) {
        if self.shared.config.batch {
            self.serve_batches();
        } else {
            while let Some(waiting) = self.shared.desk.line.take() {
                self.shared.busy.fetch_add(1, Ordering::Relaxed);
                self.serve(waiting);
                self.shared.busy.fetch_sub(1, Ordering::Relaxed);
            }
        }
        self.shared.book.thread_ends(format!("msg-worker-{}", self.me));
    }

    fn serve(&mut self, waiting: Waiting) {
        let (_, job) = &waiting;
        let mut stamps = Stamps { received: job.received, taken: now(), ..Stamps::default() };
        let outcome =
            unless_it_panics(|| self.outcome(&waiting, &mut stamps)).unwrap_or_else(Outcome::failed);
        let done = self.tell(waiting, outcome, stamps, 1);
        self.shared.book.done(&[done]);
    }

    fn outcome(&self, waiting: &Waiting, stamps: &mut Stamps) -> Outcome {
        let request = parsed(self.shared, waiting);
        stamps.parsed = now();
        (stamps.connected, stamps.answered) = (stamps.parsed, stamps.parsed);
        match request {
            Ok(request) => Outcome::new(self.ask(&request.operation, stamps), &request),
            Err(denied) => Outcome::refused(denied),
        }
    }

    fn ask(&self, operation: &Operation<'_>, stamps: &mut Stamps) -> Answer {
        let Some(mut lease) = self.shared.pool.lease(self.patience()) else {
            return Answer::Refused(Refusal::Busy);
        };
        stamps.connected = now();
        let answer = answer(self.shared, &mut lease, operation);
        drop(lease);
        stamps.answered = now();
        self.shared.note(&answer);
        answer
    }

    pub(super) fn patience(&self) -> Duration {
        Duration::from_secs_f64(self.shared.config.timeout_s)
    }

    /// Answers a client.
    pub(super) fn tell(&mut self, waiting: Waiting, outcome: Outcome, stamps: Stamps, batch: usize) -> Done {
        outcome.tell(self.shared, waiting, stamps, (self.me, batch as u16), &mut self.bytes)
    }
}

/// Carries out one operation by itself.
pub(super) fn answer(shared: &Shared<'_>, lease: &mut Lease<'_>, operation: &Operation<'_>) -> Answer {
    operate(lease, operation, shared.config.redelivery_s)
        .map_or_else(|fault| Answer::Refused(shared.as_refusal(&fault, operation.kind())), Answer::from)
}
