//! The one thread that reads all clients.

use std::io;
use std::net::{Shutdown, TcpListener as Bound};
use std::sync::atomic::Ordering;
use std::sync::Arc;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

use crate::answer::Answer;
use crate::client::Client;
use crate::database::Link;
use crate::refusal::Refusal;
use crate::sessions::{Sessions, FIRST};
use crate::shared::Shared;
use crate::ServeError;
use sojourn_record::clock::{now, ns};
use sojourn_serving::{system, TICK};

const EVENTS: usize = 1024;
const DOOR: Token = Token(usize::MAX);
/// Told by workers that a client needs a look.
pub(crate) const WAKE: Token = Token(usize::MAX - 1);
/// What is read at once.
const SCRATCH: usize = 64 * 1024;
/// How often clients are looked at by the clock, ns.
const SWEEP: u64 = 250_000_000;
/// A request that has begun has to be whole after so long, ns.
const WHOLE: u64 = 30_000_000_000;
/// After the last answer, so long a client may still send, so that it can read that answer, ns.
const LINGER: u64 = 1_000_000_000;

/// A client as the dispatcher has it.
pub(super) struct Seat {
    pub client: Arc<Client>,
    /// Bytes of a request that is not whole.
    pub pending: Vec<u8>,
    /// How long `pending` has to be before another look.
    pub need: usize,
    /// Bytes granted for `pending`.
    pub held: usize,
    pub continued: bool,
    pub readable: bool,
    pub hung_up: bool,
    pub ended: bool,
    /// No further request is taken up.
    pub closing: bool,
    pub stalled: bool,
    /// When its last bytes are dropped at the latest, ns; 0 before its last answer.
    pub lingers: u64,
    /// When it last sent something, ns.
    pub active: u64,
    /// When the request that is not whole began, ns.
    pub begun: u64,
}

pub(crate) struct Dispatcher<'a> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) now: u64,
    pub(super) scratch: Box<[u8]>,
    poll: Poll,
    listener: TcpListener,
    /// Of the event-driven design; else workers have them.
    sessions: Option<Sessions<'a>>,
    seats: Vec<Option<Box<Seat>>>,
    free: Vec<usize>,
    open: usize,
}

impl<'a> Dispatcher<'a> {
    pub fn new(
        shared: &'a Shared<'a>,
        poll: Poll,
        listener: Bound,
        links: Option<Vec<Link>>,
    ) -> Result<Self, ServeError> {
        let mut listener = TcpListener::from_std(listener);
        poll.registry().register(&mut listener, DOOR, Interest::READABLE).map_err(system("epoll"))?;
        let registry = poll.registry().try_clone().map_err(system("epoll"))?;
        let sessions = links.map(|links| Sessions::new(shared, registry, links)).transpose()?;
        let (seats, free) = (Vec::new(), Vec::new());
        let scratch = vec![0; SCRATCH].into_boxed_slice();
        Ok(Self { shared, now: now(), scratch, poll, listener, sessions, seats, free, open: 0 })
    }

    /// Serves until the service halts and all that was taken up is answered; then the workers may end.
    pub fn run(mut self) -> Result<(), ServeError> {
        let ended = self.serve();
        self.shared.desk.line.close();
        ended
    }

    fn serve(&mut self) -> Result<(), ServeError> {
        let mut events = Events::with_capacity(EVENTS);
        let mut swept = 0;
        loop {
            match self.poll.poll(&mut events, Some(TICK)) {
                Err(e) if e.kind() != io::ErrorKind::Interrupted => return Err(system("epoll")(e).into()),
                _ => self.now = now(),
            }
            if let Some(sessions) = &mut self.sessions {
                // Answers first: they make sessions free, and nothing is sent over one that is over.
                let of_sessions = events.iter().filter(|event| is_session(event.token()));
                of_sessions.for_each(|event| sessions.on_event(event));
            }
            for event in events.iter().filter(|event| !is_session(event.token())) {
                self.on_event(event);
                if let Some(sessions) = &mut self.sessions {
                    sessions.serve();
                }
            }
            let halt = self.shared.halt.is_set();
            if halt || self.now - swept >= SWEEP {
                swept = self.now;
                self.sweep(halt);
                if halt && (self.open == 0 || self.shared.halt.is_overdue(self.now)) {
                    return Ok(());
                }
            }
        }
    }

