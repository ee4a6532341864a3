//! A worker that takes all requests that wait: they share statements, one for puts and one for takes, and a commit.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::client::QueuedRequest;
use crate::database::{execute_many, group, DatabaseError, PooledSession, StatementFate, StatementGroup};
use crate::operation::Operation;
use crate::refusal::Refusal;
use crate::request::{Rejection, Request};
use crate::request_outcome::{parsed, unless_it_panics, RequestOutcome};
use crate::response::Response;
use crate::shared::SharedState;
use crate::stats::Timestamps;
use sojourn_record::clock::now;

/// A request that was carried out, and what its client has still to be told.
type Unanswered = Vec<(QueuedRequest, RequestOutcome, Timestamps)>;

/// A worker thread that serves all waiting requests together.
pub(crate) struct BatchWorker<'a> {
    shared: &'a SharedState<'a>,
    me: u16,
    bytes: Vec<u8>,
}

impl<'a> BatchWorker<'a> {
    pub fn new(shared: &'a SharedState<'a>, me: usize) -> Self {
        Self { shared, me: me as u16, bytes: Vec::new() }
    }

    /// Serves until the queue is closed and empty.
    pub fn run(mut self) {
        let (queue, most) = (&self.shared.context.queue, self.shared.config.batch_most);
        let mut batch = Vec::new();
        while queue.take_batch(most, &mut batch) {
            self.shared.busy.fetch_add(1, Ordering::Relaxed);
            self.serve_in_turn(&mut batch);
            self.shared.busy.fetch_sub(1, Ordering::Relaxed);
        }
        self.shared.stats.thread_ends(format!("msg-worker-{}", self.me));
    }

    /// A batch, and those that gather meanwhile: over one connection, and each is told while the database has the next.
    fn serve_in_turn(&mut self, batch: &mut Vec<QueuedRequest>) {
        let (queue, most) = (&self.shared.context.queue, self.shared.config.batch_most);
        let mut session = self.shared.pool.get(Duration::from_secs_f64(self.shared.config.timeout_s));
        let mut unanswered = Vec::new();
        loop {
            unanswered = self.serve_batch(session.as_mut(), std::mem::take(batch), unanswered);
            if !queue.next_batch(most, batch) {
                drop(session);
                return self.respond_all(unanswered);
            }
        }
    }

    /// Carries out a batch; `unanswered` is what the one before came to.
    fn serve_batch(
        &mut self,
        mut session: Option<&mut PooledSession<'_>>,
        batch: Vec<QueuedRequest>,
        unanswered: Unanswered,
    ) -> Unanswered {
        let mut timestamps = Timestamps { taken: now(), ..Timestamps::default() };
        let (shared, mut unanswered) = (self.shared, Some(unanswered));
        let outcomes = unless_it_panics(|| {
            let mut meanwhile = || self.respond_all(unanswered.take().unwrap_or_default());
            let session = session.as_deref_mut();
            outcomes(shared, session, &batch, &mut timestamps, &mut meanwhile)
        });
        self.respond_all(unanswered.take().unwrap_or_default());
        let outcomes = outcomes.unwrap_or_else(|| {
            if let Some(session) = session {
                session.discard();
            }
            batch.iter().map(|_| RequestOutcome::failed()).collect()
        });
        let stamped = |(waiting, outcome): (QueuedRequest, RequestOutcome)| {
            let timestamps = Timestamps { received: waiting.1.received, ..timestamps };
            (waiting, outcome, timestamps)
        };
        batch.into_iter().zip(outcomes).map(stamped).collect()
    }

    fn respond_all(&mut self, unanswered: Unanswered) {
        if unanswered.is_empty() {
            return;
        }
        let size = unanswered.len();
        let mut all = Vec::with_capacity(size);
        for (waiting, outcome, timestamps) in unanswered {
            let by = (self.me, size as u16);
            all.push(outcome.respond(self.shared, waiting, timestamps, by, &mut self.bytes));
        }
        self.shared.stats.done(&all);
    }
}

