//! What a service is told, with its limits.

use serde::{Deserialize, Serialize};

use crate::ServeError;
use sojourn_serving::within;

/// What an acknowledged put is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// On disk: it outlives a crash of service, database and machine.
    Full,
    /// In the database's memory: a crash of the database or the machine loses up to about the last 0.6 s.
    Off,
}

/// Who waits for the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadingDesign {
    /// The thread that reads clients has the database's sessions in its poll.
    #[default]
    EventDriven,
    /// Workers, each of which waits for one answer. With batches always.
    Threaded,
}

/// All that can be set; times in s, sizes in bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// `ip:port`; port 0 takes a free one.
    pub listen: String,
    /// `postgresql://…`, or `host=… user=… dbname=…`.
    #[serde(skip_serializing)]
    pub database: String,
    pub design: ThreadingDesign,
    /// Threads of the threaded design.
    pub workers: usize,
    /// Connections to the database.
    pub connections: usize,
    /// Requests that may wait for a worker before further ones are refused.
    pub queue: usize,
    pub clients: usize,
    pub message_bytes: usize,
    /// Requests of all clients execute_many.
    pub memory_bytes: usize,
    /// A client that is silent, or takes nothing, for so long is disconnected.
    pub idle_s: f64,
    /// A statement, or the wait for a connection, is given up after so long.
    pub timeout_s: f64,
    pub durability: Durability,
    /// A take that is not acknowledged for so long is undone; without it a take is final.
    pub redelivery_s: Option<f64>,
    /// Requests that wait together share a statement and a commit.
    pub batch: bool,
    /// `batch`: requests in one at most.
    pub batch_most: usize,
    /// `batch`: so many at a time; while they are under way, the next one gathers.
    pub batch_concurrency: usize,
    /// What clients have to know.
    #[serde(skip_serializing)]
    pub token: Option<String>,
    /// The record log: a row for each request. Beside it, `-levels`: a row for each period.
    pub log: Option<String>,
    pub period_s: f64,
    /// `ip:port` of the OpenMetrics endpoint.
    pub metrics: Option<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:7400".into(),
            database: String::new(),
            design: ThreadingDesign::default(),
            workers: 20,
            connections: 20,
            queue: 10_000,
            clients: 12_000,
            message_bytes: 65_536,
            memory_bytes: 256 << 20,
            idle_s: 600.0,
            timeout_s: 5.0,
            durability: Durability::Full,
            redelivery_s: None,
            batch: false,
            batch_most: 256,
            batch_concurrency: 4,
            token: None,
            log: None,
            period_s: 0.1,
            metrics: None,
        }
    }
}

impl Config {
    pub fn is_threaded(&self) -> bool {
        self.batch || self.design == ThreadingDesign::Threaded
    }

    /// # Errors
    /// `Error::Value` of any service for the first value that is out of its range, `ServeError::Token` for one that no header can
    /// carry.
    pub fn check(&self) -> Result<(), ServeError> {
        within("workers", self.workers as f64, 1.0, 1024.0)?;
        within("connections", self.connections as f64, 1.0, 1024.0)?;
        within("queue", self.queue as f64, 1.0, 1e7)?;
        within("clients", self.clients as f64, 1.0, 1e6)?;
        within("message_bytes", self.message_bytes as f64, 1.0, f64::from(1 << 26))?;
        within("memory_bytes", self.memory_bytes as f64, f64::from(1 << 20), 1e12)?;
        within("idle_s", self.idle_s, 0.01, 1e6)?;
        within("timeout_s", self.timeout_s, 0.01, 3600.0)?;
        within("redelivery_s", self.redelivery_s.unwrap_or(1.0), 0.1, 1e6)?;
        within("batch_most", self.batch_most as f64, 1.0, 4096.0)?;
        within("batch_concurrency", self.batch_concurrency as f64, 1.0, 1024.0)?;
        within("period_s", self.period_s, 0.01, 3600.0)?;
        let printable = |token: &String| !token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic());
        if self.token.as_ref().is_some_and(|token| !printable(token)) {
            return Err(ServeError::Token);
        }
        Ok(())
    }
}
