//! The event-driven design: the database's sessions in the dispatcher's poll. A request is parsed, given a session and sent;
//! the loop goes on, and answers when the database is ready for the next.

use std::sync::atomic::Ordering;

use mio::event::Event;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};

use crate::answer::Answer;
use crate::book::Stamps;
use crate::database::{with_statement, Effect, Fault, Link, Reply, Row};
use crate::line::Waiting;
use crate::operation::Kind;
use crate::outcome::{parsed, put_bytes, unless_it_panics, Outcome};
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::ServeError;
use sojourn_record::clock::{now, ns};
use sojourn_serving::system;

/// The first session's token; clients have those below.
pub(crate) const FIRST: usize = 1 << 32;
/// A session waits this much longer than the database, which gives up first and says so, ns.
const GRACE: u64 = 500_000_000;

/// A request whose answer the database owes.
struct UnderWay {
    waiting: Waiting,
    stamps: Stamps,
    kind: Kind,
    /// Of the message put.
    bytes: usize,
    close: bool,
    rows: Vec<Row>,
}

/// A place for a session, which is being opened where there is none.
#[derive(Default)]
struct Slot {
    link: Option<Link>,
    under_way: Option<UnderWay>,
}

/// What became of a request that was to be sent.
enum Sent {
    UnderWay(UnderWay),
    Answered(Waiting, Outcome, Stamps),
    /// The session was over before: another may be tried.
    Unsent(Waiting, Fault),
}

pub(crate) struct Sessions<'a> {
    shared: &'a Shared<'a>,
    registry: Registry,
    slots: Vec<Slot>,
    /// Places of sessions without a request; the one that was used last is used next.
    free: Vec<usize>,
    open: usize,
    /// When a request was last given to a session, or none waited, ns.
    moved: u64,
    out: Vec<u8>,
}

impl<'a> Sessions<'a> {
    /// With all sessions open.
    pub fn new(shared: &'a Shared<'a>, registry: Registry, links: Vec<Link>) -> Result<Self, ServeError> {
        let slots = links.iter().map(|_| Slot::default()).collect();
        let (free, open, out) = (Vec::new(), 0, Vec::new());
        let mut sessions = Self { shared, registry, slots, free, open, moved: now(), out };
        for (place, link) in links.into_iter().enumerate() {
            sessions.add(place, link).map_err(system("epoll"))?;
        }
        Ok(sessions)
    }

    fn add(&mut self, place: usize, link: Link) -> std::io::Result<()> {
        let fd = link.unblock()?;
        let both = Interest::READABLE | Interest::WRITABLE;
        self.registry.register(&mut SourceFd(&fd), Token(FIRST + place), both)?;
        self.slots[place].link = Some(link);
        self.free.push(place);
        self.open += 1;
        Ok(())
    }

    /// Takes in sessions that were opened, and serves those who waited; or refuses them where none can be had.
    pub fn adopt(&mut self) {
        for (place, link) in self.shared.connector.opened() {
            if self.add(place, link).is_err() {
                self.shared.connector.want(place);
            }
        }
        self.serve();
    }

    /// Sends what waits, as far as sessions are free.
    pub fn serve(&mut self) {
        if self.open == 0 && !self.shared.pool.health.is_up() {
            while let Some(waiting) = self.shared.desk.line.try_take() {
                self.refuse(waiting, Refusal::Away);
            }
        }
        while let Some(place) = self.free.last().copied() {
            let Some(waiting) = self.shared.desk.line.try_take() else {
                self.moved = now();
                return;
            };
            self.give(place, waiting);
        }
    }

    /// Gives a request to a free session, to another one where that is over.
    fn give(&mut self, place: usize, waiting: Waiting) {
        let Some(link) = &mut self.slots[place].link else { return };
        match send(self.shared, link, waiting) {
            Sent::UnderWay(under_way) => {
                self.moved = under_way.stamps.connected;
                self.slots[place].under_way = Some(under_way);
                self.free.pop();
                self.shared.pool.in_use.fetch_add(1, Ordering::Relaxed);
            }
            Sent::Answered(waiting, outcome, stamps) => self.tell(place, waiting, outcome, stamps),
            Sent::Unsent(waiting, fault) => {
                self.lose(place, &fault);
                match self.free.last().copied() {
                    Some(other) => self.give(other, waiting),
                    None => self.refuse(waiting, Refusal::Away),
                }
            }
        }
    }

