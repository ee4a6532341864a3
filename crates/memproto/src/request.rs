//! Requests of a client.

use crate::tokens::{push_number, valid_key, Tokens};
use crate::{admin, arithmetic, delete, get, storage_commands, touch, IncrOrDecr, Keys, StoreVerb};

/// What a client may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLimits {
    /// A key, bytes; at most 250.
    pub key_bytes: usize,
    /// A value, bytes.
    pub value_bytes: usize,
    /// A line without its end, bytes: keys of a multi-get together.
    pub line_bytes: usize,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self { key_bytes: 250, value_bytes: 1 << 20, line_bytes: 1 << 16 }
    }
}

impl RequestLimits {
    /// # Errors
    /// The key is too long.
    pub(crate) fn check(&self, key: &[u8]) -> Result<(), Refusal> {
        if key.len() > self.key_bytes || !valid_key(key) {
            return Err(Refusal::Format);
        }
        Ok(())
    }
}

/// A request, its parts borrowed from the buffer it was parsed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request<'a> {
    /// `get`, `gets` (with the unique number), or with an expiry `gat`, `gats`.
    Get { cas: bool, touch: Option<i64>, keys: Keys<'a> },
    /// `set`, `add`, `replace`, `append`, `prepend`, `cas`.
    Store {
        verb: StoreVerb,
        key: &'a [u8],
        flags: u32,
        exptime_s: i64,
        cas: Option<u64>,
        noreply: bool,
        data: &'a [u8],
    },
    /// `delete`.
    Delete { key: &'a [u8], noreply: bool },
    /// `incr`, `decr`.
    Arithmetic { direction: IncrOrDecr, key: &'a [u8], delta: u64, noreply: bool },
    /// `touch`.
    Touch { key: &'a [u8], exptime_s: i64, noreply: bool },
    /// `flush_all`, after a delay in s.
    FlushAll { delay_s: Option<i64>, noreply: bool },
    /// `verbosity`.
    Verbosity { level: u32, noreply: bool },
    /// `version`.
    Version,
    /// `stats`, with its arguments as they are.
    Stats { arguments: &'a [u8] },
    /// `quit`.
    Quit,
}

/// Why a request is refused, as memcached says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// A command that does not exist, or that this side does not know; too many or too few words. After the first line of
    /// an HTTP request the connection ends.
    Unknown,
    /// A word where another belongs, a number that is none, a key that is too long.
    Format,
    /// A word behind a `delete` that does not belong there.
    DeleteUsage,
    /// A `gat` of no key, which finds none.
    NoKeys,
    /// A data block that does not end with CR LF where its length says.
    Chunk,
    /// A value above the limit.
    TooLarge,
    /// A line above the limit. Above that of all lines the connection ends, for where such a line ends may not be known.
    Line,
    /// `incr` by something that is no number.
    Delta,
    /// `touch` until something that is no number.
    Expiry,
    /// A request of the binary protocol; the connection ends.
    Binary,
}

impl Refusal {
    /// The line that a client gets.
    #[must_use]
    pub fn reply(self) -> &'static [u8] {
        match self {
            Self::Unknown => b"ERROR\r\n",
            Self::Format => b"CLIENT_ERROR bad command line format\r\n",
            Self::DeleteUsage => b"CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]\r\n",
            Self::NoKeys => b"END\r\n",
            Self::Chunk => b"CLIENT_ERROR bad data chunk\r\n",
            Self::TooLarge => b"SERVER_ERROR object too large for cache\r\n",
            Self::Line => b"CLIENT_ERROR line too long\r\n",
            Self::Delta => b"CLIENT_ERROR invalid numeric delta argument\r\n",
            Self::Expiry => b"CLIENT_ERROR invalid exptime argument\r\n",
            Self::Binary => b"ERROR only the text protocol is spoken here\r\n",
        }
    }
}

/// What is at the start of a buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParseStep<'a> {
    /// Not a whole request; no decision before the buffer has this many bytes.
    Need(usize),
    /// A request that is `used` bytes long.
    Done { request: Request<'a>, used: usize },
    /// One answer (none with `silent`), and `skip` bytes to pass over, which may be more than are there yet.
    /// With `close` the connection ends after the answer.
    Refuse { refusal: Refusal, skip: usize, silent: bool, close: bool },
    /// A `set` of a value above the limit: refused as [`Refusal::TooLarge`], and what `key` has goes, so that nobody reads what was to be
    /// replaced.
    Forget { key: &'a [u8], skip: usize, silent: bool },
}

impl ParseStep<'_> {
    pub(crate) fn refuse(refusal: Refusal, skip: usize) -> Self {
        ParseStep::Refuse { refusal, skip, silent: false, close: false }
    }
}

/// The first request in `buffer`. Lines end with CR LF or LF.
#[must_use]
pub fn parse<'a>(buffer: &'a [u8], limits: &RequestLimits) -> ParseStep<'a> {
    if buffer.first() == Some(&BINARY_REQUEST) {
        return ParseStep::Refuse {
            refusal: Refusal::Binary,
            skip: buffer.len(),
            silent: false,
            close: true,
        };
    }
    let within = &buffer[..buffer.len().min(limits.line_bytes + 2)];
    let Some(end) = memchr::memchr(b'\n', within) else {
        if within.len() < limits.line_bytes + 2 {
            return ParseStep::Need(buffer.len() + 1);
        }
        return ParseStep::Refuse { refusal: Refusal::Line, skip: buffer.len(), silent: false, close: true };
    };
    let line = line(&buffer[..end]);
    let used = end + 1;
    if line.len() > limits.line_bytes {
        return ParseStep::Refuse { refusal: Refusal::Line, skip: used, silent: false, close: true };
    }
    let mut words = Tokens(line);
    let Some(command) = words.next() else { return ParseStep::refuse(Refusal::Unknown, used) };
    let long = line.len() > SHORT_LINE && !may_be_long(line);
    let done = |request: Result<Request<'a>, Refusal>| match request {
        Ok(_) if long => ParseStep::refuse(Refusal::Line, used),
        Ok(request) => ParseStep::Done { request, used },
        Err(refusal) => ParseStep::refuse(refusal, used),
    };
    let noreply = words.end_in_noreply();
    let done_quietly = |request: Result<Request<'a>, Refusal>| match request {
        Err(refusal) if refusal != Refusal::Unknown && noreply => {
            ParseStep::Refuse { refusal, skip: used, silent: true, close: false }
        }
        request => done(request),
    };
    match command {
        b"get" => done(get::parse(words, false, limits)),
        b"gets" => done(get::parse(words, true, limits)),
        b"gat" => done(get::parse_touch(words, false, limits)),
        b"gats" => done(get::parse_touch(words, true, limits)),
        b"delete" => done_quietly(delete::parse(words, noreply, limits)),
        b"incr" => done_quietly(arithmetic::parse(words, IncrOrDecr::Up, noreply, limits)),
        b"decr" => done_quietly(arithmetic::parse(words, IncrOrDecr::Down, noreply, limits)),
        b"touch" => done_quietly(touch::parse(words, noreply, limits)),
        b"ms" => storage_commands::refuse_meta(words, used),
        _ => match StoreVerb::of(command) {
            Some(verb) => storage_commands::parse(buffer, used, words, verb, noreply, limits),
            None => match admin::parse(command, words, noreply) {
                Err(Refusal::Unknown) if is_http(line) => ParseStep::Refuse {
                    refusal: Refusal::Unknown,
                    skip: buffer.len(),
                    silent: false,
                    close: true,
                },
                request => done_quietly(request),
            },
        },
    }
}

