//! How I/Os end: done, failed, too late, never begun.

use sojourn_dist::Arrivals;
use sojourn_loadgen::recording::{RequestInFlight, RequestOutcome, ResponseFacts, NO_USER};
use sojourn_loadgen::Failure;

use super::{DueIo, Generator, InFlight};
use crate::block_contents::ReadVerdict;
use crate::operation::OperationKind;
use crate::path::{Completion, IoEnd, NetworkCounts};

impl Generator<'_> {
    /// An I/O has ended on the path.
    pub(super) fn end(&mut self, completion: &Completion, done_s: f64) {
        let Some(io) = self.slots[completion.slot as usize].take() else { return };
        self.free.push(completion.slot);
        if io.abandoned {
            return;
        }
        let failure = match completion.end {
            IoEnd::Done => self.verified(completion.slot, &io),
            IoEnd::Error(name) => {
                *self.storage.errors.entry(name).or_default() += 1;
                Failure::Error
            }
            IoEnd::Short => Failure::Length,
            IoEnd::Lost => Failure::Reset,
        };
        if failure == Failure::Ok && io.operation.kind == OperationKind::Read {
            self.late.answered(io.request.sequence, io.request.sent_s, done_s);
        }
        self.written(&io, failure == Failure::Ok);
        if failure == Failure::Ok && done_s <= self.terms.end_s {
            let bytes = u64::from(io.operation.length_bytes);
            match io.operation.kind {
                OperationKind::Read => {
                    self.storage.reads += 1;
                    self.storage.read_bytes += bytes;
                }
                OperationKind::Write => {
                    self.storage.writes += 1;
                    self.storage.write_bytes += bytes;
                }
                OperationKind::Flush => self.storage.flushes += 1,
            }
            self.storage.completed += u64::from(io.operation.kind != OperationKind::Flush);
        }
        self.tell(io.request, io.operation.length_bytes, failure, done_s);
    }

    /// What has waited too long, and what is under way for too long.
    pub(super) fn expire(&mut self, now: f64) {
        let timeout_s = self.terms.timeout_s;
        while let Some(due) = self.waiting.front().copied().filter(|due| due.intended_s + timeout_s <= now) {
            self.waiting.pop_front();
            self.end_unsent(due, now);
        }
        while let Some((_, slot, number)) = self.deadlines.front().copied().filter(|first| first.0 <= now) {
            self.deadlines.pop_front();
            let Some(io) = self.slots[slot as usize].as_mut() else { continue };
            if io.request.sequence != number || io.abandoned {
                continue;
            }
            io.abandoned = true;
            let io = *io;
            self.written(&io, false);
            self.tell(io.request, 0, Failure::Timeout, now);
        }
    }

    /// An I/O ends that was never begun: the queue was full, its time was up, or there was no connection.
    pub(super) fn end_unsent(&mut self, due: DueIo, now: f64) {
        let failure = if self.path.is_up() { Failure::Unsent } else { Failure::Refused };
        let kind = if due.is_flush { OperationKind::Flush } else { OperationKind::Read };
        let request = RequestInFlight {
            sequence: u64::MAX,
            target: 0,
            class: kind as u16,
            user: NO_USER,
            intended_s: due.intended_s,
            taken_s: due.taken_s,
            sent_s: f64::NAN,
        };
        self.tell(request, 0, failure, now);
    }

    /// Of a network path, the share of answers with data that waited for an acknowledgement, half-way or as a whole. A queue that is full
    /// sends when an answer has come, and not at random: then only the former is told.
    pub(super) fn stalled_share(&self, network: &NetworkCounts) -> Option<f64> {
        let answers = network.answers_with_data;
        let half_way = (answers > 0).then(|| network.stalled as f64 / answers as f64)?;
        let at_random =
            self.storage.refused == 0 && matches!(self.config.lane().arrivals, Arrivals::Poisson { .. });
        let whole = self.late.stalled_share(self.begun as f64 / self.config.duration_s).filter(|_| at_random);
        Some(half_way.max(whole.unwrap_or(0.0)))
    }

    fn verified(&mut self, slot: u32, io: &InFlight) -> Failure {
        let Some(contents) = self.contents.as_ref().filter(|_| io.operation.kind == OperationKind::Read)
        else {
            return Failure::Ok;
        };
        let buffer = &self.path.buffer(slot)[..io.operation.length_bytes as usize];
        match contents.end_read(&io.operation, buffer, &self.promises[slot as usize]) {
            ReadVerdict::Right => self.storage.verified += 1,
            ReadVerdict::NotCompared => self.storage.not_compared += 1,
            ReadVerdict::Wrong(what) => {
                self.storage.wrong += 1;
                self.storage.first_wrong.get_or_insert(what);
                return Failure::Wrong;
            }
        }
        Failure::Ok
    }

    /// A write has ended, or its time is up: `done` says whether what was written has to be there from now on.
    fn written(&mut self, io: &InFlight, done: bool) {
        if let Some(contents) = self.contents.as_mut().filter(|_| io.operation.kind == OperationKind::Write) {
            contents.end_write(&io.operation, done);
        }
    }

    fn tell(&mut self, request: RequestInFlight, bytes: u32, failure: Failure, done_s: f64) {
        self.counts.outstanding -= 1;
        let facts = ResponseFacts { bytes: bytes.into(), ..ResponseFacts::none(request.class) };
        let outcome = RequestOutcome::new(request, facts, [f64::NAN, done_s], failure, 0);
        self.counts.outcomes.push(outcome);
    }
}
