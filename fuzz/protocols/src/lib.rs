//! What is done with the bytes of each protocol, and what must then be true; `src/bin` has a fuzzer of each.

use sojourn_memproto::{parse, ParseStep, ReplyKind, ReplyScan, RequestLimits};
use sojourn_nbdproto::{
    ClientHandshake, Command, Export, ProtocolError, ServerHandshake, REPLY_BYTES, REQUEST_BYTES,
};
use sojourn_serving::http::{self, ParseStatus};

pub use sojourn_loadgen::fuzzing::http_response;
pub use sojourn_msgbroker::fuzzing::requests as message_requests;
pub use sojourn_pgsession::fuzzing::answers as postgres_answers;

const LIMITS: RequestLimits = RequestLimits { key_bytes: 250, value_bytes: 1024, line_bytes: 4096 };

/// Requests of memcached one after the other: what is read, written and read again is the same; where it ends does not depend on what
/// follows.
pub fn memcached_requests(bytes: &[u8]) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let used = match parse(rest, &LIMITS) {
            ParseStep::Need(whole) => {
                assert!(whole > rest.len());
                return;
            }
            ParseStep::Done { request, used } => {
                assert!(0 < used && used <= rest.len());
                assert_eq!(parse(&rest[..used], &LIMITS), ParseStep::Done { request: request.clone(), used });
                let mut again = Vec::new();
                request.compose(&mut again);
                let all = RequestLimits { line_bytes: 1 << 16, ..LIMITS };
                assert_eq!(parse(&again, &all), ParseStep::Done { request, used: again.len() });
                used
            }
            ParseStep::Refuse { close: true, .. } => return,
            ParseStep::Refuse { skip, .. } | ParseStep::Forget { skip, .. } => skip,
        };
        assert!(used > 0);
        rest = rest.get(used..).unwrap_or(&[]);
    }
}

/// An answer of memcached, looked at whole and as its bytes come.
pub fn memcached_replies(data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else { return };
    let kind = [ReplyKind::Line, ReplyKind::Values, ReplyKind::Stats][usize::from(first % 3)];
    let whole = ReplyScan::new(kind, 4096).scan(bytes);
    let mut scan = ReplyScan::new(kind, 4096);
    let step = 1 + usize::from(first / 3);
    let mut end = 0;
    let pieces = loop {
        end = (end + step).min(bytes.len());
        let found = scan.scan(&bytes[..end]);
        if end == bytes.len() || !matches!(found, Ok(None)) {
            break found;
        }
    };
    match (&whole, &pieces) {
        (Err(_), _) | (_, Err(_)) => assert_eq!(whole.is_err(), pieces.is_err()),
        _ => assert_eq!(whole, pieces),
    }
}

/// Negotiation with a client, and what follows.
pub fn nbd_server(bytes: &[u8]) {
    let mut out = Vec::new();
    let export = Export { size_bytes: 1 << 20, flags: 1, blocks_bytes: Some((512, 4096, 1 << 25)) };
    let mut handshake = ServerHandshake::new(export, &mut out);
    let rest = negotiated(bytes, |input| {
        handshake.advance(input, &mut out).map(|(used, end)| (used, end.is_some()))
    });
    assert!(out.len() <= 64 + 128 * bytes.len());
    for request in rest.chunks_exact(REQUEST_BYTES) {
        let Ok(request) = <&[u8; REQUEST_BYTES]>::try_from(request) else { return };
        if let Ok(found) = sojourn_nbdproto::Request::decode(request) {
            assert_eq!(&found.encode(), request);
            let _ = matches!(found.command, Command::Read);
        }
    }
}

/// Negotiation with a server, and its answers.
pub fn nbd_client(bytes: &[u8]) {
    let mut out = Vec::new();
    let Ok(mut handshake) = ClientHandshake::new("disk") else { return };
    let rest = negotiated(bytes, |input| {
        handshake.advance(input, &mut out).map(|(used, end)| (used, end.is_some()))
    });
    for reply in rest.chunks_exact(REPLY_BYTES) {
        let Ok(reply) = <&[u8; REPLY_BYTES]>::try_from(reply) else { return };
        if let Ok(found) = sojourn_nbdproto::Reply::decode(reply) {
            assert_eq!(&found.encode(), reply);
        }
    }
}

/// What is left when `advance` says that it is done, or no more can be taken.
fn negotiated(bytes: &[u8], mut advance: impl FnMut(&[u8]) -> Result<(usize, bool), ProtocolError>) -> &[u8] {
    let mut rest = bytes;
    loop {
        match advance(rest) {
            Err(_) | Ok((0, false)) => return &[],
            Ok((used, ended)) => {
                assert!(used <= rest.len());
                rest = &rest[used..];
                if ended {
                    return rest;
                }
            }
        }
    }
}

/// Heads of pages of the shop and the board; a head is the same without what follows it.
pub fn http_requests(bytes: &[u8]) {
    if let ParseStatus::Complete { request, length } = http::parse(bytes) {
        assert!(0 < length && length <= bytes.len());
        assert_eq!(http::parse(&bytes[..length]), ParseStatus::Complete { request, length });
        assert_eq!(http::parse(&bytes[..length - 1]), ParseStatus::Partial);
    }
}
