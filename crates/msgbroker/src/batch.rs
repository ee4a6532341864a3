//! `batch`: requests that wait together share statements, one for puts and one for takes, and a commit.

use std::sync::atomic::Ordering;

use crate::answer::Answer;
use crate::book::Stamps;
use crate::database::{group, operate, together, Fault, Group, Lease};
use crate::line::Waiting;
use crate::refusal::Refusal;
use crate::request::{Denied, Operation, Request};
use crate::worker::{Outcome, Worker};
use sojourn_record::clock::now;

impl Worker<'_> {
    /// Serves until the queue is closed and empty.
    pub(super) fn serve_batches(&mut self) {
        let (line, config) = (&self.shared.desk.line, self.shared.config);
        let mut batch = Vec::new();
        while line.take_batch(config.batch_most, &mut batch) {
            self.shared.busy.fetch_add(1, Ordering::Relaxed);
            self.serve_batch(std::mem::take(&mut batch));
            self.shared.busy.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn serve_batch(&mut self, batch: Vec<Waiting>) {
        let mut stamps = Stamps { taken: now(), ..Stamps::default() };
        let outcomes = {
            let requests: Vec<_> = batch.iter().map(|waiting| self.parse(waiting)).collect();
            stamps.parsed = now();
            let operations: Vec<_> = requests.iter().flatten().map(|request| &request.operation).collect();
            let answers = self.ask_all(&operations, &mut stamps);
            outcomes(&requests, answers)
        };
        // The next batch has gathered meanwhile.
        self.shared.desk.line.done();
        let size = batch.len();
        let mut all = Vec::with_capacity(size);
        for (waiting, outcome) in batch.into_iter().zip(outcomes) {
            let stamps = Stamps { received: waiting.1.received, ..stamps };
            all.push(self.tell(waiting, outcome, stamps, size));
        }
        self.shared.book.done(&all);
    }

    /// An answer for each, all over one connection.
    fn ask_all(&self, operations: &[&Operation<'_>], stamps: &mut Stamps) -> Vec<Answer> {
        (stamps.connected, stamps.answered) = (stamps.parsed, stamps.parsed);
        let mut answers = vec![Answer::Refused(Refusal::Busy); operations.len()];
        if operations.is_empty() {
            return answers;
        }
        let Some(mut lease) = self.shared.pool.lease(self.patience()) else { return answers };
        stamps.connected = now();
        let of = |kind| {
            let of_kind = move |index: &usize| group(operations[*index]) == kind;
            (0..operations.len()).filter(of_kind).collect::<Vec<usize>>()
        };
        let (puts, takes, alone) = (of(Group::Put), of(Group::Take), of(Group::Alone));
        self.ask_together(&mut lease, operations, (&puts, &takes), &mut answers);
        for index in alone {
            answers[index] = self.ask_alone(&mut lease, operations[index]);
        }
        stamps.answered = now();
        answers.iter().for_each(|answer| self.note(answer));
        answers
    }

    /// Puts and takes with one commit.
    fn ask_together(
        &self,
        lease: &mut Lease<'_>,
        operations: &[&Operation<'_>],
        (puts, takes): (&[usize], &[usize]),
        answers: &mut [Answer],
    ) {
        let all = || puts.iter().chain(takes);
        let pick = |indexes: &[usize]| indexes.iter().map(|index| operations[*index]).collect::<Vec<_>>();
        let alone = |lease: &mut Lease<'_>, answers: &mut [Answer]| {
            for index in all() {
                answers[*index] = self.ask_alone(lease, operations[*index]);
            }
        };
        if all().count() < 2 {
            return alone(lease, answers);
        }
        match together(lease, &pick(puts), &pick(takes), self.shared.config.redelivery_s) {
            Ok((stored, taken)) => {
                for (index, answer) in all().zip(stored.into_iter().chain(taken)) {
                    answers[*index] = answer;
                }
            }
            // What one of them cannot have, the others must not miss: nothing was done, so each is tried alone.
            Err(Fault::Refused(_)) => alone(lease, answers),
            Err(fault) => {
                for index in all() {
                    let refusal = self.shared.as_refusal(&fault, operations[*index]);
                    answers[*index] = Answer::Refused(refusal);
                }
            }
        }
    }

    fn ask_alone(&self, lease: &mut Lease<'_>, operation: &Operation<'_>) -> Answer {
        operate(lease, operation, self.shared.config.redelivery_s)
            .unwrap_or_else(|fault| Answer::Refused(self.shared.as_refusal(&fault, operation)))
    }
}

/// The answers with their requests, and the refusals of what was none.
fn outcomes(requests: &[Result<Request<'_>, Denied>], answers: Vec<Answer>) -> Vec<Outcome> {
    let mut answers = answers.into_iter();
    let one = |request: &Result<Request<'_>, Denied>| match request {
        // As many answers as requests.
        Ok(request) => Outcome::new(answers.next().unwrap_or(Answer::Refused(Refusal::Refused)), request),
        Err(denied) => Outcome::refused(*denied),
    };
    requests.iter().map(one).collect()
}
