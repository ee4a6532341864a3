//! What both designs hold at most, and what they answer without a server.

use sojourn_memproto::ReplyKind;

use crate::route::{RequestKind, Route, Target};
use crate::Config;

pub(crate) const QUEUE_FULL: &[u8] = b"SERVER_ERROR the proxy's queue is full\r\n";
pub(crate) const NO_MEMORY: &[u8] = b"SERVER_ERROR out of memory\r\n";
pub(crate) const NO_SERVER: &[u8] = b"SERVER_ERROR no server is up\r\n";
pub(crate) const NOT_ALL: &[u8] = b"SERVER_ERROR a server is down: nothing was written\r\n";
pub(crate) const ONLY_FIRST: &[u8] = b"SERVER_ERROR only the first server stored it\r\n";

/// Requests of one client that may be under way; further ones stay unread.
pub(crate) const PIPELINE: usize = 1024;
/// Up to so many bytes a connection has its buffers without asking.
pub(crate) const FREE_BYTES: usize = 64 * 1024;
/// Answers that a client has not taken, bytes; above, its requests stay unread.
pub(crate) const OUT_BYTES: usize = 1 << 20;
/// `staged`: requests of one client that wait for workers, bytes; above, further ones stay unread.
pub(crate) const BACKLOG_BYTES: usize = 1 << 20;

/// `staged`: what a worker sends to a server before it reads an answer, where that is more than one request.
pub(crate) const BATCH_BYTES: usize = 16 * 1024;

/// What may be under way to one server before clients that have requests under way must wait for their turn: work, in
/// keys that are looked up, and bytes of requests and expected answers. Both take a fraction of a millisecond.
pub(crate) const WINDOW_WORK: usize = 1024;
/// A request's own work, in keys that are looked up.
pub(crate) const REQUEST_WORK: usize = 7;
pub(crate) const WINDOW_BYTES: usize = 256 * 1024;
/// Bytes that are read from one server in one turn of a loop.
pub(crate) const SERVER_TURN_BYTES: usize = 1 << 20;
/// Bytes of answer that a key is expected to bring before any has been seen.
pub(crate) const REPLY_BYTES: usize = 16 * 1024;

/// Pauses between attempts to connect to a server again, ns.
pub(crate) const FIRST_PAUSE: u64 = 1_000_000;
pub(crate) const LONGEST_PAUSE: u64 = 2_000_000_000;

/// What a refused request is counted as.
pub(crate) const REFUSED: Route = Route {
    kind: RequestKind::Refused,
    target: Target::Local,
    shape: ReplyKind::Line,
    answered: true,
    keys: 0,
    foreign_unique: false,
};

/// Whether a request cannot be served with so many of `all` servers `up`: a read needs one, a write all.
pub(crate) fn refusal(target: Target, up: usize, all: usize) -> Option<&'static [u8]> {
    match target {
        Target::Any | Target::First if up == 0 => Some(NO_SERVER),
        Target::All | Target::Guarded if up < all => Some(NOT_ALL),
        _ => None,
    }
}

/// An answer of a server may be so long.
pub(crate) fn most_reply_bytes(config: &Config) -> usize {
    (config.memory_bytes / 4).max(config.value_bytes + 4096)
}
