//! One memcached as one event loop knows it: a connection, what was sent and not answered, and how it comes back.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use sojourn_memproto::{Reply, ReplyKind, ReplyScan};

use crate::limits::{FIRST_PAUSE, LONGEST_PAUSE, REQUEST_WORK, WINDOW_BYTES, WINDOW_WORK};
use sojourn_serving::{MemoryCharge, ReadBuffer, ReadOutcome, WriteBuffer};

const PROBE: &[u8] = b"version\r\n";
/// A server that sends less than this in a time limit, and no whole answer, does not count as working.
const ALIVE_BYTES: usize = 1024;

/// An answer that is awaited: whose request it belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) struct AwaitedReply {
    pub client: u32,
    pub generation: u32,
    pub slot: u32,
    pub part: u8,
    pub shape: ReplyKind,
    /// Keys asked for; 1 for other requests.
    pub keys: u32,
    /// Bytes of the request and, expected, of its answer.
    pub bytes: u32,
    /// When it was sent, ns.
    pub since: u64,
}

impl AwaitedReply {
    fn work(&self) -> usize {
        REQUEST_WORK + self.keys as usize
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionState {
    Up,
    Down {
        retry: u64,
    },
    /// Until `deadline`.
    Connecting {
        deadline: u64,
    },
    /// Connected, but a frozen server's kernel accepts too: it has to say something.
    Probing {
        deadline: u64,
    },
}

#[derive(Debug)]
pub(super) struct ServerConnection {
    address: SocketAddr,
    token: Token,
    state: ConnectionState,
    stream: Option<TcpStream>,
    out: WriteBuffer,
    pub input: ReadBuffer,
    scan: Option<ReplyScan>,
    pending: VecDeque<AwaitedReply>,
    /// Sums over `pending`.
    work: usize,
    bytes: usize,
    /// How many of the last pending ones are not stamped as sent.
    unsent: usize,
    /// When it last showed that it works: with a whole answer, or 1 KiB.
    heard: u64,
    /// When the last bytes came, and how many since `heard`.
    filled: (u64, usize),
    pause: u64,
    most_bytes: usize,
    charge: MemoryCharge,
    /// In need of writing.
    pub dirty: bool,
    /// Whether the socket may have more.
    pub readable: bool,
    /// Whether it said that it will send no more.
    pub hung_up: bool,
}

impl ServerConnection {
    /// Down, and to be tried again at once, where there is no `stream`.
    pub fn new(
        address: SocketAddr,
        token: Token,
        stream: Option<TcpStream>,
        most_bytes: usize,
        charge: MemoryCharge,
    ) -> Self {
        Self {
            address,
            token,
            state: if stream.is_some() { ConnectionState::Up } else { ConnectionState::Down { retry: 0 } },
            stream,
            out: WriteBuffer::default(),
            input: ReadBuffer::default(),
            scan: None,
            pending: VecDeque::new(),
            work: 0,
            bytes: 0,
            unsent: 0,
            heard: 0,
            filled: (0, 0),
            pause: FIRST_PAUSE,
            most_bytes,
            charge,
            dirty: false,
            readable: false,
            hung_up: false,
        }
    }

    pub fn register(&mut self, registry: &Registry) -> io::Result<()> {
        match &mut self.stream {
            Some(stream) => registry.register(stream, self.token, Interest::READABLE | Interest::WRITABLE),
            None => Ok(()),
        }
    }

    #[inline]
    pub fn is_up(&self) -> bool {
        self.state == ConnectionState::Up
    }

    /// Whether a client that has requests under way may send it another: what is behind them must not wait for long.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.work < WINDOW_WORK && self.bytes < WINDOW_BYTES
    }

    /// Whether so much is waiting to be sent to it that memory is at risk.
    pub fn is_behind(&self) -> bool {
        self.out.len() >= self.most_bytes
    }

    /// Takes a request; the bytes are added to what is returned.
    #[inline]
    pub fn take(&mut self, pending: AwaitedReply) -> &mut Vec<u8> {
        self.pending.push_back(pending);
        self.work += pending.work();
        self.bytes += pending.bytes as usize;
        self.unsent += 1;
        self.dirty = true;
        self.out.tail()
    }

    /// Sends what is there.
    pub fn flush(&mut self, now: u64) -> io::Result<()> {
        self.dirty = false;
        let Some(stream) = &mut self.stream else { return Ok(()) };
        if matches!(self.state, ConnectionState::Up | ConnectionState::Probing { .. }) && !self.out.is_empty()
        {
            let unsent = std::mem::take(&mut self.unsent);
            self.pending.iter_mut().rev().take(unsent).for_each(|pending| pending.since = now);
            self.out.flush(stream)?;
            self.charge.set(self.out.size() + self.input.size());
        }
        Ok(())
    }

    pub fn fill(&mut self, now: u64) -> io::Result<ReadOutcome> {
        let Some(stream) = &mut self.stream else { return Ok(ReadOutcome::Empty) };
        let filled = self.input.fill(stream, usize::MAX);
        if let Ok(ReadOutcome::Some { count, .. }) = filled {
            self.filled = (now, self.filled.1 + count);
            if self.filled.1 >= ALIVE_BYTES {
                self.is_alive();
            }
            self.charge.set(self.out.size() + self.input.size());
        }
        filled
    }

    fn is_alive(&mut self) {
        self.heard = self.filled.0;
        self.filled.1 = 0;
    }

    /// The next whole answer: whose it is, what it says, its length at the start of the input.
    ///
    /// # Errors
    /// Bytes that are no answer to what was asked.
    pub fn next(&mut self) -> Result<Option<(AwaitedReply, Reply, usize)>, &'static str> {
        let Some(first) = self.pending.front() else {
            return if self.input.data().is_empty() { Ok(None) } else { Err("answered what nobody asked") };
        };
        let most_bytes = self.most_bytes;
        let scan = self.scan.get_or_insert_with(|| ReplyScan::new(first.shape, most_bytes));
        let found = scan.scan(self.input.data()).map_err(|_| "answered with no memcached's words")?;
        let Some((reply, length)) = found else { return Ok(None) };
        self.scan = None;
        self.is_alive();
        let Some(pending) = self.pending.pop_front() else { return Ok(None) };
        self.work -= pending.work();
        self.bytes -= pending.bytes as usize;
        Ok(Some((pending, reply, length)))
    }

