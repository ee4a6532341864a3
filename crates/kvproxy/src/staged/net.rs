//! The network thread.

use std::io;
use std::net::TcpListener as Bound;
use std::sync::atomic::Ordering;
use std::sync::Arc;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use sojourn_memproto::Limits;

use super::line::Line;
use super::patron::Patron;
use crate::buffer::Inbox;
use crate::door::accept;
use crate::own::Own;
use crate::serve::Shared;
use crate::stats::Stats;
use crate::ServeError;
use sojourn_record::clock::{now, ns};
use sojourn_serving::{system, TICK};

const EVENTS: usize = 1024;
const DOOR: Token = Token(usize::MAX);

/// A client as the network thread has it.
pub(super) struct Seat {
    pub patron: Arc<Patron>,
    pub inbox: Inbox,
    /// Bytes that belong to a refused request and have not arrived.
    pub skip: usize,
    pub readable: bool,
    pub hung_up: bool,
    /// All that it sent has been read.
    pub ended: bool,
    /// Requests are left unread because too much is waiting.
    pub stalled: bool,
    /// No further request is taken up; the connection ends when all is answered.
    pub closing: bool,
    /// Bytes granted for `inbox`.
    pub held: usize,
    /// When it last sent something.
    pub active: u64,
}

pub(super) struct Net<'a> {
    pub shared: &'a Shared<'a>,
    pub stats: &'a Stats,
    pub line: Arc<Line>,
    pub own: Own,
    pub limits: Limits,
    pub now: u64,
    poll: Poll,
    listener: TcpListener,
    seats: Vec<Option<Box<Seat>>>,
    free: Vec<usize>,
}

impl<'a> Net<'a> {
    pub fn new(shared: &'a Shared<'a>, line: Arc<Line>, listener: Bound) -> Result<Self, ServeError> {
        let poll = Poll::new().map_err(system("epoll"))?;
        let mut listener = TcpListener::from_std(listener);
        poll.registry().register(&mut listener, DOOR, Interest::READABLE).map_err(system("epoll"))?;
        let (stats, limits) = (&shared.stats[0], shared.config.limits());
        let (own, seats, free) = (Own::new(), Vec::new(), Vec::new());
        Ok(Self { shared, stats, line, own, limits, now: now(), poll, listener, seats, free })
    }

    /// Serves until the proxy halts and all that was taken up is answered; then the workers may end.
    pub fn run(mut self) -> Result<Own, ServeError> {
        self.stats.begin();
        let mut events = Events::with_capacity(EVENTS);
        let (mut swept, mut awake) = (0, now());
        loop {
            self.stats.busy_ns.add(now() - awake);
            match self.poll.poll(&mut events, Some(TICK)) {
                Err(e) if e.kind() != io::ErrorKind::Interrupted => {
                    self.line.close();
                    return Err(system("epoll")(e).into());
                }
                _ => awake = now(),
            }
            self.now = awake;
            for event in &events {
                self.on_event(event);
            }
            if self.now - swept >= TICK.as_nanos() as u64 {
                swept = self.now;
                if self.sweep() {
                    self.line.close();
                    self.stats.end();
                    return Ok(self.own);
                }
            }
        }
    }

    fn on_event(&mut self, event: &mio::event::Event) {
        let Token(index) = event.token();
        if event.token() == DOOR {
            return self.admit();
        }
        let Some(mut seat) = self.seats.get_mut(index).and_then(Option::take) else { return };
        let mut good = true;
        if event.is_writable() {
            let mut side = seat.patron.side();
            if !side.out.is_empty() {
                good = seat.patron.flush(&mut side, self.stats, &mut self.own, &self.shared.memory).is_ok();
            }
        }
        if event.is_readable() || event.is_read_closed() || event.is_error() {
            seat.readable = true;
            seat.hung_up |= event.is_read_closed();
            good &= self.pump(&mut seat);
        }
        self.seats[index] = Some(seat);
        if !good || self.is_over(index) {
            self.close(index);
        }
    }

    fn admit(&mut self) {
        while let Some(stream) = accept(&self.listener, self.shared) {
            if self.shared.halt.is_set() || self.seat(stream).is_err() {
                self.shared.open.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    fn seat(&mut self, mut stream: TcpStream) -> io::Result<()> {
        let index = self.free.pop().unwrap_or_else(|| {
            self.seats.push(None);
            self.seats.len() - 1
        });
        let both = Interest::READABLE | Interest::WRITABLE;
        if let Err(error) = self.poll.registry().register(&mut stream, Token(index), both) {
            self.free.push(index);
            return Err(error);
        }
        let seat = Seat {
            patron: Arc::new(Patron::new(stream, self.now)),
            inbox: Inbox::default(),
            skip: 0,
            readable: false,
            hung_up: false,
            ended: false,
            stalled: false,
            closing: false,
            held: 0,
            active: self.now,
        };
        self.seats[index] = Some(Box::new(seat));
        self.stats.connections.add(1);
        Ok(())
    }

    /// Whether nothing is owed to a client any more.
    fn is_over(&self, index: usize) -> bool {
        let Some(seat) = &self.seats[index] else { return false };
        if !(seat.closing || (seat.ended && !seat.stalled)) {
            return false;
        }
        let side = seat.patron.side();
        !side.busy && side.backlog.is_empty() && side.out.is_empty()
    }

    /// What is due by the clock; whether the thread is over.
    fn sweep(&mut self) -> bool {
        self.admit();
        let halt = self.shared.halt.is_set();
        let idle = ns(self.shared.config.idle_s);
        for index in 0..self.seats.len() {
            let Some(mut seat) = self.seats[index].take() else { continue };
            seat.closing |= halt;
            let mut good = true;
            if seat.stalled {
                seat.stalled = false;
                good = self.pump(&mut seat);
            }
            let side = seat.patron.side();
            let silent = self.now.saturating_sub(seat.active.max(side.active)) > idle;
            let idle = silent && (!side.busy || !side.out.is_empty());
            drop(side);
            self.seats[index] = Some(seat);
            if !good || idle || self.is_over(index) {
                self.close(index);
            }
        }
        self.stats.queue.set(self.line.len() as u64);
        halt && (self.stats.connections.get() == 0 || self.shared.halt.is_overdue(self.now))
    }

    fn close(&mut self, index: usize) {
        let Some(mut seat) = self.seats[index].take() else { return };
        {
            let mut side = seat.patron.side();
            side.gone = true;
            self.stats.abandoned.add(side.backlog.len() as u64);
            side.backlog.clear();
            self.shared.memory.change(&mut side.held, 0);
            // Workers that still serve it keep the socket; nobody is to be kept waiting by that.
            let _ = seat.patron.stream.shutdown(std::net::Shutdown::Both);
        }
        self.shared.memory.change(&mut seat.held, 0);
        self.free.push(index);
        self.stats.connections.set(self.stats.connections.get() - 1);
        self.shared.open.fetch_sub(1, Ordering::Relaxed);
    }
}
