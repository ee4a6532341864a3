//! Which servers a request goes to, and as what it is counted.

use sojourn_memproto::{Keys, ReplyKind, Request, StoreVerb, Values};

/// As what a request is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum RequestKind {
    Get,
    MultiGet,
    Set,
    Store,
    Delete,
    Arithmetic,
    Touch,
    Admin,
    Refused,
}

/// Names of the kinds, in their order, as logs and summaries have them.
pub(crate) const KINDS: [&str; 9] =
    ["get", "multi_get", "set", "store", "delete", "arithmetic", "touch", "admin", "refused"];

/// Where a request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// To one server, the next that is up.
    Any,
    /// To the first server: its unique numbers are the ones that clients know; while it is down as `Any`, without them.
    First,
    /// To all, or to none while one is down.
    All,
    /// To the first server, and when that has stored it, as a `set` to the others.
    Guarded,
    /// Answered here.
    Local,
    /// No answer; the connection ends.
    Quit,
}

/// All that the designs need to know of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route {
    pub kind: RequestKind,
    pub target: Target,
    pub shape: ReplyKind,
    pub answered: bool,
    /// Keys asked for.
    pub keys: usize,
    /// Answered by another server than the one whose unique numbers clients know.
    pub foreign_unique: bool,
}

pub(crate) fn route(request: &Request<'_>) -> Route {
    use RequestKind::{Admin, Arithmetic, Delete, Get, MultiGet, Set, Store, Touch};
    let (kind, target, shape) = match request {
        Request::Get { cas, touch, keys } => {
            let kind = if keys.iter().nth(1).is_some() { MultiGet } else { Get };
            let target = if touch.is_some() {
                Target::All
            } else if *cas {
                Target::First
            } else {
                Target::Any
            };
            (kind, target, ReplyKind::Values)
        }
        Request::Store { verb: StoreVerb::Set, .. } => (Set, Target::All, ReplyKind::Line),
        Request::Store { verb: StoreVerb::Cas, .. } => (Store, Target::Guarded, ReplyKind::Line),
        Request::Store { .. } => (Store, Target::All, ReplyKind::Line),
        Request::Delete { .. } => (Delete, Target::All, ReplyKind::Line),
        Request::Arithmetic { .. } => (Arithmetic, Target::All, ReplyKind::Line),
        Request::Touch { .. } => (Touch, Target::All, ReplyKind::Line),
        Request::FlushAll { .. } | Request::Verbosity { .. } => (Admin, Target::All, ReplyKind::Line),
        Request::Version => (Admin, Target::Any, ReplyKind::Line),
        Request::Stats { .. } => (Admin, Target::Local, ReplyKind::Stats),
        Request::Quit => (Admin, Target::Quit, ReplyKind::Line),
    };
    let keys = if let Request::Get { keys, .. } = request { keys.iter().count() } else { 0 };
    Route { kind, target, shape, answered: request.is_answered(), keys, foreign_unique: false }
}

/// The bytes that servers get: as we have read the request, so that they cannot read another (a number that only some versions take
/// for one, a NUL), and never with `noreply`: what is not answered cannot be checked, and a server that answers a request with
/// `noreply` after all would put all later answers off by one. The keys of a get are as they came.
pub(crate) fn upstream(out: &mut Vec<u8>, request: &Request<'_>, raw: &[u8]) {
    if matches!(request, Request::Get { touch: None, .. }) && !raw.contains(&0) {
        return out.extend_from_slice(raw);
    }
    let mut loud = request.clone();
    match &mut loud {
        Request::Store { noreply, .. }
        | Request::Delete { noreply, .. }
        | Request::Arithmetic { noreply, .. }
        | Request::Touch { noreply, .. }
        | Request::FlushAll { noreply, .. }
        | Request::Verbosity { noreply, .. } => *noreply = false,
        _ => {}
    }
    loud.compose(out);
}

/// A `cas` that the first server has stored, as the `set` for the others.
pub(crate) fn as_set(out: &mut Vec<u8>, request: &Request<'_>) {
    if let Request::Store { key, flags, exptime_s, data, .. } = *request {
        let set =
            Request::Store { verb: StoreVerb::Set, key, flags, exptime_s, cas: None, noreply: false, data };
        set.compose(out);
    }
}

/// Values with 0 in place of their unique numbers: no server gives that, so that a `cas` with it is refused, and not taken
/// by the first server for a number of its own.
pub(crate) fn without_uniques(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    for (_, block) in Values(bytes) {
        let end = block.iter().position(|b| *b == b'\n').unwrap_or(0);
        let unique = block[..end].iter().rposition(|b| *b == b' ').unwrap_or(end);
        out.extend_from_slice(&block[..unique]);
        out.extend_from_slice(b" 0\r");
        out.extend_from_slice(&block[end..]);
        rest = &rest[block.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// The `part`-th of `parts` shares of a multi-get: neighbours in the request stay together, and shares differ by at
/// most one key.
pub(crate) fn shard(out: &mut Vec<u8>, keys: &Keys<'_>, count: usize, part: usize, parts: usize) {
    let (from, to) = (count * part / parts, count * (part + 1) / parts);
    out.extend_from_slice(b"get");
    for key in keys.iter().skip(from).take(to - from) {
        out.push(b' ');
        out.extend_from_slice(key);
    }
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unique_numbers_of_another_server_are_not_passed_on() {
        let values = b"VALUE a 5 6 77\r\nb 1\r\n2\r\nVALUE c 0 0 8\r\n\r\nEND\r\n";
        let cleared = b"VALUE a 5 6 0\r\nb 1\r\n2\r\nVALUE c 0 0 0\r\n\r\nEND\r\n";
        assert_eq!(without_uniques(values), cleared);
        assert_eq!(without_uniques(b"SERVER_ERROR x\r\n"), b"SERVER_ERROR x\r\n");
    }
}
