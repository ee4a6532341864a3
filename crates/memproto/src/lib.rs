//! The memcached text protocol without sockets: bytes in, requests and replies out, and back.
//!
//! Source: memcached's doc/protocol.txt (version 1.6), and its answers to what that text leaves open.
//!
//! - `request`: [`Request`], [`parse`]: the next request in a buffer, or the one answer that refuses it
//! - `get`, `store`, `delete`, `arithmetic`, `touch`, `admin`: one file a command family: its arguments and their order
//! - `reply`: [`Reply`], [`ReplyScan`]: where a server's answer ends and what it says, resumable at any byte
//! - `words`: a line as words; numbers; keys and their limits
//!
//! Whatever the bytes are, parsing ends, never panics, and makes at most one answer for one request: a refusal says
//! how many bytes belong to the request that is refused, so that a data block is not taken for commands.
#![forbid(unsafe_code)]

mod admin;
mod arithmetic;
mod delete;
mod get;
mod reply;
mod request;
mod store;
mod touch;
mod words;

pub use arithmetic::Direction;
pub use get::Keys;
pub use reply::{Reply, ReplyError, ReplyKind, ReplyScan, Values};
pub use request::{parse, Limits, Refusal, Request, Step};
pub use store::Verb;
pub use words::valid_key;
