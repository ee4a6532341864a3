//! Statements to bytes and bytes to rows, without a socket: PostgreSQL's extended query protocol.

use std::io::{self, ErrorKind, Write};
use std::ops::Range;

use bytes::{Bytes, BytesMut};
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use postgres_protocol::IsNull;

use crate::database_error::{said, DatabaseError, StatementFate};

/// Longest statement or answer whose buffer is kept.
const KEPT: usize = 1 << 20;
/// Twice the longest message that the message service keeps.
const MESSAGE_BYTES_MAX: usize = 1 << 27;

/// The text of a statement; it is prepared when a session first uses it.
pub type Statement = &'static str;

/// The parameters of a statement in the database's binary formats.
pub type Params<'a> = &'a [Option<&'a [u8]>];

/// One row, its columns in binary (of a prepared statement) or as text (of `query`).
#[derive(Debug)]
pub struct Row {
    bytes: Bytes,
    columns: Vec<Option<Range<usize>>>,
}

impl Row {
    pub fn bytes(&self, column: usize) -> Option<&[u8]> {
        let range = self.columns.get(column)?.clone()?;
        self.bytes.get(range)
    }

    pub fn text(&self, column: usize) -> Option<&str> {
        self.bytes(column).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// A number of 4 or 8 bytes.
    pub fn int(&self, column: usize) -> Option<i64> {
        let bytes = self.bytes(column)?;
        let long = <[u8; 8]>::try_from(bytes).map(i64::from_be_bytes).ok();
        long.or_else(|| <[u8; 4]>::try_from(bytes).map(i32::from_be_bytes).map(i64::from).ok())
    }
}

/// What a session has to send and has received.
#[derive(Debug, Default)]
pub(crate) struct WireProtocol {
    pub out: BytesMut,
    inbox: BytesMut,
    prepared: Vec<Statement>,
    /// Prepared by what is under way: known when that has succeeded.
    new: Vec<Statement>,
    /// What the statement under way was refused with.
    refusal: Option<DatabaseError>,
}

impl WireProtocol {
    /// Statements that are carried out one after the other with one commit, into `out`.
    pub fn statements<'a>(
        &mut self,
        all: impl Iterator<Item = (Statement, Params<'a>)>,
    ) -> Result<(), DatabaseError> {
        self.begin();
        for (statement, params) in all {
            let known = self.prepared.iter().chain(&self.new).position(|one| *one == statement);
            let index = known.unwrap_or_else(|| self.prepared.len() + self.new.len());
            self.statement(statement, params, index, known.is_none())
                .map_err(|error| DatabaseError::new(StatementFate::RolledBack, error))?;
            self.new.extend(known.is_none().then_some(statement));
        }
        frontend::sync(&mut self.out);
        Ok(())
    }

    fn statement(
        &mut self,
        text: Statement,
        params: Params<'_>,
        index: usize,
        is_new: bool,
    ) -> io::Result<()> {
        let mut digits = [0; 8];
        let name = short_name(index, &mut digits);
        let out = &mut self.out;
        if is_new {
            // A parse that failed in between has left no statement, one that was not heard of might have.
            frontend::close(b'S', name, out)?;
            frontend::parse(name, text, [], out)?;
        }
        let one = |value: &Option<&[u8]>, out: &mut BytesMut| {
            let Some(value) = value else { return Ok(IsNull::Yes) };
            out.extend_from_slice(value);
            Ok(IsNull::No)
        };
        let bound = frontend::bind("", name, [1], params, one, [1], out);
        bound.map_err(|_| io::Error::from(ErrorKind::InvalidInput))?;
        frontend::execute("", 0, out)
    }

    /// Statements as text, without parameters; rows come as text.
    pub fn query(&mut self, text: &str) -> Result<(), DatabaseError> {
        self.begin();
        frontend::query(text, &mut self.out)
            .map_err(|error| DatabaseError::new(StatementFate::RolledBack, error))
    }

    fn begin(&mut self) {
        if self.out.capacity() > KEPT {
            self.out = BytesMut::new();
        }
        self.out.clear();
        self.new.clear();
        self.refusal = None;
    }

    pub fn received(&mut self, bytes: &[u8]) {
        self.inbox.extend_from_slice(bytes);
    }

    /// The next whole message; an error where it says that it is longer than any that we ask for.
    pub fn message(&mut self) -> io::Result<Option<Message>> {
        // The parser makes room for all of it at once.
        if let Some(length) =
            self.inbox.get(1..5).and_then(|four| four.try_into().ok()).map(u32::from_be_bytes)
        {
            if length as usize > MESSAGE_BYTES_MAX {
                return Err(io::Error::new(ErrorKind::InvalidData, format!("a message of {length} bytes")));
            }
        }
        Message::parse(&mut self.inbox)
    }

    /// Takes in what was received; whether the database is ready for more: only then is it done. `each` gets the rows,
    /// and `None` at the end of those of one statement. Nothing is certain before the end: rows of what then fails have to
    /// be forgotten. The session goes on after an error whose effect is known.
    pub fn take_in(&mut self, each: &mut dyn FnMut(Option<Row>)) -> Result<bool, DatabaseError> {
        let unknown = |error: io::Error| DatabaseError::new(StatementFate::Unknown, error);
        while let Some(message) = self.message().map_err(unknown)? {
            match message {
                Message::ReadyForQuery(_) => {
                    if let Some(refusal) = self.refusal.take() {
                        return Err(refusal);
                    }
                    self.prepared.append(&mut self.new);
                    return Ok(true);
                }
                Message::ErrorResponse(body) => {
                    let (fatal, reason) = said(&body);
                    if fatal {
                        return Err(DatabaseError { effect: StatementFate::Unknown, reason });
                    }
                    self.refusal = Some(DatabaseError { effect: StatementFate::RolledBack, reason });
                }
                Message::DataRow(body) => {
                    let columns = body.ranges().collect().map_err(unknown)?;
                    each(Some(Row { bytes: body.buffer_bytes().clone(), columns }));
                }
                Message::CommandComplete(_) => each(None),
                _ => {}
            }
        }
        Ok(false)
    }
}

/// `s` and a number.
fn short_name(index: usize, digits: &mut [u8; 8]) -> &str {
    let mut end = &mut digits[..];
    let whole = end.len();
    // Fewer statements than digits: it fits, and is ASCII.
    let _ = write!(end, "s{index}");
    let length = whole - end.len();
    std::str::from_utf8(&digits[..length]).unwrap_or("s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_says_that_it_is_endless_is_refused_before_there_is_room_for_it() {
        // Found by make fuzz: 4 GB were asked for at once.
        let mut wire = WireProtocol::default();
        wire.received(b"D\xfa\x00\x00\x01\x00");
        assert_eq!(wire.message().map(|_| ()).map_err(|error| error.kind()), Err(ErrorKind::InvalidData));
        assert!(wire.inbox.capacity() < KEPT);
    }

    #[test]
    fn a_message_comes_when_all_of_it_is_there() {
        let mut wire = WireProtocol::default();
        for byte in b"Z\x00\x00\x00\x05" {
            wire.received(&[*byte]);
            assert!(matches!(wire.message(), Ok(None)));
        }
        wire.received(b"I");
        assert!(matches!(wire.message(), Ok(Some(Message::ReadyForQuery(_)))));
    }
}
