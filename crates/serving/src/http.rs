//! Request heads in, response heads out; bytes only.

use std::io::Write;

/// Longest request head; beyond it 431.
pub const HEAD_BYTES: usize = 16 * 1024;
/// Longest request line; beyond it 414.
pub const LINE_BYTES: usize = 8 * 1024;
const HEADERS: usize = 64;

/// A whole request head.
#[derive(Clone, Debug, PartialEq)]
pub struct Request<'a> {
    pub target: &'a str,
    pub head_only: bool,
    pub close: bool,
    pub cookie: &'a str,
}

/// What the bytes received so far are.
#[derive(Clone, Debug, PartialEq)]
pub enum ParseStatus<'a> {
    Partial,
    Complete {
        request: Request<'a>,
        length: usize,
    },
    /// Not a request that can be served: this status, then close.
    Refused(u16),
}

/// Parses the head at the start of `bytes`.
pub fn parse(bytes: &[u8]) -> ParseStatus<'_> {
    let line = bytes.iter().take(LINE_BYTES + 1).position(|b| *b == b'\n');
    if line.is_none() && bytes.len() > LINE_BYTES {
        return ParseStatus::Refused(414);
    }
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut head = httparse::Request::new(&mut headers);
    match head.parse(bytes) {
        Ok(httparse::Status::Partial) if bytes.len() > HEAD_BYTES => ParseStatus::Refused(431),
        Ok(httparse::Status::Partial) => ParseStatus::Partial,
        Ok(httparse::Status::Complete(length)) if length > HEAD_BYTES => ParseStatus::Refused(431),
        Ok(httparse::Status::Complete(length)) => complete(&head, length),
        Err(httparse::Error::TooManyHeaders) => ParseStatus::Refused(431),
        Err(_) => ParseStatus::Refused(400),
    }
}

fn complete<'a>(head: &httparse::Request<'_, 'a>, length: usize) -> ParseStatus<'a> {
    let (Some(method), Some(target), Some(minor)) = (head.method, head.path, head.version) else {
        return ParseStatus::Refused(400);
    };
    let head_only = match method {
        "GET" => false,
        "HEAD" => true,
        _ => return ParseStatus::Refused(405),
    };
    let header = |name: &str| {
        let found = head.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        found.map(|header| std::str::from_utf8(header.value).unwrap_or("").trim())
    };
    // A body would have to be told apart from the next request; no page takes one.
    let body = header("content-length").is_some_and(|n| n != "0") || header("transfer-encoding").is_some();
    let (false, true, Some(target)) = (body, has_host(minor, head.headers), path_of(target)) else {
        return ParseStatus::Refused(400);
    };
    let connection = header("connection").unwrap_or("");
    let says = |token: &str| connection.split(',').any(|part| part.trim().eq_ignore_ascii_case(token));
    let close = if minor == 0 { !says("keep-alive") } else { says("close") };
    let request = Request { target, head_only, close, cookie: header("cookie").unwrap_or("") };
    ParseStatus::Complete { request, length }
}

/// Whether a head names its host as RFC 9112, 3.2, has it: once, and in HTTP/1.0 (`minor` 0) once or not at all.
#[must_use]
pub fn has_host(minor: u8, headers: &[httparse::Header<'_>]) -> bool {
    let mut hosts = headers.iter().filter(|header| header.name.eq_ignore_ascii_case("host"));
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:[]%".contains(b);
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.value.trim_ascii().iter().all(plain),
        (None, _) => minor == 0,
        _ => false,
    }
}

/// The path and query of a target in origin form, or in absolute form, which servers have to take (RFC 9112, 3.2.2).
#[must_use]
pub fn path_of(target: &str) -> Option<&str> {
    if target.starts_with('/') {
        return Some(target);
    }
    let (scheme, rest) = target.split_once("://")?;
    let known = ["http", "https"].iter().any(|one| scheme.eq_ignore_ascii_case(one));
    let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    match path {
        _ if !known || host.is_empty() => None,
        "" => Some("/"),
        path => path.starts_with('/').then_some(path),
    }
}

