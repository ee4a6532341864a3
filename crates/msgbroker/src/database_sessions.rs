//! The event-driven design: the database's sessions in the event loop's poll. A request is parsed, given a session and sent;
//! the loop goes on, and answers when the database is ready for the next.
//!
//! Where no session is free, one that has a statement gets a second: the database's process then finds it at once, instead of
//! sleeping until it is woken, which on a virtual machine costs both sides more than reading and writing.

use std::sync::atomic::Ordering;

use mio::event::Event;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};

use crate::client::QueuedRequest;
use crate::database::{DatabaseError, OperationResult, Session, StatementFate};
use crate::operation::OperationKind;
use crate::refusal::Refusal;
use crate::request_outcome::RequestOutcome;
use crate::response::Response;
use crate::session_slot::{send, InFlight, SendOutcome, SessionSlot, DEPTH};
use crate::shared::SharedState;
use crate::stats::Timestamps;
use crate::ServeError;
use sojourn_record::clock::{now, ns};
use sojourn_serving::system;

/// The first session's token; clients have those below.
pub(crate) const FIRST: usize = 1 << 32;
/// A session waits this much longer than the database, which gives up first and says so, ns.
const GRACE: u64 = 500_000_000;

pub(crate) struct DatabaseSessions<'a> {
    shared: &'a SharedState<'a>,
    registry: Registry,
    slots: Vec<SessionSlot>,
    /// Places of sessions without a request; the one that was used last is used next.
    free: Vec<usize>,
    open: usize,
    /// Statements of all sessions.
    in_flight: usize,
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
        let (free, open, in_flight, out) = (Vec::new(), 0, 0, Vec::new());
        let mut sessions = Self { shared, registry, slots, free, open, in_flight, moved: now(), out };
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
        while !self.shared.context.queue.is_empty() {
            let Some(place) = self.place() else { return };
            if let Some(waiting) = self.shared.context.queue.try_take() {
                self.give(place, waiting);
            }
        }
        self.moved = now();
    }

    /// Of a free session, else of the one with room that has had its statement for the longest time.
    fn place(&self) -> Option<usize> {
        if let Some(free) = self.free.last() {
            return Some(*free);
        }
        if self.in_flight >= DEPTH * self.open {
            return None;
        }
        let rooms = self.slots.iter().enumerate().filter_map(|(place, slot)| Some((slot.room()?, place)));
        rooms.min().map(|(_, place)| place)
    }

    /// Gives a request to a session, to another one where that is over.
    fn give(&mut self, place: usize, waiting: QueuedRequest) {
        let slot = &mut self.slots[place];
        let Some(session) = &mut slot.session else { return };
        match send(self.shared, session, waiting) {
            SendOutcome::InFlight(in_flight) => {
                self.moved = in_flight.timestamps.connected;
                let rest = session.has_more();
                if slot.in_flight.is_empty() {
                    self.free.pop();
                    self.shared.pool.in_use.fetch_add(1, Ordering::Relaxed);
                }
                slot.in_flight.push_back(in_flight);
                self.in_flight += 1;
                if rest {
                    self.watch(place, Interest::READABLE | Interest::WRITABLE);
                }
            }
            SendOutcome::Answered(waiting, outcome, timestamps) => {
                self.respond(place, waiting, outcome, timestamps)
            }
            SendOutcome::Unsent(waiting, fault) => {
                self.lose(place, &fault);
                match self.place() {
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
        let Some(SessionSlot { session: Some(session), .. }) = self.slots.get_mut(place) else {
            return;
        };
        let (had_more, closed) = (session.has_more(), event.is_read_closed());
        let flushed = session.flush();
        if had_more && !session.has_more() {
            self.watch(place, Interest::READABLE);
        }
        match flushed.and_then(|()| self.receive(place, closed)) {
            Ok(()) if closed => {
                self.lose(place, &DatabaseError::new(StatementFate::Unknown, "it was closed"));
            }
            Ok(()) => {}
            Err(fault) => self.lose(place, &fault),
        }
        self.serve();
    }

    /// Reads what has come, and finishes all that it answers. Nothing is sent over a session that was `closed`.
    fn receive(&mut self, place: usize, closed: bool) -> Result<(), DatabaseError> {
        let mut more = true;
        while let SessionSlot { session: Some(session), in_flight } = &mut self.slots[place] {
            let mut spare = Vec::new();
            let rows = in_flight.front_mut().map_or(&mut spare, |first| &mut first.rows);
            match session.take_in(&mut |row| rows.extend(row)) {
                Ok(true) => self.finish(place, None, closed),
                Ok(false) if more => more = session.receive()?,
                Ok(false) => break,
                Err(fault) if fault.effect == StatementFate::RolledBack => {
                    self.finish(place, Some(&fault), closed)
                }
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }

    /// The database has answered, and is ready: the session takes what waits before this client is told.
    fn finish(&mut self, place: usize, fault: Option<&DatabaseError>, closed: bool) {
        let Some(done) = self.first_out(place) else { return };
        let answered = now();
        match self.slots[place].in_flight.front_mut() {
            Some(next) => next.timestamps.connected = answered,
            None => self.free.push(place),
        }
        if !closed {
            self.serve();
        }
        self.complete(place, done, fault, answered);
    }

    fn first_out(&mut self, place: usize) -> Option<InFlight> {
        let first = self.slots[place].in_flight.pop_front()?;
        self.in_flight -= 1;
        if self.slots[place].in_flight.is_empty() {
            self.shared.pool.in_use.fetch_sub(1, Ordering::Relaxed);
        }
        Some(first)
    }

    fn complete(&mut self, place: usize, in_flight: InFlight, fault: Option<&DatabaseError>, answered: u64) {
        let InFlight { waiting, timestamps, kind, bytes, close, rows } = in_flight;
        let timestamps = Timestamps { answered, ..timestamps };
        let answer = match fault {
            None => Response::from(OperationResult::new(kind, &rows)),
            Some(fault) => Response::Refused(self.shared.refusal(fault, kind)),
        };
        self.shared.note(&answer);
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
        while let Some(in_flight) = self.first_out(place) {
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
            let begun = self.slots[place].in_flight.front().map(|first| first.timestamps.connected);
            if begun.is_some_and(|begun| now.saturating_sub(begun) > timeout + GRACE) {
                self.lose(place, &DatabaseError::new(StatementFate::Unknown, "no answer within --timeout"));
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
