//! One event loop.

use std::io;
use std::net::TcpStream as Connected;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use super::client::{Client, Clients};
use super::post::{Post, WAKE};
use super::server::Server;
use crate::buffer::Fill;
use crate::own::Own;
use crate::rules::most_reply_bytes;
use crate::serve::Shared;
use crate::stats::Stats;
use crate::ServeError;
use sojourn_record::clock::{now, ns};
use sojourn_serving::system;
use sojourn_serving::times::record;

const EVENTS: usize = 1024;

/// A loop and all that belongs to it alone.
pub(crate) struct Lane<'a> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) stats: &'a Stats,
    post: Arc<Post>,
    poll: Poll,
    pub(super) limits: sojourn_memproto::Limits,
    pub(super) clients: Clients,
    pub(super) servers: Vec<Server>,
    pub(super) own: Own,
    /// Clients with something to be written.
    pub(super) dirty: Vec<u32>,
    /// Guarded requests whose second half is due: client, generation, slot.
    pub(super) again: Vec<(u32, u32, u32)>,
    pub(super) under_way: usize,
    pub(super) queue: usize,
    /// Where the next read goes.
    pub(super) turn: usize,
    pub(super) now: u64,
    timeout: u64,
    idle: u64,
    stopping: bool,
}

impl<'a> Lane<'a> {
    /// With a connection to each server, which the caller has made.
    pub fn new(
        shared: &'a Shared<'a>,
        post: Arc<Post>,
        me: usize,
        servers: Vec<Connected>,
    ) -> Result<Self, ServeError> {
        let taken = post.poll.lock().unwrap_or_else(PoisonError::into_inner).take();
        let poll = taken.map_or_else(Poll::new, Ok).map_err(system("epoll"))?;
        let config = shared.config;
        let most_bytes = most_reply_bytes(config);
        let open = |(index, stream): (usize, Connected)| {
            stream.set_nonblocking(true)?;
            let stream = TcpStream::from_std(stream);
            let mut server = Server::new(shared.addresses[index], Token(index), stream, most_bytes);
            server.register(poll.registry())?;
            Ok(server)
        };
        let servers: io::Result<Vec<_>> = servers.into_iter().enumerate().map(open).collect();
        Ok(Self {
            shared,
            stats: &shared.stats[me + 1],
            post,
            limits: config.limits(),
            clients: Clients::default(),
            servers: servers.map_err(system("a connection to a server"))?,
            poll,
            own: Own::new(),
            dirty: Vec::new(),
            again: Vec::new(),
            under_way: 0,
            queue: config.queue.div_ceil(config.threads),
            turn: me,
            now: now(),
            timeout: ns(config.timeout_s),
            idle: ns(config.idle_s),
            stopping: false,
        })
    }

    /// Serves until the proxy halts and all that was taken is answered.
    pub fn run(mut self) -> Result<Own, ServeError> {
        self.stats.begin();
        let mut events = Events::with_capacity(EVENTS);
        let tick = Duration::from_nanos((self.timeout / 10).clamp(1_000_000, 20_000_000));
        let (mut swept, mut slept) = (0, self.now);
        loop {
            self.stats.busy_ns.add(now().saturating_sub(slept));
            // Whoever shares this core goes first: what it sends meanwhile comes in one turn, with one waking up.
            if !events.is_empty() {
                std::thread::yield_now();
            }
            match self.poll.poll(&mut events, Some(tick)) {
                Err(e) if e.kind() != io::ErrorKind::Interrupted => return Err(system("epoll")(e).into()),
                _ => slept = now(),
            }
            self.now = slept;
            events.iter().for_each(|event| self.on_event(event));
            self.flush();
            if self.now - swept >= tick.as_nanos() as u64 {
                swept = self.now;
                if self.sweep() {
                    self.stats.end();
                    return Ok(self.own);
                }
            }
        }
    }

    fn on_event(&mut self, event: &mio::event::Event) {
        let Token(token) = event.token();
        if event.token() == WAKE {
            self.admit();
        } else if token < self.servers.len() {
            let closed = event.is_read_closed() || event.is_error();
            self.on_server(token, event.is_readable() || closed, closed);
        } else {
            let index = (token - self.servers.len()) as u32;
            let Some(client) = self.clients.get(index) else { return };
            if event.is_writable() && !client.out.is_empty() {
                self.mark(index);
            }
            if event.is_readable() || event.is_read_closed() || event.is_error() {
                if let Some(client) = self.clients.get(index) {
                    client.readable = true;
                    client.hung_up |= event.is_read_closed();
                }
                self.pump(index);
            }
        }
    }