/// A response's head and body.
#[derive(Clone, Debug)]
pub struct Response<'a> {
    pub status: u16,
    pub body: &'a [u8],
    /// `name=value` to be kept.
    pub cookie: Option<&'a str>,
    pub head_only: bool,
    pub close: bool,
}

/// Appends a response.
pub fn compose(response: &Response<'_>, out: &mut Vec<u8>) {
    let Response { status, body, .. } = response;
    // Writing to memory cannot fail.
    let _ = write!(out, "HTTP/1.1 {status} {}\r\nContent-Length: {}\r\n", reason(*status), body.len());
    out.extend_from_slice(b"Content-Type: text/html; charset=utf-8\r\n");
    if *status == 405 {
        out.extend_from_slice(b"Allow: GET, HEAD\r\n");
    }
    if let Some(cookie) = response.cookie {
        let _ = write!(out, "Set-Cookie: {cookie}; Path=/\r\n");
    }
    let connection = if response.close { "close" } else { "keep-alive" };
    let _ = write!(out, "Connection: {connection}\r\n\r\n");
    if !response.head_only {
        out.extend_from_slice(body);
    }
}

/// A status's words.
pub fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        414 => "URI Too Long",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> Request<'_> {
        match parse(text.as_bytes()) {
            ParseStatus::Complete { request, .. } => request,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_prefix_of_a_request_is_partial() {
        let text = "GET /item/7 HTTP/1.1\r\nHost: x\r\nCookie: cart=1\r\n\r\n";
        for cut in 0..text.len() {
            assert_eq!(parse(&text.as_bytes()[..cut]), ParseStatus::Partial, "{cut}");
        }
        let two = text.repeat(2);
        let ParseStatus::Complete { request, length } = parse(two.as_bytes()) else { panic!() };
        assert_eq!((request.target, request.cookie, length), ("/item/7", "cart=1", text.len()));
    }

    #[test]
    fn the_version_decides_about_the_connection() {
        assert!(!request("GET / HTTP/1.1\r\nHost: x\r\n\r\n").close);
        assert!(request("GET / HTTP/1.1\r\nHost: x\r\nConnection: x, Close\r\n\r\n").close);
        assert!(request("GET / HTTP/1.0\r\n\r\n").close);
        assert!(!request("GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n").close);
        assert!(request("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n").head_only);
    }

    #[test]
    fn a_target_may_be_in_absolute_form() {
        assert_eq!(path_of("HTTP://x:80/a?b=http://c"), Some("/a?b=http://c"));
        assert_eq!((path_of("https://x"), path_of("/a")), (Some("/"), Some("/a")));
        for target in ["x", "*", "ftp://x/", "http:///a", "http://x?a", "://x/", ""] {
            assert_eq!(path_of(target), None, "{target}");
        }
    }

    #[test]
    fn what_is_not_served_has_a_status() {
        assert_eq!(parse(b"POST / HTTP/1.1\r\nHost: x\r\n\r\n"), ParseStatus::Refused(405));
        assert_eq!(parse(b"\x16\x03\x01\x02\x00"), ParseStatus::Refused(400));
        assert_eq!(
            parse(b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n"),
            ParseStatus::Refused(400)
        );
        assert_eq!(parse(b"GET x HTTP/1.1\r\nHost: x\r\n\r\n"), ParseStatus::Refused(400));
        for hosts in ["", "Host: x\r\nHost: x\r\n", "Host: a b\r\n"] {
            let text = format!("GET / HTTP/1.1\r\n{hosts}\r\n");
            assert_eq!(parse(text.as_bytes()), ParseStatus::Refused(400), "{hosts}");
        }
        let long = format!("GET /{}", "a".repeat(LINE_BYTES));
        assert_eq!(parse(long.as_bytes()), ParseStatus::Refused(414));
        let big = format!("GET / HTTP/1.1\r\nHost: x\r\nA: {}", "a".repeat(HEAD_BYTES));
        assert_eq!(parse(big.as_bytes()), ParseStatus::Refused(431));
        let many = format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "A: b\r\n".repeat(HEADERS + 1));
        assert_eq!(parse(many.as_bytes()), ParseStatus::Refused(431));
    }
}
