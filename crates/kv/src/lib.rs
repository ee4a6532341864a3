//! An embedded memcached-compatible server, for tests and for machines where memcached cannot be had.
//!
//! - `lru_store`      the values: a hash map with an order of use, a memory limit, expiry and unique numbers
//! - `command_handler`     what a request does to the store, and what it says
//! - `connection` bytes in, requests, bytes out
//! - `serve`      one thread, one event loop
//!
//! It has no slabs, no threads and no logging: its speed says nothing about memcached's.
#![forbid(unsafe_code)]

mod command_handler;
mod connection;
mod lru_store;
mod serve;

use serde::{Deserialize, Serialize};

pub use serve::{serve, ReadyMessage, ServeError};

/// Where it listens and how much it keeps.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `ip:port`; port 0 takes a free one.
    pub listen: String,
    /// Keys, values and 64 bytes an item together.
    #[serde(default = "default_memory_bytes")]
    pub memory_bytes: usize,
    /// The largest value.
    #[serde(default = "default_value_bytes")]
    pub value_bytes: usize,
}

fn default_memory_bytes() -> usize {
    64 << 20
}
fn default_value_bytes() -> usize {
    1 << 20
}

/// What it has done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Keys asked for, and those that were there.
    pub gets: u64,
    pub hits: u64,
    /// Storage commands of any kind.
    pub sets: u64,
    pub evictions: u64,
    pub items: u64,
    pub bytes: u64,
    /// Accepted since the start.
    pub connections: u64,
}