    pub fn is_probing(&self) -> bool {
        matches!(self.state, ConnectionState::Probing { .. })
    }

    /// Whether the probe has been answered: from then on it is up. `None` while the answer is not there.
    pub fn probed(&mut self) -> Option<bool> {
        let data = self.input.data();
        let length = data.iter().position(|b| *b == b'\n')? + 1;
        let good = data.starts_with(b"VERSION ") && length == data.len();
        self.input.consume(length);
        if good {
            (self.state, self.pause) = (ConnectionState::Up, FIRST_PAUSE);
        }
        Some(good)
    }

    /// Whether an answer is due and for too long neither one nor 1 KiB of it has come, or it cannot be connected to. How
    /// long a request has waited says nothing: there may be many before it.
    pub fn is_late(&self, now: u64, timeout: u64) -> bool {
        match self.state {
            ConnectionState::Up => {
                self.pending.front().is_some_and(|first| first.since.max(self.heard) + timeout < now)
            }
            ConnectionState::Connecting { deadline } | ConnectionState::Probing { deadline } => {
                deadline < now
            }
            ConnectionState::Down { .. } => false,
        }
    }

    /// Whether answers are due.
    pub fn is_waited_for(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Drops the connection, so that nothing late can arrive; gives back what it owed.
    pub fn fail(&mut self, now: u64) -> VecDeque<AwaitedReply> {
        self.stream = None;
        self.out.clear();
        self.input = ReadBuffer::default();
        self.charge.set(0);
        (self.scan, self.unsent, self.work, self.bytes) = (None, 0, 0, 0);
        (self.readable, self.hung_up, self.filled.1) = (false, false, 0);
        self.state = ConnectionState::Down { retry: now + self.pause };
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        std::mem::take(&mut self.pending)
    }

    /// Connects again when it is time to; whether it tried.
    pub fn retry(&mut self, now: u64, patience: u64, registry: &Registry) -> io::Result<bool> {
        if !matches!(self.state, ConnectionState::Down { retry } if retry <= now) {
            return Ok(false);
        }
        self.state = ConnectionState::Connecting { deadline: now + patience };
        self.stream = Some(TcpStream::connect(self.address)?);
        self.register(registry)?;
        Ok(true)
    }

    /// After an event: a connection that is made is asked for its version.
    pub fn connected(&mut self, now: u64, patience: u64) -> io::Result<()> {
        let (ConnectionState::Connecting { .. }, Some(stream)) = (self.state, &self.stream) else {
            return Ok(());
        };
        if let Some(error) = stream.take_error()? {
            return Err(error);
        }
        if stream.peer_addr().is_err() {
            return Ok(());
        }
        stream.set_nodelay(true)?;
        self.state = ConnectionState::Probing { deadline: now + patience };
        self.out.tail().extend_from_slice(PROBE);
        self.flush(now)
    }
}
