//! Where a request ends: the event loop's only look at the bytes. What they say, the worker reads.

use memchr::{memchr, memchr2, memchr2_iter, memmem};

use crate::refusal::Refusal;

/// Longest request line with all headers.
pub(crate) const HEAD_BYTES: usize = 16 * 1024;
/// Blank lines before a request, as some clients send after a body.
const BLANK: usize = 8;
/// More digits are no length.
const DIGITS: usize = 15;

/// What the bytes received so far are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FramingStep {
    /// At least so many bytes have to be there; `expects` when the client waits for "100 Continue" before its body.
    Need { whole: usize, expects: bool },
    /// A request: its head is at `start..body`, its body at `body..end`.
    Done { start: usize, body: usize, end: usize },
    /// No request, or one that is not taken; where the next would begin is not known.
    Refuse(Refusal),
}

/// Looks at the start of `bytes`; `most` is the longest body.
pub(crate) fn frame(bytes: &[u8], most: usize) -> FramingStep {
    let start = blank(bytes);
    let head = &bytes[start..bytes.len().min(start + HEAD_BYTES)];
    let end = memmem::find(head, b"\r\n\r\n");
    if is_spoilt(end.map_or(head, |lines| &head[..lines + 4])) {
        return FramingStep::Refuse(Refusal::Malformed);
    }
    let Some(lines) = end else {
        if head.len() >= HEAD_BYTES {
            return FramingStep::Refuse(Refusal::Head);
        }
        return FramingStep::Need { whole: bytes.len() + 1, expects: false };
    };
    let body = start + lines + 4;
    match headers(&head[..lines + 2]) {
        Err(refusal) => FramingStep::Refuse(refusal),
        Ok(Headers { length, .. }) if length > most => FramingStep::Refuse(Refusal::Body),
        Ok(Headers { length, expects }) => {
            let end = body + length;
            if bytes.len() < end {
                FramingStep::Need { whole: end, expects: expects && bytes.len() == body }
            } else {
                FramingStep::Done { start, body, end }
            }
        }
    }
}

fn blank(bytes: &[u8]) -> usize {
    let mut start = 0;
    while start < 2 * BLANK && bytes[start..].starts_with(b"\r\n") {
        start += 2;
    }
    start
}

/// Whether a head, as far as it is there, can no longer become right. A CR or LF by itself ends a line for some readers and
/// not for others, which would see other headers; a request line has no control characters.
fn is_spoilt(head: &[u8]) -> bool {
    let line = memchr2(b'\r', b'\n', head).unwrap_or(head.len());
    let alone = |at: usize| match head[at] {
        b'\r' => head.get(at + 1).is_some_and(|next| *next != b'\n'),
        _ => at == 0 || head[at - 1] != b'\r',
    };
    head[..line].iter().any(u8::is_ascii_control) || memchr2_iter(b'\r', b'\n', head).any(alone)
}

struct Headers {
    length: usize,
    expects: bool,
}

/// The headers that decide where the request ends, from `head`, whose lines all end with CRLF.
fn headers(head: &[u8]) -> Result<Headers, Refusal> {
    let mut length = None;
    let mut expects = false;
    // What the request line says is the worker's affair.
    let mut rest = next_line(head).1;
    while !rest.is_empty() {
        let (line, after) = next_line(rest);
        rest = after;
        let name = &line[..memchr(b':', line).ok_or(Refusal::Malformed)?];
        let value = line[name.len() + 1..].trim_ascii();
        // A header that goes on in a second line, or a name with space behind it, is read in different ways.
        if name.is_empty() || name.iter().any(u8::is_ascii_whitespace) {
            return Err(Refusal::Malformed);
        }
        if name.eq_ignore_ascii_case(b"content-length") {
            if length.replace(number(value)?).is_some() {
                return Err(Refusal::Malformed);
            }
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            return Err(Refusal::Length);
        } else if name.eq_ignore_ascii_case(b"expect") {
            expects = value.eq_ignore_ascii_case(b"100-continue");
        }
    }
    Ok(Headers { length: length.unwrap_or(0), expects })
}

fn next_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match memmem::find(bytes, b"\r\n") {
        Some(end) => (&bytes[..end], &bytes[end + 2..]),
        None => (bytes, &[][..]),
    }
}

fn number(value: &[u8]) -> Result<usize, Refusal> {
    if value.is_empty() || value.len() > DIGITS || !value.iter().all(u8::is_ascii_digit) {
        return Err(Refusal::Malformed);
    }
    Ok(value.iter().fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0')))
}

#[cfg(test)]
mod tests;
