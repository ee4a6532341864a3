//! `set|add|replace|append|prepend KEY FLAGS EXPTIME BYTES [noreply]`, `cas … BYTES UNIQUE [noreply]`, then a data block.

use crate::request::{end, Limits, Refusal, Request, Step, SHORT_LINE};
use crate::words::{noreply_or_end, push_number, signed, unsigned, valid_key, Words};

/// How a value is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Set,
    Add,
    Replace,
    Append,
    Prepend,
    Cas,
}

impl Verb {
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

struct Head<'a> {
    key: &'a [u8],
    flags: Option<u32>,
    exptime_s: Option<i64>,
    bytes: usize,
    cas: Option<u64>,
    noreply: bool,
}

/// The words after the verb; `Err` where the length is not known, so that no data block can be told.
fn head<'a>(mut words: Words<'a>, verb: Verb) -> Result<Head<'a>, Refusal> {
    let key = words.next().ok_or(Refusal::Unknown)?;
    let flags = words.next().ok_or(Refusal::Unknown)?;
    let exptime = words.next().ok_or(Refusal::Unknown)?;
    let bytes = unsigned(words.next().ok_or(Refusal::Unknown)?).and_then(|n| usize::try_from(n).ok());
    let cas = match verb {
        Verb::Cas => Some(words.next().and_then(unsigned).ok_or(Refusal::Format)?),
        _ => None,
    };
    let noreply = noreply_or_end(&mut words).ok_or(Refusal::Format)?;
    let bytes = bytes.filter(|n| *n <= usize::MAX / 2).ok_or(Refusal::Format)?;
    let flags = unsigned(flags).and_then(|n| u32::try_from(n).ok());
    Ok(Head { key, flags, exptime_s: signed(exptime), bytes, cas, noreply })
}

pub fn parse<'a>(buffer: &'a [u8], line: usize, words: Words<'a>, verb: Verb, limits: &Limits) -> Step<'a> {
    let head = match head(words, verb) {
        Ok(head) => head,
        Err(refusal) => return Step::refuse(refusal, line),
    };
    let whole = line + head.bytes + 2;
    let refuse = |refusal| Step::Refuse { refusal, skip: whole, silent: head.noreply, close: false };
    if head.key.len() > limits.key_bytes || !valid_key(head.key) {
        return refuse(Refusal::Key);
    }
    let (Some(flags), Some(exptime_s)) = (head.flags, head.exptime_s) else { return refuse(Refusal::Format) };
    if line > SHORT_LINE {
        return refuse(Refusal::Line);
    }
    if head.bytes > limits.value_bytes {
        return refuse(Refusal::TooLarge);
    }
    if buffer.len() < whole {
        return Step::Need(whole);
    }
    let data = &buffer[line..whole - 2];
    if &buffer[whole - 2..whole] != b"\r\n" {
        return refuse_chunk(buffer, whole, head.noreply, limits);
    }
    let Head { key, cas, noreply, .. } = head;
    Step::Done { request: Request::Store { verb, key, flags, exptime_s, cas, noreply, data }, used: whole }
}

/// A block without its end: what is left of that line belongs to it, and is passed over with it, once.
fn refuse_chunk<'a>(buffer: &'a [u8], whole: usize, silent: bool, limits: &Limits) -> Step<'a> {
    let within = &buffer[whole - 2..buffer.len().min(whole + limits.line_bytes)];
    match memchr::memchr(b'\n', within) {
        Some(at) => Step::Refuse { refusal: Refusal::Chunk, skip: whole - 2 + at + 1, silent, close: false },
        None if buffer.len() < whole + limits.line_bytes => Step::Need(buffer.len() + 1),
        None => Step::Refuse { refusal: Refusal::Chunk, skip: buffer.len(), silent, close: true },
    }
}

/// A meta set has a data block, which must not be taken for commands; the other meta commands are one line.
pub fn refuse_meta<'a>(mut words: Words<'a>, line: usize) -> Step<'a> {
    let bytes = words.nth(1).and_then(unsigned).and_then(|n| usize::try_from(n).ok());
    let block = bytes.filter(|n| *n <= usize::MAX / 2).map_or(0, |n| n + 2);
    Step::refuse(Refusal::Unknown, line + block)
}

#[allow(clippy::too_many_arguments)] // the words of the command line, in their order
pub fn compose(
    out: &mut Vec<u8>,
    verb: Verb,
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
