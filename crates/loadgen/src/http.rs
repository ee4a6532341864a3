//! An HTTP/1.1 response as it comes in, piece by piece: no sockets; the body is counted, and kept where that is asked.

mod body;
mod chunked;
mod content_coding;

use std::mem::MaybeUninit;

pub use body::Body;
use chunked::Chunked;
use content_coding::ContentDecoder;
pub use content_coding::BODY_MAX_BYTES;

const HEAD_MAX_BYTES: usize = 64 * 1024;
const HEADERS_MAX: usize = 128;
/// More of them before an answer are no conversation any more.
const INTERIM_MAX: u8 = 16;

/// Why a response cannot be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseError {
    /// Not HTTP/1.1 as we know it, a head above 64 KiB, or more than 16 interim ones (1xx).
    Protocol,
    /// A body above 64 MiB.
    TooLong,
    /// A body that is not what its Content-Encoding says, or in a coding that we cannot decode.
    Coding,
}

/// What the end of the stream means for a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndOfStream {
    Complete,
    /// Inside a body of known length.
    Short,
    /// Before the head was complete.
    NoAnswer,
    /// Of a body that cannot be decoded.
    Coding,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResponsePart {
    Head,
    Length { left: u64 },
    Chunks(Chunked),
    ToClose,
}

/// One response; `reset` before the next.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub body: Body,
    /// The values of the headers that are kept, in the order of their names; empty where one is missing.
    pub values: Vec<Vec<u8>>,
    wanted: &'static [&'static str],
    head_only: bool,
    /// The connection may carry another request.
    pub keep_alive: bool,
    state: ResponsePart,
    /// Interim heads (1xx) so far.
    interims: u8,
    /// The beginning of a head that came in pieces.
    head: Vec<u8>,
}

impl Response {
    pub fn new() -> Response {
        Response {
            status: 0,
            body: Body::default(),
            values: Vec::new(),
            wanted: &[],
            head_only: false,
            keep_alive: true,
            state: ResponsePart::Head,
            interims: 0,
            head: Vec::new(),
        }
    }

    /// Keeps bodies and the values of these headers.
    pub fn keeping(wanted: &'static [&'static str]) -> Response {
        let body = Body { kept: Some(Vec::new()), ..Body::default() };
        Response { body, values: vec![Vec::new(); wanted.len()], wanted, ..Response::new() }
    }

    /// `head_only`: of an answer to a HEAD, which has no body.
    pub fn reset(&mut self, head_only: bool) {
        self.head_only = head_only;
        (self.status, self.keep_alive, self.state) = (0, true, ResponsePart::Head);
        self.interims = 0;
        self.body.clear();
        self.values.iter_mut().for_each(Vec::clear);
        self.head.clear();
    }

    /// Takes the next bytes. `Some(n)`: complete after n of them; `None`: all taken, more must come.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Option<usize>, ResponseError> {
        let mut used = 0;
        while self.state == ResponsePart::Head {
            let (taken, complete) = self.feed_head(&bytes[used..])?;
            used += taken;
            if !complete {
                return Ok(None);
            }
        }
        let body = &bytes[used..];
        let (taken, complete) = match &mut self.state {
            ResponsePart::Length { left } => {
                let taken = (body.len() as u64).min(*left);
                *left -= taken;
                self.body.take(&body[..taken as usize]);
                (taken as usize, *left == 0)
            }
            ResponsePart::Chunks(chunks) => {
                chunks.feed(body, &mut self.body).ok_or(ResponseError::Protocol)?
            }
            ResponsePart::ToClose => {
                self.body.take(body);
                (body.len(), false)
            }
            ResponsePart::Head => (0, false),
        };
        if self.body.bytes > BODY_MAX_BYTES {
            return Err(ResponseError::TooLong);
        }
        if !self.body.is_decodable(complete) {
            return Err(ResponseError::Coding);
        }
        Ok(complete.then_some(used + taken))
    }

    /// Some of it has come.
    pub fn has_begun(&self) -> bool {
        self.state != ResponsePart::Head || !self.head.is_empty()
    }

    /// Its end is only that of its connection, so that nobody knows whether it is whole.
    pub fn ends_with_connection(&self) -> bool {
        self.state == ResponsePart::ToClose
    }

    /// The peer has closed.
    pub fn end(&mut self) -> EndOfStream {
        match self.state {
            ResponsePart::ToClose if !self.body.is_decodable(true) => EndOfStream::Coding,
            ResponsePart::ToClose => EndOfStream::Complete,
            ResponsePart::Head => EndOfStream::NoAnswer,
            _ => EndOfStream::Short,
        }
    }

    /// (bytes taken, head complete). An interim head (1xx) is dropped and the state stays.
    fn feed_head(&mut self, bytes: &[u8]) -> Result<(usize, bool), ResponseError> {
        let before = self.head.len();
        let parsed = if before == 0 {
            parse_head(bytes, self.wanted, &mut self.values)?
        } else {
            self.head.extend_from_slice(bytes);
            parse_head(&self.head, self.wanted, &mut self.values)?
        };
        let Some(head) = parsed else {
            if before == 0 {
                self.head.extend_from_slice(bytes);
            }
            return if self.head.len() > HEAD_MAX_BYTES {
                Err(ResponseError::Protocol)
            } else {
                Ok((bytes.len(), false))
            };
        };
        self.head.clear();
        if (100..200).contains(&head.status) {
            self.interims += 1;
        } else {
            (self.status, self.keep_alive) = (head.status, head.keep_alive);
            self.state = if self.head_only { ResponsePart::Length { left: 0 } } else { head.state };
            if self.state == ResponsePart::ToClose {
                self.keep_alive = false;
            }
            self.body.coding = head.coding;
        }
        if head.status == 101 || self.interims > INTERIM_MAX || head.bytes > HEAD_MAX_BYTES {
            return Err(ResponseError::Protocol);
        }
        Ok((head.bytes - before, true))
    }
}