    pub fn on_event(&mut self, event: &Event) {
        let place = event.token().0 - FIRST;
        let Some(Slot { link: Some(link), under_way }) = self.slots.get_mut(place) else { return };
        let mut spare = Vec::new();
        let rows = under_way.as_mut().map_or(&mut spare, |under_way| &mut under_way.rows);
        let received = link.flush().and_then(|()| link.receive(&mut |row| rows.extend(row)));
        match received {
            Ok(ready) => {
                if ready {
                    self.finish(place, None);
                }
                if event.is_read_closed() {
                    self.lose(place, &Fault::new(Effect::Unknown, "it was closed"));
                }
            }
            Err(fault) if fault.effect == Effect::RolledBack => self.finish(place, Some(&fault)),
            Err(fault) => self.lose(place, &fault),
        }
        self.serve();
    }

    /// The database has answered, or will not; the session is free if it is still there.
    fn finish(&mut self, place: usize, fault: Option<&Fault>) {
        let Some(under_way) = self.slots[place].under_way.take() else { return };
        let UnderWay { waiting, mut stamps, kind, bytes, close, rows } = under_way;
        stamps.answered = now();
        let answer = match fault {
            None => Answer::from(Reply::new(kind, &rows)),
            Some(fault) => Answer::Refused(self.shared.as_refusal(fault, kind)),
        };
        self.shared.note(&answer);
        self.shared.pool.in_use.fetch_sub(1, Ordering::Relaxed);
        self.free.push(place);
        self.tell(place, waiting, Outcome::of(answer, kind, bytes, close), stamps);
    }

    /// A session is over: what was under way has an effect that is not known.
    fn lose(&mut self, place: usize, fault: &Fault) {
        if self.slots[place].link.take().is_none() {
            return;
        }
        self.finish(place, Some(fault));
        self.free.retain(|free| *free != place);
        self.open -= 1;
        self.shared.pool.lost.fetch_add(1, Ordering::Relaxed);
        self.shared.connector.want(place);
    }

    fn refuse(&mut self, waiting: Waiting, refusal: Refusal) {
        let now = now();
        let received = waiting.1.received;
        let stamps = Stamps { received, taken: now, parsed: now, connected: now, answered: now, done: now };
        let outcome = Outcome::of(Answer::Refused(refusal), Kind::Refused, 0, refusal.closes());
        self.tell(0, waiting, outcome, stamps);
    }

    fn tell(&mut self, place: usize, waiting: Waiting, outcome: Outcome, stamps: Stamps) {
        let done = outcome.tell(self.shared, waiting, stamps, (place as u16, 1), &mut self.out);
        self.shared.book.done(&[done]);
    }

    /// What is due by the clock: answers that do not come, requests that no session was free for.
    pub fn sweep(&mut self, now: u64) {
        let timeout = ns(self.shared.config.timeout_s);
        for place in 0..self.slots.len() {
            let begun = self.slots[place].under_way.as_ref().map(|under_way| under_way.stamps.connected);
            if begun.is_some_and(|begun| now.saturating_sub(begun) > timeout + GRACE) {
                self.lose(place, &Fault::new(Effect::Unknown, "no answer within --timeout"));
            }
        }
        self.serve();
        if now.saturating_sub(self.moved) > timeout {
            while let Some(waiting) = self.shared.desk.line.try_take() {
                self.refuse(waiting, Refusal::Busy);
            }
            self.moved = now;
        }
    }
}

/// Reads a request and sends its statement.
fn send(shared: &Shared<'_>, link: &mut Link, waiting: Waiting) -> Sent {
    let taken = now();
    let mut stamps = Stamps { received: waiting.1.received, taken, ..Stamps::default() };
    let sent = unless_it_panics(|| {
        let request = parsed(shared, &waiting);
        stamps.parsed = now();
        (stamps.connected, stamps.answered) = (stamps.parsed, stamps.parsed);
        request.map(|request| {
            let redelivery_s = shared.config.redelivery_s;
            let sent = with_statement(&request.operation, redelivery_s, |statement, params| {
                link.send(statement, params)
            });
            (request.operation.kind(), put_bytes(&request.operation), request.close, sent)
        })
    });
    let (kind, bytes, close, sent) = match sent {
        None => return Sent::Answered(waiting, Outcome::failed(), stamps),
        Some(Err(denied)) => return Sent::Answered(waiting, Outcome::refused(denied), stamps),
        Some(Ok(sent)) => sent,
    };
    match sent {
        Err(fault) if fault.effect == Effect::RolledBack => {
            let answer = Answer::Refused(shared.as_refusal(&fault, kind));
            Sent::Answered(waiting, Outcome::of(answer, kind, bytes, close), stamps)
        }
        Err(fault) if fault.effect == Effect::NotSent => Sent::Unsent(waiting, fault),
        // What is known of a statement that went out in part, its session's end will say.
        _ => Sent::UnderWay(UnderWay { waiting, stamps, kind, bytes, close, rows: Vec::new() }),
    }
}
