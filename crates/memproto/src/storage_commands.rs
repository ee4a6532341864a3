//! `set|add|replace|append|prepend KEY FLAGS EXPTIME BYTES [noreply]`, `cas … BYTES UNIQUE [noreply]`, then a data block.

use crate::request::{end, ParseStep, Refusal, Request, RequestLimits, SHORT_LINE};
use crate::tokens::{c_int, c_unsigned, push_number, unsigned, valid_key, Tokens};

/// The longest value whose length memcached takes for one (INT_MAX - 2).
const MOST_BYTES: usize = i32::MAX as usize - 2;

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

/// `line`: its bytes, with its end; `noreply`: whether the line ends so.
pub fn parse<'a>(
    buffer: &'a [u8],
    line: usize,
    words: Tokens<'a>,
    verb: StoreVerb,
    noreply: bool,
    limits: &RequestLimits,
) -> ParseStep<'a> {
    let least = if verb == StoreVerb::Cas { 5 } else { 4 };
    let Some((words, _)) = words.between::<6>(least).filter(|(_, count)| *count <= least + 1) else {
        return ParseStep::refuse(Refusal::Unknown, line);
    };
    let [key, flags, exptime, bytes, unique, _] = words;
    let refuse = |refusal, skip| ParseStep::Refuse { refusal, skip, silent: noreply, close: false };
    let cas = if verb == StoreVerb::Cas { c_unsigned(unique).map(Some) } else { Some(None) };
    let bytes = c_int(bytes).and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= MOST_BYTES);
    let (Some(flags), Some(exptime), Some(bytes), Some(cas)) =
        (c_unsigned(flags), c_int(exptime), bytes, cas)
    else {
        return refuse(Refusal::Format, line);
    };
    // memcached reads the next line, which may be meant for data, as a command; so it is here, but for what only we refuse.
    if !valid_key(key) {
        return refuse(Refusal::Format, line);
    }
    let whole = line + bytes + 2;
    if limits.check(key).is_err() {
        return refuse(Refusal::Format, whole);
    }
    if line > SHORT_LINE {
        return refuse(Refusal::Line, whole);
    }
    if bytes > limits.value_bytes && verb == StoreVerb::Set {
        return ParseStep::Forget { key, skip: whole, silent: noreply };
    }
    if bytes > limits.value_bytes {
        return refuse(Refusal::TooLarge, whole);
    }
    if buffer.len() < whole {
        return ParseStep::Need(whole);
    }
    if &buffer[whole - 2..whole] != b"\r\n" {
        return refuse(Refusal::Chunk, whole);
    }
    let (flags, exptime_s, data) = (flags as u32, i64::from(exptime), &buffer[line..whole - 2]);
    let request = Request::Store { verb, key, flags, exptime_s, cas, noreply, data };
    ParseStep::Done { request, used: whole }
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
