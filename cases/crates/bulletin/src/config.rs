//! What can be set.

use serde::Deserialize;
use sojourn_serving::{within, ServingError};

/// Of a service; all values are required, the command line has the defaults.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `ip:port`; port 0 takes a free one.
    pub listen: String,
    /// `ip:port` of the operators' endpoint.
    pub metrics: Option<String>,
    /// Threads that answer.
    pub workers: usize,
    /// CPU time that a page takes beside what its making takes, s.
    pub page_work_s: f64,
    /// `postgresql://` URL or `key=value` list; without it the tables are in memory.
    pub database: Option<String>,
    /// Sessions with the database.
    pub pool: usize,
    /// Longest time that a statement, or the wait for a session, may take, s.
    pub timeout_s: f64,
    /// Of the data in memory: 1 is 500 000 users.
    pub scale: f64,
    /// Of the data, and of what pages offer.
    pub seed: u64,
    /// Connections of clients; further ones are closed.
    pub clients: usize,
    /// Requests that may wait for a worker; further ones are refused with 503.
    pub queue: usize,
    /// A client that asks for nothing, or takes nothing of what it is sent, for so long is disconnected, s.
    pub idle_s: f64,
    /// A file for spans of requests, as OTLP/JSON.
    pub traces: Option<String>,
    /// Of traces, the share that is kept.
    pub trace_share: f64,
}

impl Config {
    /// # Errors
    /// `ServingError::Value` for the first value out of range.
    pub fn check(&self) -> Result<(), ServingError> {
        within("workers", self.workers as f64, 1.0, 1024.0)?;
        within("page_work_s", self.page_work_s, 0.0, 10.0)?;
        within("pool", self.pool as f64, 1.0, 1024.0)?;
        within("timeout_s", self.timeout_s, 0.01, 3600.0)?;
        within("scale", self.scale, 0.0001, 10.0)?;
        within("clients", self.clients as f64, 1.0, 1e6)?;
        within("queue", self.queue as f64, 1.0, 1e7)?;
        within("trace_share", self.trace_share, 1e-9, 1.0)?;
        within("idle_s", self.idle_s, 0.01, 1e6)
    }
}
