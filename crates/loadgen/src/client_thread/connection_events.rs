//! The life of a connection in a lane: opened, ready, closed; events and deadlines.

use std::io;

use super::timeouts::RequestState;
use super::{ClientThread, ConnectDeadline};
use crate::clock::now_s;
use crate::connection::{Connection, ConnectionPhase};
use crate::protocol::RequestGenerator;
use crate::request_outcome::Failure;
use crate::sys::Socket;
use crate::tls::Transport;

const CLOSING: i32 = libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR;
const READABLE: i32 = libc::EPOLLIN | CLOSING;

impl ClientThread<'_> {
    /// Puts a connection into a slot and watches it.
    pub(super) fn insert(&mut self, link: Transport, pool: usize, phase: ConnectionPhase) -> io::Result<u32> {
        let slot = self.slots.reserve();
        let id = self.account.opened;
        self.account.opened += 1;
        let key = u64::from(slot) << 32 | u64::from(self.slots.generation(slot));
        if let Err(cause) = self.poller.add(&link.socket, key) {
            self.slots.remove(slot);
            return Err(cause);
        }
        let exchange = self.generator.as_ref().map(RequestGenerator::exchange);
        self.slots.put(slot, Connection::new(link, id, pool, phase, exchange));
        Ok(slot)
    }

    /// One event of epoll.
    pub(super) fn handle(&mut self, key: u64, flags: i32) {
        let (slot, generation) = ((key >> 32) as u32, key as u32);
        // The slot may have been emptied, and filled again, by an event before this one.
        let Some(conn) = self.slots.same(slot, generation) else {
            return;
        };
        if matches!(conn.phase, ConnectionPhase::Connecting) {
            if flags & (libc::EPOLLOUT | CLOSING) == 0 {
                return;
            }
            match conn.socket.take_error() {
                Ok(None) => self.connected(slot),
                Ok(Some(cause)) | Err(cause) => return self.connect_failed(slot, &cause),
            }
        }
        self.handle_open(slot, flags);
    }

    fn handle_open(&mut self, slot: u32, flags: i32) {
        let Some(conn) = self.slots.get(slot) else {
            return;
        };
        match conn.phase {
            ConnectionPhase::Handshaking => self.shake(slot),
            ConnectionPhase::Idle if flags & READABLE != 0 => self.read_idle(slot),
            ConnectionPhase::Busy(request) => {
                let bytes = &self.targets[request.target].request;
                let writable = flags & libc::EPOLLOUT != 0;
                if writable {
                    if let Err(cause) = conn.write(bytes) {
                        return self.fail(slot, Failure::of_broken(&cause));
                    }
                }
                if flags & READABLE != 0 {
                    self.read(slot, flags & CLOSING != 0);
                }
            }
            _ => {}
        }
    }

    /// Something came though nothing was asked.
    fn read_idle(&mut self, slot: u32) {
        let conn = self.slots.get(slot);
        if conn.is_some_and(|conn| !conn.is_fine_idle(&mut self.buffer)) {
            self.close(slot);
        }
    }

    fn connected(&mut self, slot: u32) {
        let Some(conn) = self.slots.get(slot) else {
            return;
        };
        if conn.tls.is_some() {
            conn.phase = ConnectionPhase::Handshaking;
            return;
        }
        self.opened(slot);
    }

    /// A connect has succeeded: its connection serves who waits, and others may follow.
    fn opened(&mut self, slot: u32) {
        let Some(pool) = self.slots.get(slot).map(|conn| conn.pool) else {
            return;
        };
        self.pools[pool].connected();
        self.ready(slot);
        self.open_more(pool);
    }

    fn shake(&mut self, slot: u32) {
        let Some(conn) = self.slots.get(slot) else {
            return;
        };
        match conn.shake(&mut self.buffer) {
            Ok(false) => {}
            Ok(true) => self.opened(slot),
            Err(cause) => self.connect_failed(slot, &cause),
        }
    }

    fn connect_failed(&mut self, slot: u32, cause: &io::Error) {
        let Some(conn) = self.slots.remove(slot) else {
            return;
        };
        self.no_connection(conn.pool, cause);
        self.open_more(conn.pool);
    }

    /// A connect came to nothing: the request that waits longest fails with it.
    fn no_connection(&mut self, pool: usize, cause: &io::Error) {
        self.pools[pool].connect_failed();
        let failure = match cause.kind() {
            io::ErrorKind::TimedOut => Failure::ConnectTimeout,
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof => {
                Failure::of_broken(cause)
            }
            io::ErrorKind::InvalidData => Failure::Tls,
            _ => Failure::Refused,
        };
        if let Some(request) = self.pools[pool].waiting.pop_front() {
            self.finish_unsent(request, failure, now_s());
        }
    }

    pub(super) fn close(&mut self, slot: u32) {
        let Some(conn) = self.slots.remove(slot) else {
            return;
        };
        self.pools[conn.pool].closed(slot, conn.served);
        self.open_more(conn.pool);
    }

    /// Opens connections as long as the pool wants more.
    pub(super) fn open_more(&mut self, pool: usize) {
        while self.stopped_s.is_none() && self.pools[pool].wants_more(now_s()) {
            let since_s = now_s();
            let opened = self.open_one(pool);
            if self.shared.config.sessions.is_none() {
                self.pools[pool].took(since_s, now_s());
            }
            if let Err(cause) = opened {
                let out_of_sockets =
                    matches!(cause.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::EADDRNOTAVAIL));
                if out_of_sockets && !self.pools[pool].is_empty() {
                    if self.shared.config.sessions.is_some() {
                        self.out_of_sockets = Some(cause);
                    }
                    self.pools[pool].limit_to_open();
                    return;
                }
                self.pools[pool].opening(now_s());
                self.no_connection(pool, &cause);
            }
        }
    }

    /// Opens what had to wait for its time.
    pub(super) fn grow(&mut self, now: f64) {
        for pool in 0..self.pools.len() {
            if self.pools[pool].grows_at_s() <= now {
                self.open_more(pool);
            }
        }
    }

    fn open_one(&mut self, pool: usize) -> io::Result<()> {
        let address = &self.addresses[pool];
        let socket = Socket::begin(&address.peer, address.source(self.account.opened))?;
        let tls = address.tls.as_ref().map(|server| server.session().map(Box::new)).transpose()?;
        let slot = self.insert(Transport { socket, tls }, pool, ConnectionPhase::Connecting)?;
        let now = now_s();
        self.pools[pool].opening(now);
        let (at_s, generation) = (now + self.shared.config.timeout_s, self.slots.generation(slot));
        self.deadlines.push_back(ConnectDeadline { at_s, slot, generation });
        Ok(())
    }

    /// Fails what is past its time, connects first.
    pub(super) fn expire(&mut self, now: f64) {
        while let Some(&ConnectDeadline { at_s, slot, generation }) = self.deadlines.front() {
            let alive = self.is_connecting(slot, generation);
            if alive && at_s > now {
                break;
            }
            self.deadlines.pop_front();
            if alive {
                self.connect_failed(slot, &io::ErrorKind::TimedOut.into());
            }
        }
        while let Some((sequence, place)) = self.timeouts.expired(now) {
            match place {
                RequestState::Sent(slot) => self.fail(slot, Failure::Timeout),
                RequestState::Waiting(pool) => self.expire_waiting(pool as usize, now),
                RequestState::Ended => {}
            }
            self.timeouts.ended(sequence);
        }
    }

    /// The request that waits longest for a connection of this pool has waited too long.
    fn expire_waiting(&mut self, pool: usize, now: f64) {
        let (pool, timeout_s) = (&mut self.pools[pool], self.shared.config.timeout_s);
        // A connect that began late, after others had failed, is not what it waited for.
        let connecting = pool.connecting_s(now) > timeout_s / 2.0;
        let failure = if connecting { Failure::ConnectTimeout } else { Failure::Unsent };
        if let Some(request) = pool.waiting.pop_front() {
            self.finish_unsent(request, failure, now);
        }
    }

    fn is_connecting(&mut self, slot: u32, generation: u32) -> bool {
        self.slots.same(slot, generation).is_some_and(|conn| {
            matches!(conn.phase, ConnectionPhase::Connecting | ConnectionPhase::Handshaking)
        })
    }
}
