//! One event loop.

use std::io;
use std::net::TcpStream as Connected;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use mio::net::TcpStream;
use mio::{Events, Poll, Token};

use super::client::Client;
use super::mailbox::{Mailbox, WAKE};
use super::server::ServerConnection;
use crate::histograms::Histograms;
use crate::limits::{most_reply_bytes, REPLY_BYTES, SERVER_TURN_BYTES};
use crate::shared::SharedState;
use crate::stats::Stats;
use crate::ServeError;
use sojourn_record::clock::{now, ns};
use sojourn_serving::{system, MemoryCharge, ReadOutcome, ReadyList, Slab};

const EVENTS: usize = 1024;

/// A loop and all that belongs to it alone.
pub(crate) struct EventLoop<'a> {
    pub(super) shared: &'a SharedState<'a>,
    pub(super) stats: &'a Stats,
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) poll: Poll,
    pub(super) limits: sojourn_memproto::RequestLimits,
    pub(super) clients: Slab<Client>,
    pub(super) servers: Vec<ServerConnection>,
    pub(super) histograms: Histograms,
    /// Clients that have more to be taken up, or to be read.
    pub(super) ready: ReadyList,
    /// Clients whose next request waits until servers have room for it.
    pub(super) blocked: ReadyList,
    /// Clients with something to be written.
    pub(super) dirty: Vec<u32>,
    /// Guarded requests whose second half is due: client, generation, slot.
    pub(super) second_halves: Vec<(u32, u32, u32)>,
    pub(super) under_way: usize,
    pub(super) queue: usize,
    /// Where the next read goes.
    pub(super) turn: usize,
    /// How many bytes a key brings: what is expected of new clients.
    pub(super) reply_bytes: usize,
    pub(super) now: u64,
    timeout: u64,
    idle: u64,
    pub(super) stopping: bool,
    /// Whether this turn brought a request or a reply.
    pub(super) fruitful: bool,
}

impl<'a> EventLoop<'a> {
    /// With a connection to each server that the caller could reach.
    pub fn new(
        shared: &'a SharedState<'a>,
        mailbox: Arc<Mailbox>,
        me: usize,
        servers: Vec<Option<Connected>>,
    ) -> Result<Self, ServeError> {
        let taken = mailbox.poll.lock().unwrap_or_else(PoisonError::into_inner).take();
        let poll = taken.map_or_else(Poll::new, Ok).map_err(system("epoll"))?;
        let config = shared.config;
        let most_bytes = most_reply_bytes(config);
        let open = |(index, stream): (usize, Option<Connected>)| {
            if let Some(stream) = &stream {
                stream.set_nonblocking(true)?;
            } else {
                shared.availability.lost(index, "cannot be reached");
            }
            let (stream, charge) = (stream.map(TcpStream::from_std), MemoryCharge::new(&shared.memory));
            let mut server =
                ServerConnection::new(shared.addresses[index], Token(index), stream, most_bytes, charge);
            server.register(poll.registry())?;
            Ok(server)
        };
        let servers: io::Result<Vec<_>> = servers.into_iter().enumerate().map(open).collect();
        Ok(Self {
            shared,
            stats: &shared.stats[me + 1],
            mailbox,
            limits: config.limits(),
            clients: Slab::default(),
            servers: servers.map_err(system("a connection to a server"))?,
            poll,
            histograms: Histograms::new(),
            ready: ReadyList::default(),
            blocked: ReadyList::default(),
            dirty: Vec::new(),
            second_halves: Vec::new(),
            under_way: 0,
            queue: config.queue.div_ceil(config.threads),
            turn: me,
            reply_bytes: REPLY_BYTES,
            now: now(),
            timeout: ns(config.timeout_s),
            idle: ns(config.idle_s),
            stopping: false,
            fruitful: false,
        })
    }

    /// Serves until the proxy halts and all that was taken is answered.
    pub fn run(mut self) -> Result<Histograms, ServeError> {
        self.stats.begin();
        let mut events = Events::with_capacity(EVENTS);
        let tick = Duration::from_nanos((self.timeout / 10).clamp(1_000_000, 20_000_000));
        let (mut swept, mut slept) = (0, self.now);
        loop {
            self.stats.busy_ns.add(now().saturating_sub(slept));
            // Whoever shares this core goes first: what it sends meanwhile comes in one turn, with one waking up. But not
            // for bytes that were no request, nor while there is enough to do: a flood has its turn at the end of its slice.
            let enough = !self.ready.is_empty() || !self.blocked.is_empty();
            if std::mem::take(&mut self.fruitful) && !enough {
                std::thread::yield_now();
            }
            let patience = if self.can_go_on() { Duration::ZERO } else { tick };
            match self.poll.poll(&mut events, Some(patience)) {
                Err(e) if e.kind() != io::ErrorKind::Interrupted => return Err(system("epoll")(e).into()),
                _ => slept = now(),
            }
            self.now = slept;
            events.iter().for_each(|event| self.on_event(event));
            self.take_turns();
            self.flush();
            if self.now - swept >= tick.as_nanos() as u64 {
                swept = self.now;
                if self.sweep() {
                    self.stats.end();
                    return Ok(self.histograms);
                }
            }
        }
    }

