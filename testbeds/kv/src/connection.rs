//! A client: bytes in, requests, bytes out, in the order of the requests.

use std::io::{ErrorKind, Read, Write};

use mio::net::TcpStream;
use sojourn_memproto::{parse, Step};

use crate::answer::Desk;

/// Answers that a client does not read: above this its requests are left where they are.
const OUT_MAX_BYTES: usize = 4 << 20;
const READ_BYTES: usize = 64 * 1024;

pub struct Connection {
    pub stream: TcpStream,
    input: Vec<u8>,
    out: Vec<u8>,
    written: usize,
    /// Bytes of a refused request that are still to come.
    skip: usize,
    /// Nothing is decided before so many bytes are there.
    need: usize,
    /// Ends when all is written.
    closing: bool,
}

impl Connection {
    pub fn new(stream: TcpStream) -> Connection {
        Connection {
            stream,
            input: Vec::new(),
            out: Vec::new(),
            written: 0,
            skip: 0,
            need: 1,
            closing: false,
        }
    }

    /// Reads, answers and writes as far as it goes without waiting; false when the connection is over.
    pub fn advance(&mut self, desk: &mut Desk, part: &mut [u8]) -> bool {
        loop {
            self.process(desk);
            if !self.flush() || (self.closing && self.out.is_empty()) {
                return false;
            }
            // A client that does not take its answers gets no more: it becomes writable when it does.
            if self.closing || self.out.len() > OUT_MAX_BYTES {
                return true;
            }
            match self.stream.read(part) {
                Ok(0) => return false,
                Ok(count) => self.take(&part[..count]),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return true,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let skipped = bytes.len().min(self.skip);
        self.skip -= skipped;
        self.input.extend_from_slice(&bytes[skipped..]);
    }

    /// Answers the whole requests that are there.
    fn process(&mut self, desk: &mut Desk) {
        let mut used = 0;
        while !self.closing && self.input.len() - used >= self.need && self.out.len() <= OUT_MAX_BYTES {
            match parse(&self.input[used..], &desk.limits) {
                Step::Need(bytes) => self.need = bytes,
                Step::Done { request, used: bytes } => {
                    self.closing = !desk.answer(&request, &mut self.out);
                    (self.need, used) = (1, used + bytes);
                }
                Step::Refuse { refusal, skip, silent, close } => {
                    if !silent {
                        self.out.extend_from_slice(refusal.reply());
                    }
                    let here = skip.min(self.input.len() - used);
                    (self.need, self.skip, self.closing, used) = (1, skip - here, close, used + here);
                }
            }
        }
        self.input.drain(..used);
    }

    /// False where the connection is broken.
    fn flush(&mut self) -> bool {
        while self.written < self.out.len() {
            match self.stream.write(&self.out[self.written..]) {
                Ok(count) => self.written += count,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return true,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        self.out.clear();
        self.written = 0;
        true
    }
}

/// Room to read into, for all connections together.
pub fn part() -> Vec<u8> {
    vec![0; READ_BYTES]
}
