//! The event loop: the one thread that reads all clients, and writes what a worker could not.

use std::io;
use std::net::TcpListener as Bound;
use std::sync::atomic::Ordering;
use std::sync::Arc;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use sojourn_record::clock::{now, ns};
use sojourn_serving::http::Response;
use sojourn_serving::{system, Slab, TICK};

use crate::client::{Client, Connection, ConnectionStep, SCRATCH};
use crate::shared::SharedState;
use crate::worker::refusal;
use crate::ServeError;

const EVENTS: usize = 1024;
/// How often idle clients are looked for, ns.
const ROUND: u64 = 500_000_000;
const LISTENER: Token = Token(usize::MAX);
/// Told by workers that a client needs a look.
pub(crate) const WAKE: Token = Token(usize::MAX - 1);

pub(crate) struct EventLoop<'a> {
    shared: &'a SharedState<'a>,
    poll: Poll,
    listener: TcpListener,
    connections: Slab<Connection>,
    open: usize,
    scratch: Box<[u8]>,
    next_round: u64,
}

impl<'a> EventLoop<'a> {
    pub fn new(shared: &'a SharedState<'a>, poll: Poll, listener: Bound) -> Result<Self, ServeError> {
        let mut listener = TcpListener::from_std(listener);
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE).map_err(system("epoll"))?;
        let scratch = vec![0; SCRATCH].into_boxed_slice();
        Ok(Self { shared, poll, listener, connections: Slab::default(), open: 0, scratch, next_round: 0 })
    }

    /// Serves until the service halts and all that was taken up is answered.
    pub fn run(mut self) -> Result<(), ServeError> {
        let mut events = Events::with_capacity(EVENTS);
        loop {
            match self.poll.poll(&mut events, Some(TICK)) {
                Err(e) if e.kind() != io::ErrorKind::Interrupted => return Err(system("epoll")(e).into()),
                _ => {}
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.admit(),
                    WAKE => self.shared.woken().into_iter().for_each(|index| self.advance(index)),
                    Token(index) => {
                        if let Some(connection) = self.connections.get(index as u32) {
                            connection.readable |= event.is_readable() || event.is_error();
                            connection.hung_up |= event.is_read_closed();
                            self.advance(index as u32);
                        }
                    }
                }
            }
            let now = now();
            if now >= self.next_round {
                self.next_round = now + ROUND;
                self.close_idle(now);
            }
            if self.shared.shutdown.is_set() && self.is_drained() {
                return Ok(());
            }
        }
    }

    /// No request is taken up any more; whether those under way are answered, or their time is over.
    fn is_drained(&mut self) -> bool {
        for index in 0..self.connections.end() {
            if let Some(connection) = self.connections.get(index) {
                connection.closing = true;
                self.advance(index);
            }
        }
        self.open == 0 || self.shared.shutdown.is_overdue(now())
    }

    /// Does what a connection needs, until it has to wait.
    fn advance(&mut self, index: u32) {
        let Some(mut connection) = self.connections.take(index) else { return };
        let goes_on = self.goes_on(&mut connection);
        self.connections.give(index, connection);
        if !goes_on {
            self.close(index);
        }
    }

    fn close(&mut self, index: u32) {
        self.connections.remove(index);
        self.open -= 1;
        self.shared.stats.clients.store(self.open, Ordering::Relaxed);
    }

    fn close_idle(&mut self, now: u64) {
        let idle = ns(self.shared.config.idle_s);
        for index in 0..self.connections.end() {
            if self.connections.get(index).is_some_and(|connection| connection.is_idle(now, idle)) {
                self.close(index);
            }
        }
    }

    fn goes_on(&mut self, connection: &mut Connection) -> bool {
        if connection.client.flush().is_err() {
            return connection.client.is_busy();
        }
        loop {
            match connection.next(&mut self.scratch, now) {
                ConnectionStep::Wait => return true,
                ConnectionStep::End => return false,
                ConnectionStep::Refused(status) => {
                    connection.closing = true;
                    if !send(&connection.client, status, true) {
                        return true;
                    }
                }
                ConnectionStep::Request(request) => {
                    if let Err(request) = self.shared.queue.put(request) {
                        self.shared.stats.refused.fetch_add(1, Ordering::Relaxed);
                        send(&request.client, 503, request.close);
                        request.client.end();
                    }
                }
            }
        }
    }

    fn admit(&mut self) {
        // Out of files, or a client that is gone already: the next event tries anew.
        while let Ok((stream, _)) = self.listener.accept() {
            if self.open >= self.shared.config.clients || self.shared.shutdown.is_set() {
                self.shared.stats.turned_away.fetch_add(1, Ordering::Relaxed);
            } else if self.accept(stream).is_ok() {
                self.shared.stats.accepted.fetch_add(1, Ordering::Relaxed);
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
        self.connections.put(index, Connection::new(Arc::new(Client::new(stream, index)), now()));
        self.open += 1;
        self.shared.stats.clients.store(self.open, Ordering::Relaxed);
        Ok(())
    }
}

/// A page without a worker; whether all of it is written.
fn send(client: &Client, status: u16, close: bool) -> bool {
    let (status, text) = refusal(status, "");
    let page = Response { status, body: text.as_bytes(), cookie: None, head_only: false, close };
    matches!(client.send(&page), Ok(true))
}
