//! A connection: bytes in, whole requests out, and what could not be sent yet.

use std::io::{self, Read};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use sojourn_serving::{write_some, ReadHalf, ReadProgress, TurnBudget, WriteBuffer};

use crate::sys;
use sojourn_serving::http::{self, ParseStatus};

/// One of the places for connections; free again when it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPermit(Arc<AtomicUsize>);

impl ConnectionPermit {
    /// None where `most` are taken.
    pub(crate) fn acquire(taken: &Arc<AtomicUsize>, most: usize) -> Option<Self> {
        // The acceptor alone takes places.
        let free = taken.load(Ordering::Relaxed) < most;
        free.then(|| {
            taken.fetch_add(1, Ordering::Relaxed);
            Self(Arc::clone(taken))
        })
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The request that a connection waits with; it is still in its input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtBackend {
    pub length: usize,
    pub start_s: f64,
    pub head_only: bool,
    pub close: bool,
}

/// One accepted connection.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Before the stream: the place is free before the other side can know that the connection ended.
    permit: Option<ConnectionPermit>,
    stream: TcpStream,
    pub nic: usize,
    pub read_half: ReadHalf,
    output: WriteBuffer,
    /// Its last response is made.
    pub closing: bool,
    /// When the kernel got the bytes received last, ns of `CLOCK_REALTIME`.
    pub stamp_ns: Option<i64>,
    /// Its first request is with the backend: no turn until it is served.
    pub at_backend: Option<AtBackend>,
}

/// What a connection needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionProgress {
    /// A request or a refusal stands at the start of the input.
    Request,
    /// Nothing until the next event.
    Wait,
    /// Another turn.
    Again,
    /// It is over.
    Close,
}

/// A socket whose kernel says when it got what is read.
struct StampedStream<'a> {
    stream: &'a TcpStream,
    stamp_ns: &'a mut Option<i64>,
}

impl Read for StampedStream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (length, stamp_ns) = sys::receive(self.stream, buffer)?;
        if length > 0 {
            *self.stamp_ns = stamp_ns;
        }
        Ok(length)
    }
}

impl Connection {
    pub(crate) fn new(stream: TcpStream, nic: usize, permit: ConnectionPermit, now: u64) -> Self {
        Self {
            permit: Some(permit),
            stream,
            nic,
            read_half: ReadHalf::new(now),
            output: WriteBuffer::default(),
            closing: false,
            stamp_ns: None,
            at_backend: None,
        }
    }

    /// Sends what is left over, then receives until a request is whole, or to its end after the last response.
    pub(crate) fn next(&mut self, now: u64) -> ConnectionProgress {
        let unsent = self.output.len();
        match self.output.flush(&mut self.stream) {
            Err(_) => return ConnectionProgress::Close,
            Ok(true) if self.closing && !self.linger(now) => return ConnectionProgress::Close,
            Ok(_) => {}
        }
        if self.output.len() < unsent {
            self.read_half.acted(now);
        }
        if !self.output.is_empty() {
            return ConnectionProgress::Wait;
        }
        self.receive(now)
    }

    fn receive(&mut self, now: u64) -> ConnectionProgress {
        let mut budget = TurnBudget::default();
        loop {
            if self.closing {
                self.read_half.discard();
            } else if !self.input().is_empty() && http::parse(self.input()) != ParseStatus::Partial {
                return ConnectionProgress::Request;
            }
            let mut source = StampedStream { stream: &self.stream, stamp_ns: &mut self.stamp_ns };
            match self.read_half.read(&mut source, &mut budget, now) {
                Ok(ReadProgress::Some) => {}
                Ok(ReadProgress::TurnOver) => return ConnectionProgress::Again,
                Ok(ReadProgress::Nothing) if !self.read_half.has_ended() => return ConnectionProgress::Wait,
                Ok(ReadProgress::Nothing) | Err(_) => return ConnectionProgress::Close,
            }
        }
    }

    /// Gives up its place and half-closes, once; whether the other side may still be sending.
    fn linger(&mut self, now: u64) -> bool {
        self.permit = None;
        !self.read_half.deadline.linger(now) || self.stream.shutdown(Shutdown::Write).is_ok()
    }

    /// The bytes received and not yet served.
    pub(crate) fn input(&self) -> &[u8] {
        self.read_half.input.data()
    }

    /// Sends a response to the first `length` bytes as far as the socket takes it, and keeps the rest.
    pub(crate) fn respond(&mut self, response: &[u8], length: usize) -> io::Result<()> {
        self.read_half.input.consume(length);
        let sent = write_some(&mut self.stream, response)?;
        self.output.tail().extend_from_slice(&response[sent..]);
        Ok(())
    }

    /// What it needs after a response.
    pub(crate) fn after_response(&mut self, now: u64) -> ConnectionProgress {
        if self.closing && self.output.is_empty() {
            return self.next(now);
        }
        let more = self.read_half.has_more() && self.output.is_empty();
        if more {
            ConnectionProgress::Again
        } else {
            ConnectionProgress::Wait
        }
    }

    /// Whether its time has passed, or the service ends and owes it nothing.
    pub(crate) fn is_over(&self, now: u64, idle: u64, stopping: bool) -> bool {
        if self.at_backend.is_some() {
            return false;
        }
        let waits = !self.read_half.has_more();
        (stopping && waits && self.output.is_empty()) || self.read_half.deadline.has_passed(now, idle, waits)
    }
}