/// A line without its end, as memcached takes it: a C string, which a NUL ends; a CR that is the whole line is none of its end.
fn line(bytes: &[u8]) -> &[u8] {
    let line = if bytes.len() > 1 { bytes.strip_suffix(b"\r").unwrap_or(bytes) } else { bytes };
    memchr::memchr(0, line).map_or(line, |nul| &line[..nul])
}

/// memcached 1.6 ends a connection when more than this has come without the end of a line, which depends on how the
/// bytes were cut (proto_text.c, `try_read_command_ascii`). Only the keys of a get may take more.
pub(crate) const SHORT_LINE: usize = 2048;
/// No line of text begins with the binary protocol's first byte.
const BINARY_REQUEST: u8 = 0x80;
const LEADING_SPACES: usize = 100;

/// Whether an unknown command is the first line of an HTTP request, whose headers and body, which a page in a browser may
/// choose, must not be taken for commands (memcached 1.6 closes the connection too).
fn is_http(line: &[u8]) -> bool {
    line.trim_ascii_end().rsplit(|b| *b == b' ').next().is_some_and(|word| word.starts_with(b"HTTP/"))
}

fn may_be_long(line: &[u8]) -> bool {
    let start = line.iter().position(|b| *b != b' ').unwrap_or(0);
    start <= LEADING_SPACES && (line[start..].starts_with(b"get ") || line[start..].starts_with(b"gets "))
}

