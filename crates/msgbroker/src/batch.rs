//! `batch`: requests that wait together share a statement and a commit, one for puts and one for takes.

use std::sync::atomic::Ordering;

use crate::answer::Answer;
use crate::book::Stamps;
use crate::clock::now;
use crate::database::{group, operate, put_many, take_many, Fault, Group, Lease};
use crate::line::Waiting;
use crate::refusal::Refusal;
use crate::request::{Operation, Request};
use crate::worker::{Outcome, Worker};

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
        for kind in [Group::Put, Group::Take, Group::Alone] {
            let of_kind = |index: &usize| group(operations[*index]) == kind;
            let indexes: Vec<usize> = (0..operations.len()).filter(of_kind).collect();
            let of_kind: Vec<_> = indexes.iter().map(|index| operations[*index]).collect();
            for (index, answer) in indexes.into_iter().zip(self.ask_group(&mut lease, kind, &of_kind)) {
                answers[index] = answer;
            }
        }
        stamps.answered = now();
        answers.iter().for_each(|answer| self.note(answer));
        answers
    }

    fn ask_group(&self, lease: &mut Lease<'_>, kind: Group, all: &[&Operation<'_>]) -> Vec<Answer> {
        let redelivery_s = self.shared.config.redelivery_s;
        let shared = match kind {
            _ if all.len() < 2 => None,
            Group::Put => Some(put_many(lease, all)),
            Group::Take => Some(take_many(lease, all, redelivery_s)),
            Group::Alone => None,
        };
        let refused =
            |fault: &Fault, one: &Operation<'_>| Answer::Refused(self.shared.as_refusal(fault, one));
        match shared {
            Some(Ok(answers)) => answers,
            // What one of them cannot have, the others must not miss: nothing was done, so each is tried alone.
            None | Some(Err(Fault::Refused(_))) => {
                let mut ask = |one: &&Operation<'_>| {
                    operate(lease, one, redelivery_s).unwrap_or_else(|fault| refused(&fault, one))
                };
                all.iter().map(&mut ask).collect()
            }
            Some(Err(fault)) => all.iter().map(|one| refused(&fault, one)).collect(),
        }
    }
}

/// The answers with their requests, and the refusals of what was none.
fn outcomes(requests: &[Result<Request<'_>, Refusal>], answers: Vec<Answer>) -> Vec<Outcome> {
    let mut answers = answers.into_iter();
    let one = |request: &Result<Request<'_>, Refusal>| match request {
        // As many answers as requests.
        Ok(request) => Outcome::new(answers.next().unwrap_or(Answer::Refused(Refusal::Refused)), request),
        Err(refusal) => Outcome::refused(*refusal),
    };
    requests.iter().map(one).collect()
}
