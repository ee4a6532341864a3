//! The event-driven design: the database's sessions in the event loop's poll. A request is parsed, given a session and sent;
//! the loop goes on, and answers when the database is ready for the next.

use std::sync::atomic::Ordering;

use mio::event::Event;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};

use crate::client::QueuedRequest;
use crate::database::{with_statement, DatabaseError, OperationResult, Row, Session, StatementFate};
use crate::operation::OperationKind;
use crate::refusal::Refusal;
use crate::request_outcome::{parsed, put_bytes, unless_it_panics, RequestOutcome};
use crate::response::Response;
use crate::shared::SharedState;
use crate::stats::Timestamps;
use crate::ServeError;
use sojourn_record::clock::{now, ns};
use sojourn_serving::system;

/// The first session's token; clients have those below.
pub(crate) const FIRST: usize = 1 << 32;
/// A session waits this much longer than the database, which gives up first and says so, ns.
const GRACE: u64 = 500_000_000;

/// A request whose answer the database owes.
struct InFlight {
    waiting: QueuedRequest,
    timestamps: Timestamps,
    kind: OperationKind,
    /// Of the message put.
    bytes: usize,
    close: bool,
    rows: Vec<Row>,
}

/// A place for a session, which is being opened where there is none.
#[derive(Default)]
struct SessionSlot {
    session: Option<Session>,
    in_flight: Option<InFlight>,
}

/// What became of a request that was to be sent.
enum SendOutcome {
    InFlight(InFlight),
    Answered(QueuedRequest, RequestOutcome, Timestamps),
    /// The session was over before: another may be tried.
    Unsent(QueuedRequest, DatabaseError),
}

pub(crate) struct DatabaseSessions<'a> {
    shared: &'a SharedState<'a>,
    registry: Registry,
    slots: Vec<SessionSlot>,
    /// Places of sessions without a request; the one that was used last is used next.
    free: Vec<usize>,
    open: usize,
    /// When a request was last given to a session, or none waited, ns.
    moved: u64,
    out: Vec<u8>,
}

impl<'a> DatabaseSessions<'a> {
    /// With all sessions open.
    pub fn new(
        shared: &'a SharedState<'a>,
        registry: Registry,
        opened: Vec<Session>,
    ) -> Result<Self, ServeError> {
        let slots = opened.iter().map(|_| SessionSlot::default()).collect();
        let (free, open, out) = (Vec::new(), 0, Vec::new());
        let mut sessions = Self { shared, registry, slots, free, open, moved: now(), out };
        for (place, session) in opened.into_iter().enumerate() {
            sessions.add(place, session).map_err(system("epoll"))?;
        }
        Ok(sessions)
    }

    fn add(&mut self, place: usize, session: Session) -> std::io::Result<()> {
        let fd = session.unblock()?;
        self.registry.register(&mut SourceFd(&fd), Token(FIRST + place), Interest::READABLE)?;
        self.slots[place].session = Some(session);
        self.free.push(place);
        self.open += 1;
        Ok(())
    }

    /// Takes in sessions that were opened, and serves those who waited; or refuses them where none can be had.
    pub fn adopt(&mut self) {
        for (place, session) in self.shared.connector.opened() {
            if self.add(place, session).is_err() {
                self.shared.connector.want(place);
            }
        }
        self.serve();
    }

    /// Sends what waits, as far as sessions are free.
    pub fn serve(&mut self) {
        if self.open == 0 && !self.shared.pool.health.is_up() {
            while let Some(waiting) = self.shared.context.queue.try_take() {
                self.refuse(waiting, Refusal::Away);
            }
        }
        while let Some(place) = self.free.last().copied() {
            let Some(waiting) = self.shared.context.queue.try_take() else {
                self.moved = now();
                return;
            };
            self.give(place, waiting);
        }
    }

    /// Gives a request to a free session, to another one where that is over.
    fn give(&mut self, place: usize, waiting: QueuedRequest) {
        let Some(session) = &mut self.slots[place].session else { return };
        match send(self.shared, session, waiting) {
            SendOutcome::InFlight(in_flight) => {
                self.moved = in_flight.timestamps.connected;
                let rest = session.has_more();
                self.slots[place].in_flight = Some(in_flight);
                self.free.pop();
                if rest {
                    self.watch(place, Interest::READABLE | Interest::WRITABLE);
                }
                self.shared.pool.in_use.fetch_add(1, Ordering::Relaxed);
            }
            SendOutcome::Answered(waiting, outcome, timestamps) => {
                self.respond(place, waiting, outcome, timestamps)
            }
            SendOutcome::Unsent(waiting, fault) => {
                self.lose(place, &fault);
                match self.free.last().copied() {
                    Some(other) => self.give(other, waiting),
                    None => self.refuse(waiting, Refusal::Away),
                }
            }
        }
    }

