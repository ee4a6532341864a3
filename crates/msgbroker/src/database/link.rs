//! One session with the database: a statement out, rows in.

use std::io::{self, ErrorKind, Read, Write};
use std::ops::Range;

use bytes::{Bytes, BytesMut};
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use postgres_protocol::IsNull;

use super::fault::{said, Effect, Fault};
use super::greeting::greet;
use super::target::{Stream, Target};

const SCRATCH: usize = 16 * 1024;
/// Longest answer of the database to one statement that is kept at once.
const KEPT: usize = 1 << 20;

/// The text of a statement; it is prepared when a session first uses it.
pub(crate) type Statement = &'static str;

/// The parameters of a statement in the database's binary formats.
pub(crate) type Params<'a> = &'a [Option<&'a [u8]>];

/// A statement with what it needs and who hears its rows.
pub(crate) struct Ask<'a> {
    pub statement: Statement,
    pub params: Params<'a>,
    pub each: &'a mut dyn FnMut(Row),
}

/// One row, its columns in binary (of a prepared statement) or as text (of `query`).
#[derive(Debug)]
pub(crate) struct Row {
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

/// A session.
#[derive(Debug)]
pub(crate) struct Link {
    pub(super) stream: Stream,
    pub(super) out: BytesMut,
    inbox: BytesMut,
    scratch: Box<[u8]>,
    prepared: Vec<Statement>,
}

impl Link {
    /// Begins a session.
    pub fn open(target: &Target) -> Result<Self, Fault> {
        let away = |error: io::Error| Fault::new(Effect::NotSent, error);
        let (greeting, answer) = target.patience();
        let stream = target.open().map_err(away)?;
        stream.set_timeout(Some(greeting)).map_err(away)?;
        let scratch = vec![0; SCRATCH].into_boxed_slice();
        let (out, inbox) = (BytesMut::new(), BytesMut::new());
        let mut link = Self { stream, out, inbox, scratch, prepared: Vec::new() };
        greet(&mut link, target)?;
        link.stream.set_timeout(answer).map_err(away)?;
        Ok(link)
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
    ) -> Result<(), Fault> {
        self.run_all(&mut [Ask { statement, params, each }], &mut || ())
    }

    /// Carries out statements one after the other with one commit: all of them or none. `meanwhile` is called when they
    /// are sent, before their answer is waited for.
    pub fn run_all(&mut self, asks: &mut [Ask<'_>], meanwhile: &mut dyn FnMut()) -> Result<(), Fault> {
        self.out.clear();
        let mut new = Vec::new();
        for ask in asks.iter() {
            let known = |one: &Statement| *one == ask.statement;
            let place = self.prepared.iter().position(known);
            let index = place.unwrap_or_else(|| self.prepared.len() + new.len());
            self.write(ask, index, place.is_none()).map_err(|error| Fault::new(Effect::RolledBack, error))?;
            new.extend(place.is_none().then_some(ask.statement));
        }
        frontend::sync(&mut self.out);
        let mut at = 0;
        let mut each = |answer| match answer {
            Some(row) if at < asks.len() => (asks[at].each)(row),
            Some(_) => {}
            None => at += 1,
        };
        self.exchange(&mut each, meanwhile)?;
        self.prepared.append(&mut new);
        Ok(())
    }

    fn write(&mut self, ask: &Ask<'_>, index: usize, is_new: bool) -> io::Result<()> {
        let mut digits = [0; 8];
        let name = short_name(index, &mut digits);
        let out = &mut self.out;
        if is_new {
            // A parse that failed in between has left no statement, one that was not heard of might have.
            frontend::close(b'S', name, out)?;
            frontend::parse(name, ask.statement, [], out)?;
        }
        let one = |value: &Option<&[u8]>, out: &mut BytesMut| {
            let Some(value) = value else { return Ok(IsNull::Yes) };
            out.extend_from_slice(value);
            Ok(IsNull::No)
        };
        let bound = frontend::bind("", name, [1], ask.params, one, [1], out);
        bound.map_err(|_| io::Error::from(ErrorKind::InvalidInput))?;
        frontend::execute("", 0, out)
    }

    /// Statements as text, without parameters; rows come as text.
    pub fn query(&mut self, text: &str, each: &mut dyn FnMut(Row)) -> Result<(), Fault> {
        self.out.clear();
        frontend::query(text, &mut self.out).map_err(|error| Fault::new(Effect::RolledBack, error))?;
        self.exchange(&mut |answer| answer.into_iter().for_each(&mut *each), &mut || ())
    }

    /// Sends `out`, and hears until the database is ready for more: only then is it done. `each` gets the rows, and
    /// `None` at the end of those of one statement.
    fn exchange(
        &mut self,
        each: &mut dyn FnMut(Option<Row>),
        meanwhile: &mut dyn FnMut(),
    ) -> Result<(), Fault> {
        let unknown = |error: io::Error| Fault::new(Effect::Unknown, error);
        self.stream.write_all(&self.out).map_err(unknown)?;
        meanwhile();
        if self.out.capacity() > KEPT {
            self.out = BytesMut::new();
        }
        let mut refusal = None;
        loop {
            match self.next().map_err(unknown)? {
                Message::ReadyForQuery(_) => return refusal.map_or(Ok(()), Err),
                Message::ErrorResponse(body) => {
                    let (fatal, reason) = said(&body);
                    if fatal {
                        return Err(Fault { effect: Effect::Unknown, reason });
                    }
                    refusal = Some(Fault { effect: Effect::RolledBack, reason });
                }
                Message::DataRow(body) => {
                    let columns = body.ranges().collect().map_err(unknown)?;
                    each(Some(Row { bytes: body.buffer_bytes().clone(), columns }));
                }
                Message::CommandComplete(_) => each(None),
                _ => {}
            }
        }
    }

    /// The next message of the database.
    pub(super) fn next(&mut self) -> io::Result<Message> {
        loop {
            if let Some(message) = Message::parse(&mut self.inbox)? {
                return Ok(message);
            }
            match self.stream.read(&mut self.scratch) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.inbox.extend_from_slice(&self.scratch[..count]),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Err(ErrorKind::TimedOut.into()),
                Err(e) => return Err(e),
            }
        }
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
