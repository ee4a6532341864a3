//! A worker: takes a request, reads it, asks the database, answers.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::answer::Answer;
use crate::book::{Done, Stamps};
use crate::database::{operate, Lease};
use crate::line::Waiting;
use crate::refusal::Refusal;
use crate::request::{parse, Denied, Kind, Operation, Request};
use crate::shared::Shared;
use sojourn_record::clock::now;
use sojourn_serving::{log, Level};

/// A buffer above this is given back.
const KEPT: usize = 256 * 1024;

/// One thread's.
pub(crate) struct Worker<'a> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) me: u16,
    bytes: Vec<u8>,
}

/// What came of a request, before it is told.
pub(super) struct Outcome {
    pub answer: Answer,
    pub kind: Kind,
    /// Of the message put.
    pub bytes: usize,
    pub close: bool,
}

impl Outcome {
    pub fn refused(Denied { refusal, close }: Denied) -> Self {
        Self { answer: Answer::Refused(refusal), kind: Kind::Refused, bytes: 0, close }
    }

    /// Of a request whose worker panicked.
    pub fn failed() -> Self {
        Self::refused(Refusal::Failed.into())
    }

    pub fn new(answer: Answer, request: &Request<'_>) -> Self {
        let kind = match (&answer, request.operation.kind()) {
            (Answer::Nothing, Kind::Take) => Kind::Empty,
            (_, kind) => kind,
        };
        let bytes = if let Operation::Put { body, .. } = request.operation { body.len() } else { 0 };
        Self { answer, kind, bytes, close: request.close }
    }
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
    pub(super) fn tell(
        &mut self,
        waiting: Waiting,
        outcome: Outcome,
        mut stamps: Stamps,
        batch: usize,
    ) -> Done {
        let (client, job) = waiting;
        let Outcome { answer, kind, bytes, close } = outcome;
        self.bytes.clear();
        answer.compose(close, &mut self.bytes);
        let served = client.served(job, &self.bytes, close, batch > 1, &self.shared.desk);
        self.shared.refused(&served.refused);
        self.bytes.shrink_to(KEPT);
        stamps.done = now();
        let bytes = if let Answer::Message(message) = &answer { message.body.len() } else { bytes };
        Done {
            stamps,
            kind,
            status: answer.status(),
            bytes: bytes as u32,
            worker: self.me,
            batch: batch as u16,
            gone: served.gone,
        }
    }
}

/// What `act` came to; `None` where it panicked, which the log tells. What it was at is not used again.
pub(super) fn unless_it_panics<T>(act: impl FnOnce() -> T) -> Option<T> {
    let done = catch_unwind(AssertUnwindSafe(act));
    if done.is_err() {
        let thread = std::thread::current().name().unwrap_or("").to_string();
        log(Level::Error, "worker_panicked", &[("thread", &thread), ("remedy", &"report the line above")]);
    }
    done.ok()
}

/// What was received as a request.
pub(super) fn parsed<'b>(shared: &Shared<'_>, (_, job): &'b Waiting) -> Result<Request<'b>, Denied> {
    let (head, body) = job.bytes.split_at(job.head);
    #[cfg(test)]
    assert!(!head.starts_with(b"GET /panic "), "as the test asks");
    parse(head, body, shared.config.token.as_deref())
}

/// Carries out one operation by itself.
pub(super) fn answer(shared: &Shared<'_>, lease: &mut Lease<'_>, operation: &Operation<'_>) -> Answer {
    operate(lease, operation, shared.config.redelivery_s)
        .unwrap_or_else(|fault| Answer::Refused(shared.as_refusal(&fault, operation)))
}
