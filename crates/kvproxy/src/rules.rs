//! What both designs answer without a server, and when.

use sojourn_memproto::ReplyKind;

use crate::route::{Kind, Route, Way};
use crate::Config;

pub(crate) const QUEUE_FULL: &[u8] = b"SERVER_ERROR the proxy's queue is full\r\n";
pub(crate) const NO_MEMORY: &[u8] = b"SERVER_ERROR out of memory\r\n";
pub(crate) const NO_SERVER: &[u8] = b"SERVER_ERROR no server is up\r\n";
pub(crate) const NOT_ALL: &[u8] = b"SERVER_ERROR a server is down: nothing was written\r\n";
pub(crate) const NOT_FIRST: &[u8] = b"SERVER_ERROR the first server is down\r\n";
pub(crate) const ONLY_FIRST: &[u8] = b"SERVER_ERROR only the first server stored it\r\n";

/// Requests of one client that may be under way; further ones stay unread.
pub(crate) const PIPELINE: usize = 1024;
/// Up to so many bytes a connection has its buffers without asking.
pub(crate) const FREE_BYTES: usize = 64 * 1024;
/// Answers that a client has not taken, bytes; above, its requests stay unread.
pub(crate) const OUT_BYTES: usize = 1 << 20;

/// What a refused request is counted as.
pub(crate) const REFUSED: Route =
    Route { kind: Kind::Refused, way: Way::Own, shape: ReplyKind::Line, answered: true, keys: 0 };

/// Whether a request cannot be served with so many of `all` servers `up`: a read needs one, a write all.
pub(crate) fn refusal(way: Way, up: usize, all: usize, first: bool) -> Option<&'static [u8]> {
    match way {
        Way::One if up == 0 => Some(NO_SERVER),
        Way::All | Way::Guarded if up < all => Some(NOT_ALL),
        Way::First if !first => Some(NOT_FIRST),
        _ => None,
    }
}

/// An answer of a server may be so long.
pub(crate) fn most_reply_bytes(config: &Config) -> usize {
    (config.memory_bytes / 4).max(config.value_bytes + 4096)
}
