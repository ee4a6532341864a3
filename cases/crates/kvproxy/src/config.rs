//! What a proxy is told, with its limits.

use serde::{Deserialize, Serialize};
use std::net::{SocketAddr, ToSocketAddrs};

use crate::ServeError;
use sojourn_serving::{within, ServingError};

/// Which of the two designs runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThreadingDesign {
    Staged,
    Direct,
}

/// All that can be set; times in s, sizes in bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// `ip:port`; port 0 takes a free one.
    pub listen: String,
    /// `host:port` of each memcached, 1 to 64 of them; the first decides `gets` and `cas`.
    pub servers: Vec<String>,
    pub design: ThreadingDesign,
    /// `staged`: worker threads.
    pub workers: usize,
    /// `staged`: waiting requests that a worker takes at once, and sends to a server together.
    pub batch: usize,
    /// `direct`: event-loop threads.
    pub threads: usize,
    /// Whether a multi-get is split over the servers.
    pub sharded: bool,
    /// Requests that may wait (`staged`) or be under way (`direct`) before further ones are refused.
    pub queue: usize,
    pub connections: usize,
    pub value_bytes: usize,
    pub key_bytes: usize,
    /// Buffers of all connections together.
    pub memory_bytes: usize,
    /// A client that is silent, or takes nothing, for so long is disconnected.
    pub idle_s: f64,
    /// A server that has not answered a request for so long is taken for dead.
    pub timeout_s: f64,
    pub connect_timeout_s: f64,
    /// The record log: a row for each thread and period.
    pub log: Option<String>,
    /// A record log of response times: a row for each bin and period that has any.
    pub bins: Option<String>,
    /// Of both logs.
    pub period_s: f64,
    /// The HdrHistogram log, written at the end.
    pub histogram: Option<String>,
    /// `ip:port` of the OpenMetrics endpoint.
    pub metrics: Option<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:11212".into(),
            servers: Vec::new(),
            design: ThreadingDesign::Direct,
            workers: 64,
            batch: 16,
            threads: 1,
            sharded: false,
            queue: 10_000,
            connections: 1024,
            value_bytes: 1 << 20,
            key_bytes: 250,
            memory_bytes: 256 << 20,
            idle_s: 600.0,
            timeout_s: 1.0,
            connect_timeout_s: 1.0,
            log: None,
            bins: None,
            period_s: 1.0,
            histogram: None,
            metrics: None,
        }
    }
}

impl Config {
    /// # Errors
    /// `ServingError::Value` for the first value that is out of its range.
    pub fn check(&self) -> Result<(), ServeError> {
        within("servers", self.servers.len() as f64, 1.0, 64.0)?;
        within("workers", self.workers as f64, 1.0, 1024.0)?;
        within("batch", self.batch as f64, 1.0, 1024.0)?;
        within("threads", self.threads as f64, 1.0, 256.0)?;
        within("queue", self.queue as f64, 1.0, 1e7)?;
        within("connections", self.connections as f64, 1.0, 1e6)?;
        within("value_bytes", self.value_bytes as f64, 1.0, f64::from(1 << 30))?;
        within("key_bytes", self.key_bytes as f64, 1.0, 250.0)?;
        within("memory_bytes", self.memory_bytes as f64, f64::from(1 << 20), 1e12)?;
        within("idle_s", self.idle_s, 0.01, 1e6)?;
        within("timeout_s", self.timeout_s, 0.001, 3600.0)?;
        within("connect_timeout_s", self.connect_timeout_s, 0.001, 3600.0)?;
        Ok(within("period_s", self.period_s, 0.01, 3600.0)?)
    }

    /// The addresses of the servers.
    pub(crate) fn addresses(&self) -> Result<Vec<SocketAddr>, ServeError> {
        self.servers.iter().map(|name| resolve(name)).collect()
    }

    pub(crate) fn limits(&self) -> sojourn_memproto::RequestLimits {
        sojourn_memproto::RequestLimits {
            key_bytes: self.key_bytes,
            value_bytes: self.value_bytes,
            ..sojourn_memproto::RequestLimits::default()
        }
    }
}

fn resolve(name: &str) -> Result<SocketAddr, ServeError> {
    let none = || std::io::Error::new(std::io::ErrorKind::NotFound, "no address");
    name.to_socket_addrs()
        .and_then(|mut found| found.next().ok_or_else(none))
        .map_err(|source| ServingError::Address { address: name.into(), source }.into())
}