    fn on_event(&mut self, event: &mio::event::Event) {
        let Token(token) = event.token();
        let hung_up = event.is_read_closed();
        let readable = event.is_readable() || hung_up || event.is_error();
        if event.token() == WAKE {
            self.admit();
        } else if token < self.servers.len() {
            let (now, patience) = (self.now, ns(self.shared.config.connect_timeout_s));
            if self.servers[token].connected(now, patience).is_err() {
                return self.fail(token, "cannot be reached");
            }
            let server = &mut self.servers[token];
            server.dirty = true;
            server.readable |= readable;
            server.hung_up |= hung_up || event.is_error();
        } else {
            let index = (token - self.servers.len()) as u32;
            let Some(client) = self.clients.get(index) else { return };
            let write = event.is_writable() && !client.out.is_empty();
            if readable {
                client.read_half.event(hung_up);
                self.ready.push(index);
            }
            if write {
                self.mark(index);
            }
        }
    }

    /// Whether there is something to do without an event.
    fn can_go_on(&self) -> bool {
        let room = || self.servers.iter().any(ServerConnection::has_room);
        !self.ready.is_empty()
            || self.servers.iter().any(|server| server.readable)
            || (!self.blocked.is_empty() && room())
    }

    /// A bounded piece of work for each that has some; whoever waits for a server comes before those that come now.
    fn take_turns(&mut self) {
        for index in 0..self.servers.len() {
            if self.servers[index].readable {
                self.read_server(index);
            }
        }
        for _ in 0..self.blocked.len() {
            if !self.servers.iter().any(ServerConnection::has_room) {
                break;
            }
            self.blocked.pop().into_iter().for_each(|index| self.pump(index));
        }
        for _ in 0..self.ready.len() {
            self.ready.pop().into_iter().for_each(|index| self.pump(index));
        }
    }

    /// Writes what the events of one turn brought: first to servers, in one piece each, then to clients.
    fn flush(&mut self) {
        for index in 0..self.servers.len() {
            if self.servers[index].dirty {
                let now = now();
                if self.servers[index].flush(now).is_err() {
                    self.fail(index, "is gone");
                }
            }
        }
        let mut dirty = std::mem::take(&mut self.dirty);
        dirty.drain(..).for_each(|index| self.flush_client(index));
        self.dirty = dirty;
    }

    fn read_server(&mut self, index: usize) {
        let mut left = SERVER_TURN_BYTES;
        loop {
            let filled = self.servers[index].fill(self.now);
            let why = match filled {
                Ok(ReadOutcome::Some { .. }) => self.replies(index).err(),
                Ok(ReadOutcome::Empty) => return self.servers[index].readable = false,
                Ok(ReadOutcome::Closed) => Some("closed the connection"),
                Err(_) => Some("is gone"),
            };
            if let Some(why) = why {
                return self.fail(index, why);
            }
            let Ok(ReadOutcome::Some { count, more }) = filled else { return };
            if !more && !self.servers[index].hung_up {
                return self.servers[index].readable = false;
            }
            left = left.saturating_sub(count);
            if left == 0 {
                return;
            }
        }
    }

    /// What is due by the clock; whether the loop is over.
    fn sweep(&mut self) -> bool {
        let (now, connect) = (self.now, ns(self.shared.config.connect_timeout_s));
        for index in 0..self.servers.len() {
            if self.servers[index].is_late(now, self.timeout) {
                self.fail(index, "timed out");
            }
            match self.servers[index].retry(now, connect, self.poll.registry()) {
                Ok(tried) => self.stats.servers[index].reconnects.add(u64::from(tried)),
                Err(_) => self.fail(index, "cannot be reached"),
            }
        }
        self.stopping |= self.shared.shutdown.is_set();
        for index in 0..self.clients.end() {
            let Some(client) = self.clients.get(index) else { continue };
            client.closing |= self.stopping;
            if client.read_half.deadline.has_passed(now, self.idle, client.is_waited_for()) {
                self.close(index);
            } else if client.is_over() {
                self.linger(index);
            }
        }
        let overdue = self.stopping && self.shared.shutdown.is_overdue(now);
        if overdue {
            self.give_up();
        }
        self.flush();
        self.stopping && (self.stats.connections.get() == 0 || overdue)
    }

    /// What servers still owe is answered with an error.
    fn give_up(&mut self) {
        for index in 0..self.servers.len() {
            if self.servers[index].is_waited_for() {
                self.fail(index, "timed out");
            }
        }
    }
}