    fn on_event(&mut self, event: &mio::event::Event) {
        match event.token() {
            DOOR => self.admit(),
            WAKE => {
                if let Some(sessions) = &mut self.sessions {
                    sessions.adopt();
                }
                for index in self.shared.desk.woken() {
                    self.with(index, |me, seat| me.pump(seat));
                }
            }
            Token(index) => self.with(index, |me, seat| {
                if event.is_writable() && seat.client.flush(&me.shared.desk, me.now).is_err() {
                    return false;
                }
                if event.is_readable() || event.is_read_closed() || event.is_error() {
                    seat.readable = true;
                    seat.hung_up |= event.is_read_closed();
                }
                me.pump(seat)
            }),
        }
    }

    /// Does something with a client, and sees whether that was its end.
    fn with(&mut self, index: usize, act: impl FnOnce(&mut Self, &mut Seat) -> bool) {
        let Some(mut seat) = self.seats.get_mut(index).and_then(Option::take) else { return };
        let goes_on = act(self, &mut seat) && self.goes_on(&mut seat);
        self.seats[index] = Some(seat);
        if !goes_on {
            self.close(index);
        }
    }

    /// Whether something is owed to a client or expected of it.
    fn goes_on(&mut self, seat: &mut Seat) -> bool {
        let side = seat.client.side();
        if side.owes() > 0 || side.busy {
            return true;
        }
        if side.last && seat.lingers == 0 && !seat.ended {
            seat.closing = true;
            seat.lingers = self.now + LINGER;
            return seat.client.stream.shutdown(Shutdown::Write).is_ok();
        }
        let over = side.is_over() && !seat.stalled;
        !(over && (seat.ended || (seat.closing && seat.lingers == 0)))
    }

    fn admit(&mut self) {
        // Out of files, or a client that is gone already: the next look is soon.
        while let Ok((stream, _)) = self.listener.accept() {
            if self.open >= self.shared.config.clients || self.shared.halt.is_set() {
                self.shared.gate.turned_away.fetch_add(1, Ordering::Relaxed);
                turn_away(&stream);
            } else if self.seat(stream).is_ok() {
                self.shared.gate.accepted.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn seat(&mut self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let index = self.free.pop().unwrap_or_else(|| {
            self.seats.push(None);
            self.seats.len() - 1
        });
        let both = Interest::READABLE | Interest::WRITABLE;
        if let Err(error) = self.poll.registry().register(&mut stream, Token(index), both) {
            self.free.push(index);
            return Err(error);
        }
        self.seats[index] = Some(Box::new(Seat {
            client: Arc::new(Client::new(stream, index, self.now)),
            pending: Vec::new(),
            need: 0,
            held: 0,
            continued: false,
            readable: false,
            hung_up: false,
            ended: false,
            closing: false,
            stalled: false,
            lingers: 0,
            active: self.now,
            begun: 0,
        }));
        self.open += 1;
        self.shared.gate.clients.store(self.open, Ordering::Relaxed);
        Ok(())
    }

    /// What is due by the clock.
    fn sweep(&mut self, halt: bool) {
        self.admit();
        if let Some(sessions) = &mut self.sessions {
            sessions.sweep(self.now);
        }
        for index in 0..self.seats.len() {
            self.with(index, |me, seat| {
                seat.closing |= halt;
                (!seat.stalled || me.pump(seat)) && !me.is_late(seat)
            });
        }
    }

    /// Whether a client has used up its time.
    fn is_late(&self, seat: &Seat) -> bool {
        if seat.lingers > 0 {
            return self.now > seat.lingers;
        }
        let unfinished = !seat.pending.is_empty() && !seat.stalled;
        if unfinished && self.now.saturating_sub(seat.begun) > WHOLE {
            return true;
        }
        let side = seat.client.side();
        let silent = self.now.saturating_sub(seat.active.max(side.active));
        silent > ns(self.shared.config.idle_s) && (!side.busy || side.owes() > 0)
    }

    fn close(&mut self, index: usize) {
        let Some(seat) = self.seats[index].take() else { return };
        let desk = &self.shared.desk;
        let mut side = seat.client.side();
        side.gone = true;
        side.forget(desk);
        drop(side);
        // A worker that still serves it keeps the socket; nobody is to be kept waiting by that.
        let _ = seat.client.stream.shutdown(Shutdown::Both);
        desk.memory.give(seat.held);
        self.free.push(index);
        self.open -= 1;
        self.shared.gate.clients.store(self.open, Ordering::Relaxed);
    }
}

fn is_session(token: Token) -> bool {
    token != DOOR && token != WAKE && token.0 >= FIRST
}

/// Says why; its buffer is empty, so that it fits, or the client is gone.
fn turn_away(mut stream: &TcpStream) {
    let mut bytes = Vec::new();
    Answer::Refused(Refusal::Full).compose(true, &mut bytes);
    let _ = io::Write::write(&mut stream, &bytes);
}
