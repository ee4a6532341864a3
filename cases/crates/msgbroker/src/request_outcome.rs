//! What came of a request, and how it is told.

use std::panic::{catch_unwind, AssertUnwindSafe};

use crate::client::QueuedRequest;
use crate::database::OperationResult;
use crate::operation::{Operation, OperationKind};
use crate::refusal::Refusal;
use crate::request::{parse, Rejection, Request};
use crate::response::Response;
use crate::shared::SharedState;
use crate::stats::{CompletedRequest, Timestamps};
use sojourn_record::clock::now;
use sojourn_serving::{log, LogLevel};

/// A buffer above this is given back.
const KEPT: usize = 256 * 1024;

/// What came of a request, before it is told.
pub(crate) struct RequestOutcome {
    pub answer: Response,
    pub kind: OperationKind,
    /// Of the message put.
    pub bytes: usize,
    pub close: bool,
}

impl RequestOutcome {
    pub fn refused(Rejection { refusal, close }: Rejection) -> Self {
        Self { answer: Response::Refused(refusal), kind: OperationKind::Refused, bytes: 0, close }
    }

    /// Of a request whose worker panicked.
    pub fn failed() -> Self {
        Self::refused(Refusal::Failed.into())
    }

    pub fn new(answer: Response, request: &Request<'_>) -> Self {
        Self::of(answer, request.operation.kind(), put_bytes(&request.operation), request.close)
    }

    /// As `new`, where the request is there no more.
    pub fn of(answer: Response, kind: OperationKind, bytes: usize, close: bool) -> Self {
        let empty = kind == OperationKind::Take && answer == Response::Reply(OperationResult::Empty);
        Self { answer, kind: if empty { OperationKind::Empty } else { kind }, bytes, close }
    }

    /// Answers the client, which was served by a thread or session of this number in a batch of this size. `bytes` is a
    /// buffer.
    pub fn respond(
        self,
        shared: &SharedState<'_>,
        (client, job): QueuedRequest,
        mut timestamps: Timestamps,
        (worker, batch): (u16, u16),
        out: &mut Vec<u8>,
    ) -> CompletedRequest {
        let Self { answer, kind, bytes, close } = self;
        out.clear();
        answer.compose(close, out);
        let served = client.served(job, out, close, batch > 1, &shared.context);
        shared.refused(&served.refused);
        out.shrink_to(KEPT);
        timestamps.done = now();
        let bytes = if let Response::Reply(OperationResult::Message(message)) = &answer {
            message.body.len()
        } else {
            bytes
        };
        CompletedRequest {
            timestamps,
            kind,
            status: answer.status(),
            bytes: bytes as u32,
            worker,
            batch,
            gone: served.gone,
        }
    }
}

/// Of the message that is put.
pub(crate) fn put_bytes(operation: &Operation<'_>) -> usize {
    if let Operation::Put { body, .. } = operation {
        body.len()
    } else {
        0
    }
}

/// What `act` came to; `None` where it panicked, which the log tells. What it was at is not used again.
pub(crate) fn unless_it_panics<T>(act: impl FnOnce() -> T) -> Option<T> {
    let done = catch_unwind(AssertUnwindSafe(act));
    if done.is_err() {
        let thread = std::thread::current().name().unwrap_or("").to_string();
        log(LogLevel::Error, "worker_panicked", &[("thread", &thread), ("remedy", &"report the line above")]);
    }
    done.ok()
}

/// What was received as a request.
pub(crate) fn parsed<'b>(
    shared: &SharedState<'_>,
    (_, job): &'b QueuedRequest,
) -> Result<Request<'b>, Rejection> {
    let (head, body) = job.bytes.split_at(job.head);
    #[cfg(test)]
    assert!(!head.starts_with(b"GET /panic "), "as the test statements");
    parse(head, body, shared.config.token.as_deref())
}
