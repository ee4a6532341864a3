//! An embedded network block device server, for tests and for machines where qemu-nbd cannot be had.
//!
//! - `serve`      accepts; a thread a connection
//! - `connection` the negotiation, then requests, checked against the limits
//! - `backing`    what an export is made of: memory or a file
//! - `delayed_answers` answers that are sent when their time has come
//! - `stoppable_stream` a socket whose reads end when the server is stopped
//!
//! The I/Os of a connection are done one after the other: its speed says nothing about qemu-nbd's.
#![forbid(unsafe_code)]

mod backing;
mod connection;
mod delayed_answers;
mod serve;
mod stoppable_stream;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use serve::{serve, ReadyMessage, ServeError};

/// Where it listens and what it exports: `memory_bytes` or `file`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `ip:port`; port 0 takes a free one.
    pub listen: String,
    #[serde(default)]
    pub memory_bytes: Option<u64>,
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// The file is opened with `O_DIRECT`.
    #[serde(default)]
    pub direct: bool,
    /// Between a request that is done and its answer, at least.
    #[serde(default)]
    pub delay_s: f64,
    #[serde(default = "default_connections")]
    pub connections: usize,
}

fn default_connections() -> usize {
    16
}

/// What it has done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub connections: u64,
    /// Turned away: there were as many as it takes.
    pub refused_connections: u64,
    pub reads: u64,
    pub writes: u64,
    pub flushes: u64,
    pub read_bytes: u64,
    pub write_bytes: u64,
    /// Answered with an error.
    pub errors: u64,
    /// Connections that ended by what the peer sent.
    pub broken: u64,
}