struct ResponseHead {
    bytes: usize,
    status: u16,
    keep_alive: bool,
    state: ResponsePart,
    coding: Option<ContentDecoder>,
}

fn parse_head(
    bytes: &[u8],
    wanted: &[&str],
    values: &mut [Vec<u8>],
) -> Result<Option<ResponseHead>, ResponseError> {
    // Not initialised: 4 KiB of empty headers a response would be a tenth of the work for a small one.
    let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut []);
    let parser = httparse::ParserConfig::default();
    let size = match parser.parse_response_with_uninit_headers(&mut response, bytes, &mut headers) {
        Ok(httparse::Status::Complete(size)) => size,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(ResponseError::Protocol),
    };
    let status = response.code.unwrap_or(0);
    let mut keep_alive = response.version == Some(1);
    let (mut length, mut chunked, mut codings) = (None, false, Vec::new());
    for header in response.headers.iter() {
        let value = header.value.trim_ascii();
        if header.name.eq_ignore_ascii_case("content-length") {
            let found = Some(parse_length(value)?);
            if length.is_some() && length != found {
                return Err(ResponseError::Protocol);
            }
            length = found;
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            // Twice, or in HTTP/1.0, it says nothing that two readers would understand alike (RFC 9112, 6.1, 7.1).
            if chunked || !value.eq_ignore_ascii_case(b"chunked") || response.version == Some(0) {
                return Err(ResponseError::Protocol);
            }
            chunked = true;
        } else if header.name.eq_ignore_ascii_case("content-encoding") {
            codings.extend_from_slice(if codings.is_empty() { b"" } else { b"," });
            codings.extend_from_slice(value);
        } else if header.name.eq_ignore_ascii_case("connection") {
            keep_alive = (keep_alive || has_token(value, b"keep-alive")) && !has_token(value, b"close");
        } else if let Some(at) = wanted.iter().position(|name| header.name.eq_ignore_ascii_case(name)) {
            values[at].clear();
            values[at].extend_from_slice(value);
        }
    }
    if chunked && length.is_some() {
        // Where it ends is not clear: somebody may be hiding a second answer (RFC 9112, 6.3).
        return Err(ResponseError::Protocol);
    }
    let state = match length {
        _ if status == 204 || status == 304 => ResponsePart::Length { left: 0 },
        _ if chunked => ResponsePart::Chunks(Chunked::new()),
        Some(left) => ResponsePart::Length { left },
        None => ResponsePart::ToClose,
    };
    let coding = ContentDecoder::of(&codings);
    Ok(Some(ResponseHead { bytes: size, status, keep_alive, state, coding }))
}

fn parse_length(value: &[u8]) -> Result<u64, ResponseError> {
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).map_err(|_| ResponseError::Protocol)?;
    let length: u64 = if digits {
        text.parse().map_err(|_| ResponseError::TooLong)?
    } else {
        return Err(ResponseError::Protocol);
    };
    if length > BODY_MAX_BYTES {
        return Err(ResponseError::TooLong);
    }
    Ok(length)
}

fn has_token(value: &[u8], token: &[u8]) -> bool {
    value.split(|b| *b == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(token))
}

#[cfg(test)]
mod tests;
