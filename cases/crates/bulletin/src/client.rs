//! A client's connection: one of its requests at a time is with the workers, so that answers keep their order.

use std::io::{self, ErrorKind, Read};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mio::net::TcpStream;
use sojourn_serving::http::{self, ParseStatus, Response};
use sojourn_serving::{ConnectionDeadline, WriteBuffer};

/// What is read at once.
pub(crate) const SCRATCH: usize = 64 * 1024;

/// No request is with a worker.
const IDLE: u8 = 0;
/// A request is with a worker.
const BUSY: u8 = 1;
/// The same, and the event loop wants to be told of the answer.
const WANTED: u8 = 2;

/// A client as a worker sees it.
#[derive(Debug)]
pub(crate) struct Client {
    pub stream: TcpStream,
    /// Its number at the event loop.
    pub index: u32,
    state: AtomicU8,
    output: Mutex<WriteBuffer>,
}

/// A whole request, on its way to a worker.
#[derive(Debug)]
pub(crate) struct WaitingRequest {
    pub client: Arc<Client>,
    pub target: String,
    pub head_only: bool,
    pub close: bool,
    /// When its last byte was read, ns.
    pub received: u64,
}

impl Client {
    pub fn new(stream: TcpStream, index: u32) -> Self {
        Self { stream, index, state: AtomicU8::new(IDLE), output: Mutex::default() }
    }

    fn output(&self) -> MutexGuard<'_, WriteBuffer> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a page and writes what is taken now; whether that was all.
    pub fn send(&self, page: &Response<'_>) -> io::Result<bool> {
        let mut output = self.output();
        http::compose(page, output.tail());
        output.flush(&mut &self.stream)
    }

    /// Writes what was left over; whether nothing is.
    pub fn flush(&self) -> io::Result<bool> {
        self.output().flush(&mut &self.stream)
    }

    /// What shows that the client is served: whether a worker has a request of it, and the bytes that it took so far.
    pub fn progress(&self) -> (bool, u64) {
        (self.state.load(Ordering::Acquire) != IDLE, self.output().written())
    }

    pub fn owes_nothing(&self) -> bool {
        self.output().is_empty()
    }

    /// A request goes to a worker.
    fn begin(&self) {
        self.state.store(BUSY, Ordering::Release);
    }

    /// Its answer is given; whether the event loop wants to know.
    pub fn end(&self) -> bool {
        self.state.swap(IDLE, Ordering::AcqRel) == WANTED
    }

    /// Whether a request is with a worker; if so, `end` will say that this was asked.
    pub fn is_busy(&self) -> bool {
        let asked = self.state.compare_exchange(BUSY, WANTED, Ordering::AcqRel, Ordering::Acquire);
        asked.map_or_else(|state| state == WANTED, |_| true)
    }
}

/// A connection as the event loop has it.
#[derive(Debug)]
pub(crate) struct Connection {
    pub client: Arc<Client>,
    input: Vec<u8>,
    /// There may be something to read.
    pub readable: bool,
    /// The other side has ended; its last bytes may still be here.
    pub hung_up: bool,
    /// No further request; closed when all is written.
    pub closing: bool,
    deadline: ConnectionDeadline,
    /// Bytes that the client had taken when it was last looked at.
    taken: u64,
}

/// What a connection needs next.
#[derive(Debug)]
pub(crate) enum ConnectionStep {
    Request(WaitingRequest),
    /// What came is no request: this status, then the end.
    Refused(u16),
    Wait,
    End,
}

impl Connection {
    pub fn new(client: Arc<Client>, now: u64) -> Self {
        let (input, deadline) = (Vec::new(), ConnectionDeadline::new(now));
        Self { client, input, readable: true, hung_up: false, closing: false, deadline, taken: 0 }
    }

    /// Whether nothing happened for `idle` ns: no request is with a worker, and no answer, or part of one, was taken.
    pub fn is_idle(&mut self, now: u64, idle: u64) -> bool {
        let (busy, taken) = self.client.progress();
        if busy || taken > self.taken {
            self.deadline.acted(now);
        }
        self.taken = taken;
        self.deadline.has_passed(now, idle, !busy)
    }

    /// Reads until a request is whole, unless one is under way.
    pub fn next(&mut self, scratch: &mut [u8], now: impl Fn() -> u64) -> ConnectionStep {
        loop {
            if self.client.is_busy() {
                return ConnectionStep::Wait;
            }
            if self.closing {
                return if self.client.owes_nothing() { ConnectionStep::End } else { ConnectionStep::Wait };
            }
            if !self.input.is_empty() {
                match http::parse(&self.input) {
                    ParseStatus::Partial => {}
                    ParseStatus::Refused(status) => return ConnectionStep::Refused(status),
                    ParseStatus::Complete { request, length } => {
                        let (target, head_only, close) =
                            (request.target.to_owned(), request.head_only, request.close);
                        self.input.drain(..length);
                        self.closing = close;
                        self.client.begin();
                        let client = Arc::clone(&self.client);
                        let received = now();
                        return ConnectionStep::Request(WaitingRequest {
                            client,
                            target,
                            head_only,
                            close,
                            received,
                        });
                    }
                }
            }
            if !self.readable {
                return ConnectionStep::Wait;
            }
            match (&self.client.stream).read(scratch) {
                Ok(0) => return ConnectionStep::End,
                Ok(count) => {
                    self.input.extend_from_slice(&scratch[..count]);
                    // A short read emptied the socket, unless its end is still to come.
                    self.readable = count == scratch.len() || self.hung_up;
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => self.readable = false,
                Err(_) => return ConnectionStep::End,
            }
        }
    }
}
