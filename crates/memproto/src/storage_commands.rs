//! `set|add|replace|append|prepend KEY FLAGS EXPTIME BYTES [noreply]`, `cas … BYTES UNIQUE [noreply]`, then a data block.

use crate::request::{end, ParseStep, Refusal, Request, RequestLimits, SHORT_LINE};
use crate::tokens::{noreply_or_end, push_number, signed, unsigned, valid_key, Tokens};

/// How a value is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreVerb {
    Set,
    Add,
    Replace,
    Append,
    Prepend,
    Cas,
}

impl StoreVerb {
    pub(crate) fn of(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"set" => Self::Set,
            b"add" => Self::Add,
            b"replace" => Self::Replace,
            b"append" => Self::Append,
            b"prepend" => Self::Prepend,
            b"cas" => Self::Cas,
            _ => return None,
        })
    }

    fn word(self) -> &'static [u8] {
        match self {
            Self::Set => b"set",
            Self::Add => b"add",
            Self::Replace => b"replace",
            Self::Append => b"append",
            Self::Prepend => b"prepend",
            Self::Cas => b"cas",
        }
    }
}

/// The words after the verb.
struct StoreArguments<'a> {
    key: &'a [u8],
    flags: &'a [u8],
    exptime: &'a [u8],
    /// Bytes of the data block; `None` where that is no length, so that no block can be told.
    bytes: Option<usize>,
    unique: Option<&'a [u8]>,
    noreply: bool,
}

/// `Err` where words are missing or too many, with the length of the data block where that is known all the same.
fn head<'a>(mut words: Tokens<'a>, verb: StoreVerb) -> Result<StoreArguments<'a>, Option<usize>> {
    let [Some(key), Some(flags), Some(exptime), Some(bytes)] = std::array::from_fn(|_| words.next()) else {
        return Err(None);
    };
    let bytes = unsigned(bytes).and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= usize::MAX / 4);
    let unique = if verb == StoreVerb::Cas { Some(words.next().ok_or(bytes)?) } else { None };
    let noreply = noreply_or_end(&mut words).ok_or(bytes)? || unique == Some(b"noreply");
    Ok(StoreArguments { key, flags, exptime, bytes, unique, noreply })
}

pub fn parse<'a>(
    buffer: &'a [u8],
    line: usize,
    words: Tokens<'a>,
    verb: StoreVerb,
    limits: &RequestLimits,
) -> ParseStep<'a> {
    let behind = |bytes: Option<usize>| line + bytes.map_or(0, |bytes| bytes + 2);
    let head = match head(words, verb) {
        Ok(head) => head,
        // Unlike memcached's, its data is not taken for commands.
        Err(bytes) => return ParseStep::refuse(Refusal::Unknown, behind(bytes)),
    };
    let whole = behind(head.bytes);
    let refuse = |refusal| ParseStep::Refuse { refusal, skip: whole, silent: head.noreply, close: false };
    if head.key.len() > limits.key_bytes || !valid_key(head.key) {
        return refuse(Refusal::Key);
    }
    let flags = unsigned(head.flags).and_then(|n| u32::try_from(n).ok());
    let cas = head.unique.map(unsigned);
    let (Some(bytes), Some(flags), Some(exptime_s)) = (head.bytes, flags, signed(head.exptime)) else {
        return refuse(Refusal::Format);
    };
    if cas == Some(None) {
        return refuse(Refusal::Format);
    }
    if line > SHORT_LINE {
        return refuse(Refusal::Line);
    }
    if bytes > limits.value_bytes {
        return refuse(Refusal::TooLarge);
    }
    if buffer.len() < whole {
        return ParseStep::Need(whole);
    }
    let data = &buffer[line..whole - 2];
    if &buffer[whole - 2..whole] != b"\r\n" {
        return refuse_chunk(buffer, whole, head.noreply, limits);
    }
    let StoreArguments { key, noreply, .. } = head;
    let request = Request::Store { verb, key, flags, exptime_s, cas: cas.flatten(), noreply, data };
    ParseStep::Done { request, used: whole }
}

/// A block without its end: what is left of that line belongs to it, and is passed over with it, once.
fn refuse_chunk<'a>(buffer: &'a [u8], whole: usize, silent: bool, limits: &RequestLimits) -> ParseStep<'a> {
    let within = &buffer[whole - 2..buffer.len().min(whole + limits.line_bytes)];
    match memchr::memchr(b'\n', within) {
        Some(at) => {
            ParseStep::Refuse { refusal: Refusal::Chunk, skip: whole - 2 + at + 1, silent, close: false }
        }
        None if buffer.len() < whole + limits.line_bytes => ParseStep::Need(buffer.len() + 1),
        None => ParseStep::Refuse { refusal: Refusal::Chunk, skip: buffer.len(), silent, close: true },
    }
}

/// A meta set has a data block, which must not be taken for commands; the other meta commands are one line.
pub fn refuse_meta<'a>(mut words: Tokens<'a>, line: usize) -> ParseStep<'a> {
    let bytes = words.nth(1).and_then(unsigned).and_then(|n| usize::try_from(n).ok());
    let block = bytes.filter(|n| *n <= usize::MAX / 2).map_or(0, |n| n + 2);
    ParseStep::refuse(Refusal::Unknown, line + block)
}

#[allow(clippy::too_many_arguments)] // the words of the command line, in their order
pub fn compose(
    out: &mut Vec<u8>,
    verb: StoreVerb,
    key: &[u8],
    flags: u32,
    exptime_s: i64,
    cas: Option<u64>,
    noreply: bool,
    data: &[u8],
) {
    out.extend_from_slice(verb.word());
    out.push(b' ');
    out.extend_from_slice(key);
    out.push(b' ');
    push_number(out, flags);
    out.push(b' ');
    push_number(out, exptime_s);
    out.push(b' ');
    push_number(out, data.len());
    if let Some(unique) = cas {
        out.push(b' ');
        push_number(out, unique);
    }
    end(out, noreply);
    out.extend_from_slice(data);
    out.extend_from_slice(b"\r\n");
}