    /// Room to write is asked for only while something has to be written: a Unix socket tells of it each time that the
    /// database has read something, which would wake this thread for nothing.
    fn watch(&mut self, place: usize, what: Interest) {
        let Some(session) = &self.slots[place].session else { return };
        let watched = session.fd();
        if let Err(error) = self.registry.reregister(&mut SourceFd(&watched), Token(FIRST + place), what) {
            self.lose(place, &DatabaseError::new(StatementFate::Unknown, error));
        }
    }

    pub fn on_event(&mut self, event: &Event) {
        let place = event.token().0 - FIRST;
        let Some(SessionSlot { session: Some(session), in_flight }) = self.slots.get_mut(place) else {
            return;
        };
        let had_more = session.has_more();
        let mut spare = Vec::new();
        let rows = in_flight.as_mut().map_or(&mut spare, |in_flight| &mut in_flight.rows);
        let received = session.flush().and_then(|()| session.receive(&mut |row| rows.extend(row)));
        if had_more && !session.has_more() {
            self.watch(place, Interest::READABLE);
        }
        match received {
            Ok(ready) if event.is_read_closed() => {
                // The last answer was whole; nothing is sent behind it.
                let answered = if ready { self.slots[place].in_flight.take() } else { None };
                self.lose(place, &DatabaseError::new(StatementFate::Unknown, "it was closed"));
                if let Some(in_flight) = answered {
                    self.complete(place, in_flight, None, now());
                }
            }
            Ok(true) => self.finish(place, None),
            Ok(false) => {}
            Err(fault) if fault.effect == StatementFate::RolledBack => self.finish(place, Some(&fault)),
            Err(fault) => self.lose(place, &fault),
        }
        self.serve();
    }

    /// The database has answered, and is ready: the session takes what waits before this client is told.
    fn finish(&mut self, place: usize, fault: Option<&DatabaseError>) {
        if let Some(in_flight) = self.slots[place].in_flight.take() {
            let answered = now();
            self.free.push(place);
            self.serve();
            self.complete(place, in_flight, fault, answered);
        }
    }

    fn complete(&mut self, place: usize, in_flight: InFlight, fault: Option<&DatabaseError>, answered: u64) {
        let InFlight { waiting, timestamps, kind, bytes, close, rows } = in_flight;
        let timestamps = Timestamps { answered, ..timestamps };
        let answer = match fault {
            None => Response::from(OperationResult::new(kind, &rows)),
            Some(fault) => Response::Refused(self.shared.refusal(fault, kind)),
        };
        self.shared.note(&answer);
        self.shared.pool.in_use.fetch_sub(1, Ordering::Relaxed);
        self.respond(place, waiting, RequestOutcome::of(answer, kind, bytes, close), timestamps);
    }

    /// A session is over: what was under way has an effect that is not known.
    fn lose(&mut self, place: usize, fault: &DatabaseError) {
        if self.slots[place].session.take().is_none() {
            return;
        }
        self.free.retain(|free| *free != place);
        self.open -= 1;
        self.shared.pool.lost.fetch_add(1, Ordering::Relaxed);
        self.shared.connector.want(place);
        if let Some(in_flight) = self.slots[place].in_flight.take() {
            self.complete(place, in_flight, Some(fault), now());
        }
    }

    fn refuse(&mut self, waiting: QueuedRequest, refusal: Refusal) {
        let now = now();
        let received = waiting.1.received;
        let timestamps =
            Timestamps { received, taken: now, parsed: now, connected: now, answered: now, done: now };
        let outcome =
            RequestOutcome::of(Response::Refused(refusal), OperationKind::Refused, 0, refusal.closes());
        self.respond(0, waiting, outcome, timestamps);
    }

    fn respond(
        &mut self,
        place: usize,
        waiting: QueuedRequest,
        outcome: RequestOutcome,
        timestamps: Timestamps,
    ) {
        let done = outcome.respond(self.shared, waiting, timestamps, (place as u16, 1), &mut self.out);
        self.shared.stats.done(&[done]);
    }

    /// What is due by the clock: answers that do not come, requests that no session was free for.
    pub fn sweep(&mut self, now: u64) {
        let timeout = ns(self.shared.config.timeout_s);
        for place in 0..self.slots.len() {
            let begun = self.slots[place].in_flight.as_ref().map(|in_flight| in_flight.timestamps.connected);
            if begun.is_some_and(|begun| now.saturating_sub(begun) > timeout + GRACE) {
                self.lose(
                    place,
                    &DatabaseError::new(StatementFate::Unknown, "no answer within --db-timeout"),
                );
            }
        }
        self.serve();
        if now.saturating_sub(self.moved) > timeout {
            while let Some(waiting) = self.shared.context.queue.try_take() {
                self.refuse(waiting, Refusal::Busy);
            }
            self.moved = now;
        }
    }
}

/// Reads a request and sends its statement.
fn send(shared: &SharedState<'_>, session: &mut Session, waiting: QueuedRequest) -> SendOutcome {
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
