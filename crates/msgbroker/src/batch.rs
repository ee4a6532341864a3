//! `batch`: requests that wait together share statements, one for puts and one for takes, and a commit.

use std::sync::atomic::Ordering;

use crate::answer::Answer;
use crate::book::Stamps;
use crate::database::{group, together, Effect, Fault, Group, Lease};
use crate::line::Waiting;
use crate::operation::Operation;
use crate::outcome::{parsed, unless_it_panics, Outcome};
use crate::refusal::Refusal;
use crate::request::{Denied, Request};
use crate::shared::Shared;
use crate::worker::{answer, Worker};
use sojourn_record::clock::now;

/// A request that was carried out, and what its client has still to be told.
type Untold = Vec<(Waiting, Outcome, Stamps)>;

impl Worker<'_> {
    /// Serves until the queue is closed and empty.
    pub(super) fn serve_batches(&mut self) {
        let (line, most) = (&self.shared.desk.line, self.shared.config.batch_most);
        let mut batch = Vec::new();
        while line.take_batch(most, &mut batch) {
            self.shared.busy.fetch_add(1, Ordering::Relaxed);
            self.serve_in_turn(&mut batch);
            self.shared.busy.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// A batch, and those that gather meanwhile: over one connection, and each is told while the database has the next.
    fn serve_in_turn(&mut self, batch: &mut Vec<Waiting>) {
        let (line, most) = (&self.shared.desk.line, self.shared.config.batch_most);
        let mut lease = self.shared.pool.lease(self.patience());
        let mut untold = Vec::new();
        loop {
            untold = self.serve_batch(lease.as_mut(), std::mem::take(batch), untold);
            if !line.next_batch(most, batch) {
                drop(lease);
                return self.tell_all(untold);
            }
        }
    }

    /// Carries out a batch; `untold` is what the one before came to.
    fn serve_batch(
        &mut self,
        mut lease: Option<&mut Lease<'_>>,
        batch: Vec<Waiting>,
        untold: Untold,
    ) -> Untold {
        let mut stamps = Stamps { taken: now(), ..Stamps::default() };
        let (shared, mut untold) = (self.shared, Some(untold));
        let outcomes = unless_it_panics(|| {
            let mut meanwhile = || self.tell_all(untold.take().unwrap_or_default());
            let lease = lease.as_deref_mut();
            outcomes(shared, lease, &batch, &mut stamps, &mut meanwhile)
        });
        self.tell_all(untold.take().unwrap_or_default());
        let outcomes = outcomes.unwrap_or_else(|| {
            if let Some(lease) = lease {
                lease.discard();
            }
            batch.iter().map(|_| Outcome::failed()).collect()
        });
        let stamped = |(waiting, outcome): (Waiting, Outcome)| {
            let stamps = Stamps { received: waiting.1.received, ..stamps };
            (waiting, outcome, stamps)
        };
        batch.into_iter().zip(outcomes).map(stamped).collect()
    }

    fn tell_all(&mut self, untold: Untold) {
        if untold.is_empty() {
            return;
        }
        let size = untold.len();
        let mut all = Vec::with_capacity(size);
        for (waiting, outcome, stamps) in untold {
            all.push(self.tell(waiting, outcome, stamps, size));
        }
        self.shared.book.done(&all);
    }
}

/// An answer for each, all over one connection. `meanwhile` is called while the database has something to do, or before
/// anything has to be waited for; perhaps more than once.
fn ask_all(
    shared: &Shared<'_>,
    lease: Option<&mut Lease<'_>>,
    operations: &[&Operation<'_>],
    stamps: &mut Stamps,
    meanwhile: &mut dyn FnMut(),
) -> Vec<Answer> {
    stamps.connected = now();
    let mut answers = vec![Answer::Refused(Refusal::Busy); operations.len()];
    if let Some(lease) = lease {
        let of = |kind| {
            let of_kind = move |index: &usize| group(operations[*index]) == kind;
            (0..operations.len()).filter(of_kind).collect::<Vec<usize>>()
        };
        let (puts, takes, alone) = (of(Group::Put), of(Group::Take), of(Group::Alone));
        ask_together(shared, lease, operations, (&puts, &takes), &mut answers, meanwhile);
        ask_each(shared, lease, operations, &alone, &mut answers, meanwhile);
    }
    stamps.answered = now();
    answers.iter().for_each(|answer| shared.note(answer));
    answers
}

/// Puts and takes with one commit.
fn ask_together(
    shared: &Shared<'_>,
    lease: &mut Lease<'_>,
    operations: &[&Operation<'_>],
    (puts, takes): (&[usize], &[usize]),
    answers: &mut [Answer],
    meanwhile: &mut dyn FnMut(),
) {
    let all: Vec<usize> = puts.iter().chain(takes).copied().collect();
    if all.len() < 2 {
        return ask_each(shared, lease, operations, &all, answers, meanwhile);
    }
    let pick = |indexes: &[usize]| indexes.iter().map(|index| operations[*index]).collect::<Vec<_>>();
    match together(lease, &pick(puts), &pick(takes), shared.config.redelivery_s, meanwhile) {
        Ok((stored, taken)) => {
            for (index, answer) in all.into_iter().zip(stored.into_iter().chain(taken)) {
                answers[index] = answer.into();
            }
        }
        // What one of them cannot have, the others must not miss: nothing was done, so each is tried alone.
        Err(Fault { effect: Effect::RolledBack, .. }) => {
            ask_each(shared, lease, operations, &all, answers, meanwhile)
        }
        Err(fault) => {
            for index in all {
                answers[index] = Answer::Refused(shared.as_refusal(&fault, operations[index].kind()));
            }
        }
    }
}

/// One after the other, each with a commit of its own.
fn ask_each(
    shared: &Shared<'_>,
    lease: &mut Lease<'_>,
    operations: &[&Operation<'_>],
    indexes: &[usize],
    answers: &mut [Answer],
    meanwhile: &mut dyn FnMut(),
) {
    meanwhile();
    for index in indexes {
        answers[*index] = answer(shared, lease, operations[*index]);
    }
}

/// What each request of a batch comes to.
fn outcomes(
    shared: &Shared<'_>,
    lease: Option<&mut Lease<'_>>,
    batch: &[Waiting],
    stamps: &mut Stamps,
    meanwhile: &mut dyn FnMut(),
) -> Vec<Outcome> {
    let requests: Vec<_> = batch.iter().map(|waiting| parsed(shared, waiting)).collect();
    stamps.parsed = now();
    let operations: Vec<_> = requests.iter().flatten().map(|request| &request.operation).collect();
    let mut answers = ask_all(shared, lease, &operations, stamps, meanwhile).into_iter();
    let one = |request: &Result<Request<'_>, Denied>| match request {
        // As many answers as requests.
        Ok(request) => Outcome::new(answers.next().unwrap_or(Answer::Refused(Refusal::Refused)), request),
        Err(denied) => Outcome::refused(*denied),
    };
    requests.iter().map(one).collect()
}
