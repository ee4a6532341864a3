//! The memcached text protocol without sockets: bytes in, requests and replies out, and back.
//!
//! Source: memcached's doc/protocol.txt (version 1.6), and its answers to what that text leaves open.
//!
//! - `request`: [`Request`], [`parse`]: the next request in a buffer, or the one answer that refuses it
//! - `get`, `storage_commands`, `delete`, `arithmetic`, `touch`, `admin`: one file a command family: its arguments and their order
//! - `reply`: [`Reply`], [`ReplyScan`]: where a server's answer ends and what it says, resumable at any byte
//! - `tokens`: a line as words; numbers; keys and their limits
//!
//! Whatever the bytes are, parsing ends, never panics, and makes at most one answer for one request: a refusal says
//! how many bytes belong to the request that is refused: as many as memcached 1.6.18 takes for it, which
//! `benches/kv/fuzz_against_memcached.py` compares.
#![forbid(unsafe_code)]

mod admin;
mod arithmetic;
mod delete;
mod get;
mod reply;
mod request;
mod storage_commands;
mod tokens;
mod touch;

pub use arithmetic::IncrOrDecr;
pub use get::Keys;
pub use reply::{Reply, ReplyError, ReplyKind, ReplyScan, Values};
pub use request::{parse, ParseStep, Refusal, Request, RequestLimits};
pub use storage_commands::StoreVerb;
pub use tokens::{c_unsigned, valid_key};
