//! The event loop: the one thread that reads all clients, and in the event-driven design the database.

use std::io;
use std::net::{Shutdown, TcpListener as Bound};
use std::sync::atomic::Ordering;
use std::sync::Arc;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

use crate::client::Client;
use crate::connection::{Connection, ConnectionReader};
use crate::database::Session;
use crate::database_sessions::{DatabaseSessions, FIRST};
use crate::refusal::Refusal;
use crate::response::Response;
use crate::shared::SharedState;
use crate::ServeError;
use sojourn_record::clock::{now, ns};
use sojourn_serving::{system, MemoryCharge, Slab, TICK};

const EVENTS: usize = 1024;
const LISTENER: Token = Token(usize::MAX);
/// Told by workers that a client needs a look.
pub(crate) const WAKE: Token = Token(usize::MAX - 1);
/// How often clients are looked at by the clock, ns.
const SWEEP: u64 = 250_000_000;
/// A request that has begun has to be whole after so long, ns.
const WHOLE: u64 = 30_000_000_000;

pub(crate) struct EventLoop<'a> {
    shared: &'a SharedState<'a>,
    reader: ConnectionReader<'a>,
    poll: Poll,
    listener: TcpListener,
    /// Of the event-driven design; else workers have them.
    sessions: Option<DatabaseSessions<'a>>,
    connections: Slab<Connection>,
    open: usize,
}

impl<'a> EventLoop<'a> {
    pub fn new(
        shared: &'a SharedState<'a>,
        poll: Poll,
        listener: Bound,
        opened: Option<Vec<Session>>,
    ) -> Result<Self, ServeError> {
        let mut listener = TcpListener::from_std(listener);
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE).map_err(system("epoll"))?;
        let registry = poll.registry().try_clone().map_err(system("epoll"))?;
        let sessions = opened.map(|opened| DatabaseSessions::new(shared, registry, opened)).transpose()?;
        let reader = ConnectionReader::new(shared);
        Ok(Self { shared, reader, poll, listener, sessions, connections: Slab::default(), open: 0 })
    }

    /// Serves until the service halts and all that was taken up is answered; then the workers may end.
    pub fn run(mut self) -> Result<(), ServeError> {
        let ended = self.serve();
        self.shared.context.queue.close();
        ended
    }

    fn serve(&mut self) -> Result<(), ServeError> {
        let mut events = Events::with_capacity(EVENTS);
        let mut swept = 0;
        loop {
            match self.poll.poll(&mut events, Some(TICK)) {
                Err(e) if e.kind() != io::ErrorKind::Interrupted => return Err(system("epoll")(e).into()),
                _ => self.reader.now = now(),
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
            let shutdown = self.shared.shutdown.is_set();
            if shutdown || self.reader.now - swept >= SWEEP {
                swept = self.reader.now;
                self.sweep(shutdown);
                if shutdown && (self.open == 0 || self.shared.shutdown.is_overdue(self.reader.now)) {
                    return Ok(());
                }
            }
        }
    }

    fn on_event(&mut self, event: &mio::event::Event) {
        match event.token() {
            LISTENER => self.admit(),
            WAKE => {
                if let Some(sessions) = &mut self.sessions {
                    sessions.adopt();
                }
                for index in self.shared.context.woken() {
                    self.with(index, |me, connection| me.reader.pump(connection));
                }
            }
            Token(index) => self.with(index as u32, |me, connection| {
                if event.is_writable() && connection.client.flush(&me.shared.context, me.reader.now).is_err()
                {
                    return false;
                }
                if event.is_readable() || event.is_read_closed() || event.is_error() {
                    connection.readable = true;
                    connection.hung_up |= event.is_read_closed();
                }
                me.reader.pump(connection)
            }),
        }
    }

    /// Does something with a client, and sees whether that was its end.
    fn with(&mut self, index: u32, act: impl FnOnce(&mut Self, &mut Connection) -> bool) {
        let Some(mut connection) = self.connections.take(index) else { return };
        let goes_on = act(self, &mut connection) && self.goes_on(&mut connection);
        self.connections.give(index, connection);
        if !goes_on {
            self.close(index);
        }
    }

    /// Whether something is owed to a client or expected of it.
    fn goes_on(&mut self, connection: &mut Connection) -> bool {
        let state = connection.client.state();
        if state.owes() > 0 || state.busy {
            return true;
        }
        if state.last && !connection.ended && connection.deadline.linger(self.reader.now) {
            connection.closing = true;
            return connection.client.stream.shutdown(Shutdown::Write).is_ok();
        }
        let over = state.is_over() && !connection.stalled;
        !(over && (connection.ended || (connection.closing && !connection.deadline.is_lingering())))
    }

    fn admit(&mut self) {
        // Out of files, or a client that is gone already: the next look is soon.
        while let Ok((stream, _)) = self.listener.accept() {
            if self.open >= self.shared.config.clients || self.shared.shutdown.is_set() {
                self.shared.counters.turned_away.fetch_add(1, Ordering::Relaxed);
                turn_away(&stream);
            } else if self.accept(stream).is_ok() {
                self.shared.counters.accepted.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn accept(&mut self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let index = self.connections.reserve();
        let both = Interest::READABLE | Interest::WRITABLE;
        if let Err(error) = self.poll.registry().register(&mut stream, Token(index as usize), both) {
            self.connections.remove(index);
            return Err(error);
        }
        let (charge, now) = (|| MemoryCharge::new(&self.shared.context.memory), self.reader.now);
        let client = Arc::new(Client::new(stream, index, charge(), now));
        self.connections.put(index, Connection::new(client, charge(), now));
        self.open += 1;
        self.shared.counters.clients.store(self.open, Ordering::Relaxed);
        Ok(())
    }

    /// What is due by the clock.
    fn sweep(&mut self, shutdown: bool) {
        self.admit();
        if let Some(sessions) = &mut self.sessions {
            sessions.sweep(self.reader.now);
        }
        for index in 0..self.connections.end() {
            self.with(index, |me, connection| {
                connection.closing |= shutdown;
                (!connection.stalled || me.reader.pump(connection)) && !me.is_late(connection)
            });
        }
    }

    /// Whether a client has used up its time.
    fn is_late(&self, connection: &mut Connection) -> bool {
        let unfinished = !connection.pending.is_empty() && !connection.stalled;
        if unfinished && self.reader.now.saturating_sub(connection.begun) > WHOLE {
            return true;
        }
        let state = connection.client.state();
        connection.deadline.acted(state.active);
        let waits = !state.busy || state.owes() > 0;
        connection.deadline.has_passed(self.reader.now, ns(self.shared.config.idle_s), waits)
    }

    fn close(&mut self, index: u32) {
        let Some(connection) = self.connections.remove(index) else { return };
        connection.client.state().end();
        // A worker that still serves it keeps the socket; nobody is to be kept waiting by that.
        let _ = connection.client.stream.shutdown(Shutdown::Both);
        self.open -= 1;
        self.shared.counters.clients.store(self.open, Ordering::Relaxed);
    }
}

fn is_session(token: Token) -> bool {
    token != LISTENER && token != WAKE && token.0 >= FIRST
}

/// Says why; its buffer is empty, so that it fits, or the client is gone.
fn turn_away(mut stream: &TcpStream) {
    let mut bytes = Vec::new();
    Response::Refused(Refusal::Full).compose(true, &mut bytes);
    let _ = io::Write::write(&mut stream, &bytes);
}
