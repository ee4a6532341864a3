//! One connection: what it is doing, writing a request, reading its answer.

mod over_tls;

use std::io::{self, ErrorKind, Write};

use crate::clock::now_s;
use crate::http::{EndOfStream, Response};
use crate::prepared_load::Target;
use crate::protocol::{Exchange, RequestGenerator};
use crate::request_outcome::{Failure, RequestInFlight, ResponseFacts};
use crate::sys::{self, Socket};
use crate::tls::{self, Session, Transport};

#[derive(Debug, Clone, Copy)]
pub enum ConnectionPhase {
    Connecting,
    /// Connected; TLS is being agreed on.
    Handshaking,
    Idle,
    Busy(RequestInFlight),
}

/// How far reading came.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ReadProgress {
    More,
    /// A complete answer, whose last bytes were read at `done_s`; the stamp on them is the kernel's, CLOCK_REALTIME in ns.
    Complete {
        done_s: f64,
        stamp_ns: Option<i64>,
        reusable: bool,
    },
    Failed(Failure),
}

#[derive(Debug)]
pub struct Connection {
    pub socket: Socket,
    pub tls: Option<Box<Session>>,
    /// The peer has said, over TLS, that nothing more will come.
    closed: bool,
    /// Sealed bytes since the last that were part of an answer.
    barren: usize,
    /// Unique in its lane, also over slots that are used again.
    pub id: u32,
    pub pool: usize,
    pub phase: ConnectionPhase,
    pub response: Response,
    /// Where requests are drawn; of memcached, `response` is then not used.
    pub exchange: Option<Box<Exchange>>,
    /// It has carried an answer.
    pub served: bool,
    /// The request, where it was drawn from a template.
    own: Vec<u8>,
    drawn: bool,
    /// Bytes of the request that are written, and whether that is all of it.
    written: usize,
    whole: bool,
    /// The kernel's stamp on the last bytes read, and when they were read.
    stamp_ns: Option<i64>,
    read_s: f64,
}

impl Connection {
    pub fn new(
        link: Transport,
        id: u32,
        pool: usize,
        phase: ConnectionPhase,
        exchange: Option<Exchange>,
    ) -> Connection {
        let response = exchange.as_ref().map_or_else(Response::new, Exchange::response);
        let exchange = exchange.map(Box::new);
        Connection {
            socket: link.socket,
            tls: link.tls,
            closed: false,
            barren: 0,
            id,
            pool,
            phase,
            response,
            exchange,
            served: false,
            own: Vec::new(),
            drawn: false,
            written: 0,
            whole: true,
            stamp_ns: None,
            read_s: f64::NAN,
        }
    }

