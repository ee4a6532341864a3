//! A place for a session in the event loop, and the statements under way on it.

use std::collections::VecDeque;

use crate::client::QueuedRequest;
use crate::database::{with_statement, DatabaseError, Row, Session, StatementFate};
use crate::operation::OperationKind;
use crate::request_outcome::{parsed, put_bytes, unless_it_panics, RequestOutcome};
use crate::response::Response;
use crate::shared::SharedState;
use crate::stats::Timestamps;
use sojourn_record::clock::now;

/// Statements that one session may have.
pub(crate) const DEPTH: usize = 2;

/// A request whose answer the database owes.
pub(crate) struct InFlight {
    pub waiting: QueuedRequest,
    pub timestamps: Timestamps,
    pub kind: OperationKind,
    /// Of the message put.
    pub bytes: usize,
    pub close: bool,
    pub rows: Vec<Row>,
}

/// A place for a session, which is being opened where there is none.
#[derive(Default)]
pub(crate) struct SessionSlot {
    pub session: Option<Session>,
    /// In the order of their answers, at most `DEPTH`.
    pub in_flight: VecDeque<InFlight>,
}

impl SessionSlot {
    /// Since when the database has had the statement that it answers next, ns, if it may get another one behind it: a list may
    /// take long.
    pub fn room(&self) -> Option<u64> {
        let session = self.session.as_ref()?;
        let last = self.in_flight.back()?;
        let takes_long = last.kind == OperationKind::List;
        let room = self.in_flight.len() < DEPTH && !takes_long && session.may_follow();
        room.then_some(last.timestamps.connected)
    }
}

/// What became of a request that was to be sent.
pub(crate) enum SendOutcome {
    InFlight(InFlight),
    Answered(QueuedRequest, RequestOutcome, Timestamps),
    /// The session was over before: another may be tried.
    Unsent(QueuedRequest, DatabaseError),
}

/// Reads a request and sends its statement.
pub(crate) fn send(shared: &SharedState<'_>, session: &mut Session, waiting: QueuedRequest) -> SendOutcome {
    let taken = now();
    let mut timestamps = Timestamps { received: waiting.1.received, taken, ..Timestamps::default() };
    let sent = unless_it_panics(|| {
        let request = parsed(shared, &waiting);
        timestamps.parsed = now();
        (timestamps.connected, timestamps.answered) = (timestamps.parsed, timestamps.parsed);
        request.map(|request| {
            let redelivery_s = shared.config.redelivery_s;
            let sent = with_statement(&request.operation, redelivery_s, |statement, params| {
                session.send(statement, params)
            });
            (request.operation.kind(), put_bytes(&request.operation), request.close, sent)
        })
    });
    let (kind, bytes, close, sent) = match sent {
        None => return SendOutcome::Answered(waiting, RequestOutcome::failed(), timestamps),
        Some(Err(rejection)) => {
            return SendOutcome::Answered(waiting, RequestOutcome::refused(rejection), timestamps)
        }
        Some(Ok(sent)) => sent,
    };
    match sent {
        Err(fault) if fault.effect == StatementFate::RolledBack => {
            let answer = Response::Refused(shared.refusal(&fault, kind));
            SendOutcome::Answered(waiting, RequestOutcome::of(answer, kind, bytes, close), timestamps)
        }
        Err(fault) if fault.effect == StatementFate::NotSent => SendOutcome::Unsent(waiting, fault),
        // What is known of a statement that went out in part, its session's end will say.
        _ => SendOutcome::InFlight(InFlight { waiting, timestamps, kind, bytes, close, rows: Vec::new() }),
    }
}
