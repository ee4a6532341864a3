//! A server's answer: where it ends, and what it says.

use crate::tokens::{unsigned, Tokens};

/// What shape of answer a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyKind {
    /// One line: storage, delete, arithmetic, touch, flush, version, verbosity.
    Line,
    /// `VALUE` blocks, then `END`.
    Values,
    /// `STAT` lines, then `END`.
    Stats,
}

/// What an answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    Stored,
    NotStored,
    Exists,
    NotFound,
    Deleted,
    Touched,
    Ok,
    Reset,
    Version,
    /// The new value of a counter.
    Number(u64),
    /// Values: how many were found.
    Values(usize),
    Stats,
    /// `ERROR`, `CLIENT_ERROR …`, `SERVER_ERROR …`: the line that the server sent.
    Error,
}

/// Bytes that no memcached sends: the connection cannot be used any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyError;

/// Finds the end of one answer in a growing buffer without looking at any byte twice.
#[derive(Debug, Clone)]
pub struct ReplyScan {
    kind: ReplyKind,
    at: usize,
    found: usize,
    most_bytes: usize,
}

impl ReplyScan {
    /// For the next answer; one above `most_bytes` is an error.
    #[must_use]
    pub fn new(kind: ReplyKind, most_bytes: usize) -> Self {
        Self { kind, at: 0, found: 0, most_bytes }
    }

    /// With the whole buffer so far, from the start of this answer: `None` while it is not complete, else what it says
    /// and its length in bytes.
    ///
    /// # Errors
    /// [`ReplyError`] where the bytes are no answer of this kind, or too many.
    pub fn scan(&mut self, buffer: &[u8]) -> Result<Option<(Reply, usize)>, ReplyError> {
        loop {
            if self.at > self.most_bytes {
                return Err(ReplyError);
            }
            let Some(rest) = buffer.get(self.at..) else { return Ok(None) };
            let Some(end) = memchr::memchr(b'\n', rest) else {
                return if rest.len() > LINE_BYTES { Err(ReplyError) } else { Ok(None) };
            };
            if end > LINE_BYTES {
                return Err(ReplyError);
            }
            let line = rest[..end].strip_suffix(b"\r").ok_or(ReplyError)?;
            let after = self.at + end + 1;
            match (self.kind, line) {
                (ReplyKind::Line, line) => return Ok(Some((reply(line).ok_or(ReplyError)?, after))),
                (ReplyKind::Values, b"END") => return Ok(Some((Reply::Values(self.found), after))),
                (ReplyKind::Stats, b"END") => return Ok(Some((Reply::Stats, after))),
                (ReplyKind::Stats, b"RESET") => return Ok(Some((Reply::Reset, after))),
                (ReplyKind::Stats, line) if line.starts_with(b"STAT ") => self.at = after,
                (ReplyKind::Values, line) if line.starts_with(b"VALUE ") => {
                    let block = after + value_bytes(line).ok_or(ReplyError)? + 2;
                    if block > self.most_bytes {
                        return Err(ReplyError);
                    }
                    match buffer.get(block - 2..block) {
                        None => return Ok(None),
                        Some(b"\r\n") => (self.at, self.found) = (block, self.found + 1),
                        Some(_) => return Err(ReplyError),
                    }
                }
                (_, line) if self.found == 0 && is_error(line) => return Ok(Some((Reply::Error, after))),
                // An error in the middle of values: memcached sends it when it runs out of memory.
                (_, line) if is_error(line) => return Ok(Some((Reply::Error, after))),
                _ => return Err(ReplyError),
            }
        }
    }

    /// Bytes that a complete answer has at least.
    #[must_use]
    pub fn passed(&self) -> usize {
        self.at
    }
}

/// A line of an answer is never longer, but for `stats` values, which are short too.
const LINE_BYTES: usize = 8192;

fn reply(line: &[u8]) -> Option<Reply> {
    Some(match line {
        b"STORED" => Reply::Stored,
        b"NOT_STORED" => Reply::NotStored,
        b"EXISTS" => Reply::Exists,
        b"NOT_FOUND" => Reply::NotFound,
        b"DELETED" => Reply::Deleted,
        b"TOUCHED" => Reply::Touched,
        b"OK" => Reply::Ok,
        b"RESET" => Reply::Reset,
        _ if line.starts_with(b"VERSION ") => Reply::Version,
        _ if is_error(line) => Reply::Error,
        // decr pads a shrunken number with spaces
        _ => Reply::Number(unsigned(line.trim_ascii_end())?),
    })
}

fn is_error(line: &[u8]) -> bool {
    line == b"ERROR" || line.starts_with(b"CLIENT_ERROR") || line.starts_with(b"SERVER_ERROR")
}

/// Bytes of `VALUE KEY FLAGS BYTES [UNIQUE]`.
fn value_bytes(line: &[u8]) -> Option<usize> {
    Tokens(line)
        .nth(3)
        .and_then(unsigned)
        .and_then(|n| usize::try_from(n).ok())
        .filter(|n| *n < usize::MAX / 4)
}

/// The values of a complete answer: key, and the whole block with its line and its end.
#[derive(Debug, Clone)]
pub struct Values<'a>(pub &'a [u8]);

impl<'a> Iterator for Values<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let end = memchr::memchr(b'\n', self.0)?;
        let line = self.0.get(..end)?.strip_suffix(b"\r")?;
        let key = line.starts_with(b"VALUE ").then(|| Tokens(line).nth(1))??;
        let whole = end + 1 + value_bytes(line)? + 2;
        let block = self.0.get(..whole)?;
        self.0 = &self.0[whole..];
        Some((key, block))
    }
}