impl Request<'_> {
    /// Appends the request as bytes; `parse` gives it back.
    pub fn compose(&self, out: &mut Vec<u8>) {
        match self {
            Request::Get { cas, touch, keys } => get::compose(out, *cas, *touch, keys),
            Request::Store { verb, key, flags, exptime_s, cas, noreply, data } => {
                storage_commands::compose(out, *verb, key, *flags, *exptime_s, *cas, *noreply, data);
            }
            Request::Delete { key, noreply } => push_line(out, &[b"delete", key], *noreply),
            Request::Arithmetic { direction, key, delta, noreply } => {
                out.extend_from_slice(direction.word());
                number_line(out, Some(key), *delta, *noreply);
            }
            Request::Touch { key, exptime_s, noreply } => {
                out.extend_from_slice(b"touch");
                number_line(out, Some(key), *exptime_s, *noreply);
            }
            Request::FlushAll { delay_s: None, noreply } => push_line(out, &[b"flush_all"], *noreply),
            Request::FlushAll { delay_s: Some(delay), noreply } => {
                out.extend_from_slice(b"flush_all");
                number_line(out, None, *delay, *noreply);
            }
            Request::Verbosity { level, noreply } => {
                out.extend_from_slice(b"verbosity");
                number_line(out, None, *level, *noreply);
            }
            Request::Version => push_line(out, &[b"version"], false),
            Request::Stats { arguments: b"" } => push_line(out, &[b"stats"], false),
            Request::Stats { arguments } => push_line(out, &[b"stats", arguments], false),
            Request::Quit => push_line(out, &[b"quit"], false),
        }
    }

    /// Whether the client waits for an answer.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        match self {
            Request::Store { noreply, .. }
            | Request::Delete { noreply, .. }
            | Request::Arithmetic { noreply, .. }
            | Request::Touch { noreply, .. }
            | Request::FlushAll { noreply, .. }
            | Request::Verbosity { noreply, .. } => !noreply,
            Request::Quit => false,
            Request::Get { .. } | Request::Version | Request::Stats { .. } => true,
        }
    }
}

fn push_line(out: &mut Vec<u8>, words: &[&[u8]], noreply: bool) {
    for (place, word) in words.iter().enumerate() {
        if place > 0 {
            out.push(b' ');
        }
        out.extend_from_slice(word);
    }
    end(out, noreply);
}

fn number_line(out: &mut Vec<u8>, key: Option<&[u8]>, number: impl std::fmt::Display, noreply: bool) {
    if let Some(key) = key {
        out.push(b' ');
        out.extend_from_slice(key);
    }
    out.push(b' ');
    push_number(out, number);
    end(out, noreply);
}

pub(crate) fn end(out: &mut Vec<u8>, noreply: bool) {
    out.extend_from_slice(if noreply { b" noreply\r\n" } else { b"\r\n" });
}