    /// New connections.
    fn admit(&mut self) {
        let new = std::mem::take(&mut *self.post.inbox.lock().unwrap_or_else(PoisonError::into_inner));
        for mut stream in new {
            let index = self.clients.reserve();
            let token = Token(self.servers.len() + index as usize);
            let both = Interest::READABLE | Interest::WRITABLE;
            if self.stopping || self.poll.registry().register(&mut stream, token, both).is_err() {
                self.clients.remove(index);
                self.shared.open.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            self.clients.put(index, Client::new(stream, self.now));
            self.stats.connections.add(1);
            self.pump(index);
        }
    }

    pub(super) fn mark(&mut self, index: u32) {
        if let Some(client) = self.clients.get(index) {
            if !std::mem::replace(&mut client.dirty, true) {
                self.dirty.push(index);
            }
        }
    }

    /// Writes what the events of one turn brought: first to servers, in one piece each, then to clients; and
    /// takes up clients that had too much under way.
    fn flush(&mut self) {
        loop {
            self.flush_servers();
            if self.dirty.is_empty() {
                return;
            }
            for index in std::mem::take(&mut self.dirty) {
                self.flush_client(index);
            }
        }
    }

    fn flush_servers(&mut self) {
        for index in 0..self.servers.len() {
            if self.servers[index].dirty {
                let now = now();
                if self.servers[index].flush(now).is_err() {
                    self.fail(index, "is gone");
                }
            }
        }
    }

    fn flush_client(&mut self, index: u32) {
        let Some(client) = self.clients.get(index) else { return };
        client.dirty = false;
        let before = client.out.len();
        let written = client.out.flush(&mut client.stream);
        if client.out.len() < before {
            client.active = now();
            while let Some((_, received)) =
                client.leaving.pop_front_if(|(end, _)| *end <= client.out.written())
            {
                let time = client.active - received;
                self.stats.responded(time);
                record(&mut self.own.response, time);
            }
        }
        if written.is_err() || client.is_over() {
            return self.close(index);
        }
        if client.held > 0 {
            let size = client.size();
            self.shared.memory.change(&mut client.held, size);
        }
        if client.stalled && !client.is_full() && !client.guarded {
            client.stalled = false;
            self.pump(index);
        }
    }

    fn on_server(&mut self, index: usize, readable: bool, closed: bool) {
        let (now, patience) = (self.now, ns(self.shared.config.connect_timeout_s));
        if self.servers[index].connected(now, patience).is_err() {
            return self.fail(index, "cannot be reached");
        }
        self.servers[index].dirty = true;
        if !readable {
            return;
        }
        loop {
            let filled = self.servers[index].fill(now);
            let why = match filled {
                Ok(Fill::Some { .. }) => self.answers(index).err(),
                Ok(Fill::Empty) => return,
                Ok(Fill::Closed) => Some("closed the connection"),
                Err(_) => Some("is gone"),
            };
            if let Some(why) = why {
                return self.fail(index, why);
            }
            if !closed && matches!(filled, Ok(Fill::Some { more: false })) {
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
        self.stopping |= self.shared.halt.is_set();
        for index in 0..self.clients.len() {
            let Some(client) = self.clients.get(index) else { continue };
            client.closing |= self.stopping;
            let idle = now.saturating_sub(client.active) > self.idle;
            if client.is_over() || (idle && (client.slots.is_empty() || !client.out.is_empty())) {
                self.close(index);
            }
        }
        self.flush();
        self.stopping && (self.stats.connections.get() == 0 || self.shared.halt.is_overdue(now))
    }

    pub(super) fn close(&mut self, index: u32) {
        let Some(mut client) = self.clients.remove(index) else { return };
        let left = client.slots.iter().filter(|slot| slot.gather.waiting > 0).count();
        self.under_way -= left;
        self.stats.abandoned.add(left as u64);
        self.stats.connections.set(self.stats.connections.get() - 1);
        self.stats.queue.set(self.under_way as u64);
        self.shared.memory.change(&mut client.held, 0);
        self.shared.open.fetch_sub(1, Ordering::Relaxed);
    }
}
