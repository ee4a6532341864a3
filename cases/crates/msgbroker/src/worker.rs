//! A worker of the threaded design: takes a request, reads it, asks the database, answers.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::client::QueuedRequest;
use crate::operation::Operation;
use crate::refusal::Refusal;
use crate::request_outcome::{parsed, unless_it_panics, RequestOutcome};
use crate::response::Response;
use crate::shared::SharedState;
use crate::stats::Timestamps;
use sojourn_record::clock::now;

/// A worker thread: one request at a time.
pub(crate) struct Worker<'a> {
    shared: &'a SharedState<'a>,
    me: u16,
    bytes: Vec<u8>,
}

impl<'a> Worker<'a> {
    pub fn new(shared: &'a SharedState<'a>, me: usize) -> Self {
        Self { shared, me: me as u16, bytes: Vec::new() }
    }

    /// Serves until the queue is closed and empty.
    pub fn run(mut self) {
        while let Some(waiting) = self.shared.context.queue.take() {
            self.shared.busy.fetch_add(1, Ordering::Relaxed);
            self.serve(waiting);
            self.shared.busy.fetch_sub(1, Ordering::Relaxed);
        }
        self.shared.stats.thread_ends(format!("msg-worker-{}", self.me));
    }

    fn serve(&mut self, waiting: QueuedRequest) {
        let (_, job) = &waiting;
        let mut timestamps = Timestamps { received: job.received, taken: now(), ..Timestamps::default() };
        let outcome = unless_it_panics(|| self.outcome(&waiting, &mut timestamps))
            .unwrap_or_else(RequestOutcome::failed);
        let done = outcome.respond(self.shared, waiting, timestamps, (self.me, 1), &mut self.bytes);
        self.shared.stats.done(&[done]);
    }

    fn outcome(&self, waiting: &QueuedRequest, timestamps: &mut Timestamps) -> RequestOutcome {
        let request = parsed(self.shared, waiting);
        timestamps.parsed = now();
        (timestamps.connected, timestamps.answered) = (timestamps.parsed, timestamps.parsed);
        match request {
            Ok(request) => RequestOutcome::new(self.execute(&request.operation, timestamps), &request),
            Err(rejection) => RequestOutcome::refused(rejection),
        }
    }

    fn execute(&self, operation: &Operation<'_>, timestamps: &mut Timestamps) -> Response {
        let Some(mut session) = self.shared.pool.get(Duration::from_secs_f64(self.shared.config.timeout_s))
        else {
            return Response::Refused(Refusal::Busy);
        };
        timestamps.connected = now();
        let answer = self.shared.execute(&mut session, operation);
        drop(session);
        timestamps.answered = now();
        self.shared.note(&answer);
        answer
    }
}