/// An answer for each, all over one connection. `meanwhile` is called while the database has something to do, or before
/// anything has to be waited for; perhaps more than once.
fn execute_all(
    shared: &SharedState<'_>,
    session: Option<&mut PooledSession<'_>>,
    operations: &[&Operation<'_>],
    timestamps: &mut Timestamps,
    meanwhile: &mut dyn FnMut(),
) -> Vec<Response> {
    timestamps.connected = now();
    let mut answers = vec![Response::Refused(Refusal::Busy); operations.len()];
    if let Some(session) = session {
        let of = |kind| {
            let of_kind = move |index: &usize| group(operations[*index]) == kind;
            (0..operations.len()).filter(of_kind).collect::<Vec<usize>>()
        };
        let (puts, takes, alone) =
            (of(StatementGroup::Put), of(StatementGroup::Take), of(StatementGroup::Alone));
        execute_together(shared, session, operations, (&puts, &takes), &mut answers, meanwhile);
        execute_each(shared, session, operations, &alone, &mut answers, meanwhile);
    }
    timestamps.answered = now();
    answers.iter().for_each(|answer| shared.note(answer));
    answers
}

/// Puts and takes with one commit.
fn execute_together(
    shared: &SharedState<'_>,
    session: &mut PooledSession<'_>,
    operations: &[&Operation<'_>],
    (puts, takes): (&[usize], &[usize]),
    answers: &mut [Response],
    meanwhile: &mut dyn FnMut(),
) {
    let all: Vec<usize> = puts.iter().chain(takes).copied().collect();
    if all.len() < 2 {
        return execute_each(shared, session, operations, &all, answers, meanwhile);
    }
    let pick = |indexes: &[usize]| indexes.iter().map(|index| operations[*index]).collect::<Vec<_>>();
    match execute_many(session, &pick(puts), &pick(takes), shared.config.redelivery_s, meanwhile) {
        Ok((stored, taken)) => {
            for (index, answer) in all.into_iter().zip(stored.into_iter().chain(taken)) {
                answers[index] = answer.into();
            }
        }
        // What one of them cannot have, the others must not miss: nothing was done, so each is tried alone.
        Err(DatabaseError { effect: StatementFate::RolledBack, .. }) => {
            execute_each(shared, session, operations, &all, answers, meanwhile)
        }
        Err(fault) => {
            for index in all {
                answers[index] = Response::Refused(shared.refusal(&fault, operations[index].kind()));
            }
        }
    }
}

/// One after the other, each with a commit of its own.
fn execute_each(
    shared: &SharedState<'_>,
    session: &mut PooledSession<'_>,
    operations: &[&Operation<'_>],
    indexes: &[usize],
    answers: &mut [Response],
    meanwhile: &mut dyn FnMut(),
) {
    meanwhile();
    for index in indexes {
        answers[*index] = shared.execute(session, operations[*index]);
    }
}

/// What each request of a batch comes to.
fn outcomes(
    shared: &SharedState<'_>,
    session: Option<&mut PooledSession<'_>>,
    batch: &[QueuedRequest],
    timestamps: &mut Timestamps,
    meanwhile: &mut dyn FnMut(),
) -> Vec<RequestOutcome> {
    let requests: Vec<_> = batch.iter().map(|waiting| parsed(shared, waiting)).collect();
    timestamps.parsed = now();
    let operations: Vec<_> = requests.iter().flatten().map(|request| &request.operation).collect();
    let mut answers = execute_all(shared, session, &operations, timestamps, meanwhile).into_iter();
    let one = |request: &Result<Request<'_>, Rejection>| match request {
        // As many answers as requests.
        Ok(request) => {
            RequestOutcome::new(answers.next().unwrap_or(Response::Refused(Refusal::Refused)), request)
        }
        Err(rejection) => RequestOutcome::refused(*rejection),
    };
    requests.iter().map(one).collect()
}