    /// Begins a request of `target`, whose next one is made when this one is on its way.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn begin(&mut self, request: RequestInFlight, target: &mut Target) -> io::Result<()> {
        self.phase = ConnectionPhase::Busy(request);
        self.response.reset(target.head_only);
        (self.written, self.whole, self.drawn) = (0, false, target.template.is_some());
        let Some(template) = &mut target.template else {
            return self.write(&target.request);
        };
        std::mem::swap(&mut self.own, &mut target.request);
        let unbroken = self.write(&[]);
        template.next(&mut target.request);
        unbroken
    }

    /// Writes what is left of the request, which a template or an exchange has put into the connection.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let bytes = match &self.exchange {
            Some(exchange) => exchange.out(),
            None if self.drawn => &self.own,
            None => bytes,
        };
        loop {
            if let Some(session) = &mut self.tls {
                match tls::flush(session, &mut self.socket) {
                    Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
                    other => other?,
                }
            }
            if self.written == bytes.len() {
                self.whole = true;
                return Ok(());
            }
            let rest = &bytes[self.written..];
            let taken = match &mut self.tls {
                None => sys::send(&self.socket, rest),
                Some(session) => session.writer().write(rest),
            };
            match taken {
                Ok(count) => self.written += count,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Reads what is there. `closing`: the peer has closed its side, so read up to the end.
    pub fn read(
        &mut self,
        buffer: &mut [u8],
        closing: bool,
        generator: Option<&RequestGenerator>,
    ) -> ReadProgress {
        loop {
            let (count, stamp_ns) = match sys::receive(&self.socket, buffer) {
                Ok((0, _)) => return self.end(),
                Ok(got) => got,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return ReadProgress::More,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return ReadProgress::Failed(Failure::of_broken(&e)),
            };
            // Before the bytes are looked at: parsing and verifying them is none of the service's time.
            (self.stamp_ns, self.read_s) = (stamp_ns, now_s());
            let fed = match self.tls {
                None => self.take(&buffer[..count], generator),
                Some(_) => self.open(&buffer[..count]),
            };
            match fed {
                Ok(true) => {
                    // An answer may come before the request is written to its end.
                    let reusable = self.response.keep_alive && !closing && self.whole && !self.closed;
                    return self.complete(reusable);
                }
                Ok(false) if self.closed => return self.end(),
                Ok(false) => {}
                Err(failure) => return ReadProgress::Failed(failure),
            }
            // A short read has emptied the socket: the next bytes make a new event.
            if count < buffer.len() && !closing {
                return ReadProgress::More;
            }
        }
    }

    /// Takes the answer's next bytes; true: complete.
    fn take(&mut self, bytes: &[u8], generator: Option<&RequestGenerator>) -> Result<bool, Failure> {
        let fed = match (&mut self.exchange, generator) {
            (Some(exchange), Some(generator)) => generator.feed(bytes, exchange, &mut self.response),
            _ => self.response.feed(bytes),
        };
        match fed {
            Ok(Some(used)) if used < bytes.len() => Err(Failure::Protocol),
            Ok(complete) => Ok(complete.is_some()),
            Err(error) => Err(error.into()),
        }
    }

    /// What the record says of the answer to a request of this class.
    pub fn answer(&self, class: u16) -> ResponseFacts {
        let response = &self.response;
        match &self.exchange {
            Some(exchange) => exchange.answer(response, class),
            None => ResponseFacts {
                class,
                status: response.status,
                bytes: response.body.bytes,
                ..ResponseFacts::none(class)
            },
        }
    }

    fn complete(&self, reusable: bool) -> ReadProgress {
        ReadProgress::Complete { done_s: self.read_s, stamp_ns: self.stamp_ns, reusable }
    }

    fn end(&mut self) -> ReadProgress {
        match self.response.end() {
            // Over TLS an end without a word may be anybody's doing.
            EndOfStream::Complete if self.tls.is_some() && !self.closed => {
                ReadProgress::Failed(Failure::Length)
            }
            EndOfStream::Complete => self.complete(false),
            EndOfStream::Short => ReadProgress::Failed(Failure::Length),
            EndOfStream::NoAnswer => ReadProgress::Failed(Failure::Closed),
            EndOfStream::Coding => ReadProgress::Failed(Failure::Coding),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::config::ExpectedResponse;

    /// A connection that is busy, and the service's end of it.
    fn busy() -> (Connection, UnixStream) {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let link = Transport { socket: Socket::Unix(ours), tls: None };
        let mut conn = Connection::new(link, 0, 0, ConnectionPhase::Idle, None);
        let (sequence, sent_s) = (0, now_s());
        let request = RequestInFlight {
            sequence,
            target: 0,
            class: 0,
            user: 0,
            intended_s: sent_s,
            taken_s: sent_s,
            sent_s,
        };
        let (expect, template) = (ExpectedResponse::default(), None);
        let bytes = b"GET / HTTP/1.1\r\n\r\n".to_vec();
        let mut target =
            Target { request: bytes, template, head_only: false, expect, pool: 0, class: 0, up_to: 1.0 };
        conn.begin(request, &mut target).unwrap();
        theirs.read_exact(&mut [0; 18]).unwrap();
        (conn, theirs)
    }

    #[test]
    fn an_answer_is_done_when_it_was_read_not_when_it_was_parsed() {
        let (mut conn, mut service) = busy();
        // 20 000 chunks of one byte: much to parse, but one read.
        let chunks = "1\r\na\r\n".repeat(20_000);
        let answer = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n");
        service.write_all(answer.as_bytes()).unwrap();
        let mut buffer = vec![0; answer.len() + 1];
        let before_s = now_s();
        let ReadProgress::Complete { done_s, .. } = conn.read(&mut buffer, false, None) else {
            panic!("the answer is complete");
        };
        let after_s = now_s();
        assert!(done_s > before_s && done_s - before_s < (after_s - before_s) / 2.0);
    }
}
