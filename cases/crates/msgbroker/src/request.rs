//! A framed request as an operation: the worker's half of reading. No sockets, no SQL.

use std::borrow::Cow;

use crate::operation::Operation;
use crate::queue_names::{decode, name};
use crate::refusal::Refusal;
use sojourn_serving::http::{has_host, path_of};

const HEADERS: usize = 64;

/// What a client wants, and how it is to be told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request<'a> {
    pub operation: Operation<'a>,
    /// The connection ends after the answer.
    pub close: bool,
}

/// Why a request is not carried out, and whether the connection ends after the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub refusal: Refusal,
    pub close: bool,
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        Self { refusal, close: refusal.closes() }
    }
}

/// Reads a head that `frame` has found, with its body. `token` is what a client must know.
pub(crate) fn parse<'a>(
    head: &'a [u8],
    body: &'a [u8],
    token: Option<&str>,
) -> Result<Request<'a>, Rejection> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut found = httparse::Request::new(&mut headers);
    match found.parse(head) {
        // A head that ends earlier than the frame has line ends that are read in different ways.
        Ok(httparse::Status::Complete(length)) if length == head.len() => {}
        Err(httparse::Error::TooManyHeaders) => return Err(Refusal::Head.into()),
        _ => return Err(Refusal::Malformed.into()),
    }
    let (Some(method), Some(target), Some(minor)) = (found.method, found.path, found.version) else {
        return Err(Refusal::Malformed.into());
    };
    let headers = &*found.headers;
    let (true, Some(target)) = (has_host(minor, headers), path_of(target)) else {
        return Err(Refusal::Malformed.into());
    };
    // A client of HTTP/1.0 would have to be told that its connection is kept.
    let close = minor == 0 || connection(headers, b"close");
    match allowed(headers, token).and_then(|told| operation(method, target, &told, body)) {
        Ok(operation) => Ok(Request { operation, close }),
        Err(refusal) => Err(Rejection { refusal, close: close || refusal.closes() }),
    }
}

/// What the headers say of the request, if they have the token.
fn allowed<'a>(
    headers: &[httparse::Header<'a>],
    token: Option<&str>,
) -> Result<RelevantHeaders<'a>, Refusal> {
    let told = told(headers)?;
    if token.is_some_and(|token| !told.authorization.is_some_and(|given| is_bearer(given, token))) {
        return Err(Refusal::Token);
    }
    Ok(told)
}

/// Whether a word is among those that the client says of the connection.
fn connection(headers: &[httparse::Header<'_>], word: &[u8]) -> bool {
    let says =
        |value: &[u8]| value.split(|b| *b == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(word));
    headers.iter().any(|header| header.name.eq_ignore_ascii_case("connection") && says(header.value))
}

/// What headers say.
#[derive(Default)]
struct RelevantHeaders<'a> {
    sender: Option<&'a str>,
    authorization: Option<&'a [u8]>,
    has_length: bool,
}

fn told<'a>(headers: &[httparse::Header<'a>]) -> Result<RelevantHeaders<'a>, Refusal> {
    let mut told = RelevantHeaders::default();
    for header in headers {
        let value = header.value.trim_ascii();
        if header.name.eq_ignore_ascii_case("content-length") {
            told.has_length = true;
        } else if header.name.eq_ignore_ascii_case("x-sender") {
            let text = std::str::from_utf8(value).map_err(|_| Refusal::Name)?;
            if told.sender.replace(name(text)?).is_some() {
                return Err(Refusal::Malformed);
            }
        } else if header.name.eq_ignore_ascii_case("authorization") {
            told.authorization = Some(value);
        }
    }
    Ok(told)
}

/// In a time that does not depend on where the two differ.
fn is_bearer(given: &[u8], token: &str) -> bool {
    let Some((scheme, said)) = given.split_at_checked(7) else { return false };
    let differ = said.iter().zip(token.as_bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    scheme.eq_ignore_ascii_case(b"bearer ") && said.len() == token.len() && differ == 0
}

fn operation<'a>(
    method: &str,
    target: &'a str,
    told: &RelevantHeaders<'a>,
    body: &'a [u8],
) -> Result<Operation<'a>, Refusal> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut parts = path.strip_prefix("/queues").ok_or(Refusal::Path)?.split('/');
    if parts.next() != Some("") {
        return Err(Refusal::Path);
    }
    let place = [parts.next(), parts.next(), parts.next(), parts.next()];
    let queue = |text: &'a str| decode(text, false).and_then(named);
    match (method, place) {
        ("GET", [None | Some(""), None, ..]) => {
            let after = one(query, "after")?.unwrap_or(Cow::Borrowed(""));
            Ok(Operation::List { after })
        }
        ("PUT", [Some(q), None, ..]) => none(query).and(Ok(Operation::Create { queue: queue(q)? })),
        ("DELETE", [Some(q), None, ..]) => none(query).and(Ok(Operation::Drop { queue: queue(q)? })),
        ("POST", [Some(q), Some("messages"), None, _]) => {
            if !told.has_length {
                return Err(Refusal::Length);
            }
            none(query)?;
            Ok(Operation::Put { queue: queue(q)?, sender: told.sender.map(Cow::Borrowed), body })
        }
        ("POST", [Some(q), Some("take"), None, _]) => {
            Ok(Operation::Take { queue: queue(q)?, sender: one(query, "sender")? })
        }
        ("GET", [Some(q), Some("peek"), None, _]) => {
            Ok(Operation::Peek { queue: queue(q)?, sender: one(query, "sender")? })
        }
        ("DELETE", [Some(q), Some("messages"), Some(id), None]) => {
            let receipt = one(query, "receipt")?.ok_or(Refusal::Number)?;
            Ok(Operation::Acknowledge { queue: queue(q)?, id: number(id)?, receipt: number(&receipt)? })
        }
        (_, [None | Some(_), None, ..]) | (_, [_, Some("messages" | "take" | "peek"), None, _]) => {
            Err(Refusal::Method)
        }
        _ => Err(Refusal::Path),
    }
}

fn named(text: Cow<'_, str>) -> Result<Cow<'_, str>, Refusal> {
    name(&text)?;
    Ok(text)
}

fn none(query: &str) -> Result<(), Refusal> {
    if query.is_empty() {
        Ok(())
    } else {
        Err(Refusal::Query)
    }
}

/// The value of the only key that may be there.
fn one<'a>(query: &'a str, key: &str) -> Result<Option<Cow<'a, str>>, Refusal> {
    if query.is_empty() {
        return Ok(None);
    }
    match query.split_once('=') {
        Some((found, value)) if found == key && !value.contains('&') => {
            decode(value, true).and_then(named).map(Some)
        }
        _ => Err(Refusal::Query),
    }
}

/// A positive number that fits the database's.
fn number(text: &str) -> Result<i64, Refusal> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| digits).ok_or(Refusal::Number)
}

#[cfg(test)]
mod tests;
