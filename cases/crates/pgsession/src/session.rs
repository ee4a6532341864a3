//! One session with the database: a socket and what goes over it.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};

use postgres_protocol::message::backend::Message;

use crate::conninfo::SocketStream;
use crate::database_error::{DatabaseError, StatementFate};
use crate::wire::{Params, Row, Statement, WireProtocol};

const SCRATCH: usize = 16 * 1024;

/// A statement with what it needs and who hears its rows.
pub struct BoundStatement<'a> {
    pub statement: Statement,
    pub params: Params<'a>,
    pub each: &'a mut dyn FnMut(Row),
}

/// A session.
#[derive(Debug)]
pub struct Session {
    pub(crate) stream: SocketStream,
    pub(crate) wire: WireProtocol,
    scratch: Box<[u8]>,
    /// How much of what is to be sent was sent.
    sent: usize,
}

impl Session {
    /// Over a socket, before anything was said.
    pub(crate) fn new(stream: SocketStream) -> Self {
        let scratch = vec![0; SCRATCH].into_boxed_slice();
        Self { stream, wire: WireProtocol::default(), scratch, sent: 0 }
    }

    /// The same socket once more: by which somebody else can end what is under way.
    pub fn socket(&self) -> io::Result<SocketStream> {
        self.stream.try_clone()
    }

    /// Whether the database has not ended the session meanwhile.
    pub fn is_alive(&mut self) -> bool {
        if self.stream.set_nonblocking(true).is_err() {
            return false;
        }
        let quiet =
            matches!(self.stream.read(&mut self.scratch), Err(e) if e.kind() == ErrorKind::WouldBlock);
        quiet && self.stream.set_nonblocking(false).is_ok()
    }

    /// Carries out a statement, `each` with every row of its answer.
    ///
    /// Nothing is certain before the end: rows of a statement that then fails have to be forgotten.
    pub fn run(
        &mut self,
        statement: Statement,
        params: Params<'_>,
        each: &mut dyn FnMut(Row),
    ) -> Result<(), DatabaseError> {
        self.run_all(&mut [BoundStatement { statement, params, each }], &mut || ())
    }

    /// Carries out statements one after the other with one commit: all of them or none. `meanwhile` is called when they
    /// are sent, before their answer is waited for.
    pub fn run_all(
        &mut self,
        statements: &mut [BoundStatement<'_>],
        meanwhile: &mut dyn FnMut(),
    ) -> Result<(), DatabaseError> {
        self.wire.statements(statements.iter().map(|statement| (statement.statement, statement.params)))?;
        let mut at = 0;
        let mut each = |answer| match answer {
            Some(row) if at < statements.len() => (statements[at].each)(row),
            Some(_) => {}
            None => at += 1,
        };
        self.exchange(&mut each, meanwhile)
    }

    /// Statements as text, without parameters; rows come as text.
    pub fn query(&mut self, text: &str, each: &mut dyn FnMut(Row)) -> Result<(), DatabaseError> {
        self.wire.query(text)?;
        self.exchange(&mut |answer| answer.into_iter().for_each(&mut *each), &mut || ())
    }

    /// Sends what is to be sent, and hears until the database is ready for more.
    fn exchange(
        &mut self,
        each: &mut dyn FnMut(Option<Row>),
        meanwhile: &mut dyn FnMut(),
    ) -> Result<(), DatabaseError> {
        let unknown = |error: io::Error| DatabaseError::new(StatementFate::Unknown, error);
        self.stream.write_all(&self.wire.out).map_err(unknown)?;
        meanwhile();
        while !self.wire.take_in(each)? {
            self.read().map_err(unknown)?;
        }
        Ok(())
    }

    /// The next message of the database.
    pub(crate) fn next(&mut self) -> io::Result<Message> {
        loop {
            if let Some(message) = self.wire.message()? {
                return Ok(message);
            }
            self.read()?;
        }
    }

    /// Reads something; waits for it where the socket blocks.
    fn read(&mut self) -> io::Result<()> {
        loop {
            match self.stream.read(&mut self.scratch) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    self.wire.received(&self.scratch[..count]);
                    return Ok(());
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Err(ErrorKind::TimedOut.into()),
                Err(e) => return Err(e),
            }
        }
    }
}

/// Without waiting: for a loop that is told when the socket can be read or written.
impl Session {
    pub fn unblock(&self) -> io::Result<RawFd> {
        self.stream.set_nonblocking(true)?;
        Ok(self.fd())
    }

    pub fn fd(&self) -> RawFd {
        self.stream.as_raw_fd()
    }

    /// Whether a part of the statement has still to be sent.
    pub fn has_more(&self) -> bool {
        self.sent < self.wire.out.len()
    }

    /// Sends a statement, or its begin; `flush` sends the rest.
    pub fn send(&mut self, statement: Statement, params: Params<'_>) -> Result<(), DatabaseError> {
        self.sent = 0;
        self.wire.statements(std::iter::once((statement, params)))?;
        match self.flush() {
            Err(fault) if self.sent == 0 => Err(DatabaseError { effect: StatementFate::NotSent, ..fault }),
            sent => sent,
        }
    }

    /// Sends what is left of a statement, as far as that goes.
    pub fn flush(&mut self) -> Result<(), DatabaseError> {
        while self.sent < self.wire.out.len() {
            match self.stream.write(&self.wire.out[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) => return Err(DatabaseError::new(StatementFate::Unknown, e)),
            }
        }
        Ok(())
    }

    /// Takes in what has come; as [`WireProtocol::take_in`].
    pub fn receive(&mut self, each: &mut dyn FnMut(Option<Row>)) -> Result<bool, DatabaseError> {
        loop {
            let read = match self.stream.read(&mut self.scratch) {
                Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => Ok(count),
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(e) => Err(e),
            };
            let count = read.map_err(|error| DatabaseError::new(StatementFate::Unknown, error))?;
            self.wire.received(&self.scratch[..count]);
            let ready = self.wire.take_in(each)?;
            // A short read has emptied the socket.
            if ready || count < self.scratch.len() {
                return Ok(ready);
            }
        }
    }
}
