//! A client's connection as the event loop has it: bytes to requests in the queue.

use std::io::{ErrorKind, Read};
use std::sync::Arc;

use crate::client::Client;
use crate::client_state::{RawRequest, RequestSlot};
use crate::refusal::Refusal;
use crate::request_framing::{frame, FramingStep};
use crate::shared::SharedState;
use sojourn_record::clock::now;
use sojourn_serving::{ConnectionDeadline, MemoryCharge};

/// Up to so many bytes of an unfinished request are a client's without asking.
pub(crate) const FREE: usize = 4096;
/// What is read at once.
const SCRATCH: usize = 64 * 1024;
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// A client's connection.
pub(crate) struct Connection {
    pub client: Arc<Client>,
    /// Bytes of a request that is not whole.
    pub pending: Vec<u8>,
    /// How long `pending` has to be before another look.
    pub need: usize,
    pub continued: bool,
    pub readable: bool,
    pub hung_up: bool,
    pub ended: bool,
    /// No further request is taken up.
    pub closing: bool,
    pub stalled: bool,
    pub deadline: ConnectionDeadline,
    /// When the request that is not whole began, ns.
    pub begun: u64,
    /// For `pending`.
    charge: MemoryCharge,
}

impl Connection {
    pub fn new(client: Arc<Client>, charge: MemoryCharge, now: u64) -> Self {
        Self {
            client,
            pending: Vec::new(),
            need: 0,
            continued: false,
            readable: false,
            hung_up: false,
            ended: false,
            closing: false,
            stalled: false,
            deadline: ConnectionDeadline::new(now),
            begun: 0,
            charge,
        }
    }
}

/// Reads connections, one after the other.
pub(crate) struct ConnectionReader<'a> {
    shared: &'a SharedState<'a>,
    scratch: Box<[u8]>,
    /// When something was last read, or the loop last woke up, ns.
    pub now: u64,
}

impl<'a> ConnectionReader<'a> {
    pub fn new(shared: &'a SharedState<'a>) -> Self {
        Self { shared, scratch: vec![0; SCRATCH].into_boxed_slice(), now: now() }
    }

    /// Reads and takes up all that a client has sent, as far as it may have waiting; whether its connection is good.
    pub fn pump(&mut self, connection: &mut Connection) -> bool {
        connection.stalled = false;
        self.take_pending(connection);
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut good = true;
        while good && connection.readable && !connection.stalled && !connection.ended {
            match (&connection.client.stream).read(&mut scratch) {
                Ok(0) => self.end(connection),
                Ok(count) => {
                    // A short read has emptied the socket, unless its end is still to come.
                    connection.readable = count == scratch.len() || connection.hung_up;
                    self.now = now();
                    connection.deadline.acted(self.now);
                    self.arrived(connection, &scratch[..count]);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => connection.readable = false,
                Err(_) => good = false,
            }
        }
        self.scratch = scratch;
        good && self.grant(connection)
    }

    fn end(&mut self, connection: &mut Connection) {
        connection.ended = true;
        connection.client.state().ended = true;
    }

    fn arrived(&mut self, connection: &mut Connection, bytes: &[u8]) {
        if connection.closing {
            return;
        }
        if !connection.pending.is_empty() {
            connection.pending.extend_from_slice(bytes);
            return self.take_pending(connection);
        }
        let used = self.take_up(connection, bytes);
        if used < bytes.len() && !connection.closing {
            connection.begun = self.now;
            connection.pending.extend_from_slice(&bytes[used..]);
        }
    }

    fn take_pending(&mut self, connection: &mut Connection) {
        if connection.closing {
            connection.pending = Vec::new();
        }
        if connection.pending.is_empty() || connection.pending.len() < connection.need {
            return;
        }
        let mut pending = std::mem::take(&mut connection.pending);
        let used = self.take_up(connection, &pending);
        if used == pending.len() {
            pending = Vec::new();
        } else if used > 0 {
            connection.begun = self.now;
            pending.drain(..used);
        }
        connection.pending = pending;
    }

    /// Takes up the requests at the start of `bytes`; how many bytes they were.
    fn take_up(&mut self, connection: &mut Connection, bytes: &[u8]) -> usize {
        let mut used = 0;
        connection.need = 0;
        while used < bytes.len() && !connection.closing {
            connection.stalled = connection.client.is_full(&self.shared.context);
            if connection.stalled {
                break;
            }
            match frame(&bytes[used..], self.shared.config.message_bytes) {
                FramingStep::Need { whole, expects } => {
                    connection.need = whole;
                    self.go_on(connection, expects);
                    break;
                }
                FramingStep::Done { start, body, end } => {
                    self.begin(connection, &bytes[used + start..used + end], body - start);
                    used += end;
                }
                FramingStep::Refuse(refusal) => self.refuse(connection, refusal),
            }
        }
        used
    }

    fn begin(&mut self, connection: &mut Connection, bytes: &[u8], head: usize) {
        connection.continued = false;
        let job = RawRequest { received: self.now, bytes: bytes.to_vec(), head };
        self.add(connection, RequestSlot::Request(job));
    }

    fn refuse(&mut self, connection: &mut Connection, refusal: Refusal) {
        connection.closing = true;
        self.add(connection, RequestSlot::Refused(refusal));
    }

    fn add(&mut self, connection: &mut Connection, entry: RequestSlot) {
        self.shared.counters.arrived();
        let added = connection.client.add(entry, &self.shared.context);
        connection.closing |= added.closes;
        self.shared.refused(&added.refused);
    }

    /// A client that waits for it is told that it may send its body, once, if nothing else is being said.
    fn go_on(&mut self, connection: &mut Connection, expects: bool) {
        if !expects || connection.continued {
            return;
        }
        let mut state = connection.client.state();
        if state.is_over() {
            connection.continued = true;
            connection.client.write(&mut state, CONTINUE);
        }
    }

    /// Memory for what is not whole; whether it may be kept.
    fn grant(&mut self, connection: &mut Connection) -> bool {
        if !connection.charge.resize(connection.pending.capacity()) {
            connection.pending = Vec::new();
            connection.charge.resize(0);
            self.refuse(connection, Refusal::Memory);
        }
        true
    }
}
