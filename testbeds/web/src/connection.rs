//! A connection: bytes in, whole requests out, and what could not be sent yet.

use std::io;
use std::net::TcpStream;

use sojourn_serving::{write_some, WriteBuffer};

use crate::http::{self, ParseStatus};
use crate::sys;

/// One accepted connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    pub nic: usize,
    input: Vec<u8>,
    output: WriteBuffer,
    /// There may be something to receive.
    pub readable: bool,
    /// The other side has ended; its last bytes may still be here.
    pub hung_up: bool,
    /// Waits in its worker's queue.
    pub queued: bool,
    /// Close when all is sent.
    pub closing: bool,
    /// When the kernel got the bytes received last, ns of `CLOCK_REALTIME`.
    pub stamp_ns: Option<i64>,
    pub active_s: f64,
}

/// What a connection needs next.
#[derive(Debug, PartialEq)]
pub(crate) enum ConnectionProgress {
    /// A request or a refusal stands at the start of the input.
    Request,
    /// Nothing until the next event.
    Wait,
    /// It is over.
    Close,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream, nic: usize, now_s: f64) -> Self {
        Self {
            stream,
            nic,
            input: Vec::new(),
            output: WriteBuffer::default(),
            readable: false,
            hung_up: false,
            queued: false,
            closing: false,
            stamp_ns: None,
            active_s: now_s,
        }
    }

    /// Sends what is left over, then receives until a request is whole.
    pub(crate) fn next(&mut self, scratch: &mut [u8]) -> ConnectionProgress {
        match self.output.flush(&mut self.stream) {
            Err(_) => return ConnectionProgress::Close,
            Ok(false) => return ConnectionProgress::Wait,
            Ok(true) if self.closing => return ConnectionProgress::Close,
            Ok(true) => {}
        }
        loop {
            if !self.input.is_empty() && http::parse(&self.input) != ParseStatus::Partial {
                return ConnectionProgress::Request;
            }
            if !self.readable {
                return ConnectionProgress::Wait;
            }
            match sys::receive(&self.stream, scratch) {
                Ok((0, _)) => return ConnectionProgress::Close,
                Ok((length, stamp)) => {
                    self.input.extend_from_slice(&scratch[..length]);
                    self.stamp_ns = stamp;
                    // A short read emptied the socket, unless its end is still to come.
                    self.readable = length == scratch.len() || self.hung_up;
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => self.readable = false,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return ConnectionProgress::Close,
            }
        }
    }

    /// The bytes received and not yet served.
    pub(crate) fn input(&self) -> &[u8] {
        &self.input
    }

    /// Forgets a request that was served.
    pub(crate) fn served(&mut self, length: usize) {
        self.input.drain(..length.min(self.input.len()));
    }

    /// Some of the last response is still to be sent; an event tells when there is room.
    pub(crate) fn has_unsent(&self) -> bool {
        !self.output.is_empty()
    }

    /// Whether it should stand in the queue again.
    pub(crate) fn has_more(&self) -> bool {
        !self.input.is_empty() || self.readable
    }

    /// Sends a response as far as the socket takes it, and keeps the rest.
    pub(crate) fn respond(&mut self, response: &[u8]) -> io::Result<()> {
        let length = write_some(&mut self.stream, response)?;
        self.output.tail().extend_from_slice(&response[length..]);
        Ok(())
    }

    /// Half-closes and takes in what is still coming, so that the other side can read the last response:
    /// closing with bytes unread would reset the connection under it.
    pub(crate) fn finish(&self, scratch: &mut [u8]) {
        const MOST_READS: usize = 16;
        self.stream.shutdown(std::net::Shutdown::Write).ok();
        for _ in 0..MOST_READS {
            if !matches!(sys::receive(&self.stream, scratch), Ok((length, _)) if length > 0) {
                return;
            }
        }
    }
}
