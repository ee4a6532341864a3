//! What the user wants: the JSON of a run, its defaults and its limits.

mod agent;
mod http;
mod kv;
mod messages;
mod sessions;
mod size_distribution;
mod tls;
mod validate;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sojourn_dist::{Arrivals, Distribution};

pub use agent::AgentConfig;
pub(crate) use http::check_value;
pub use http::{BodyConfig, Credential, ExpectedStatuses, HeaderConfig};
pub use kv::{KeyPattern, KvConfig, OperationMix, KEY_BYTES_MAX};
pub use messages::{MessagesConfig, HEADER_BYTES};
pub use sessions::{MixConfig, SessionsConfig};
pub use size_distribution::SizeDistribution;
pub use tls::TlsConfig;

/// A load: one or more lanes that run side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub lanes: Vec<ClientThreadConfig>,
    pub duration_s: f64,
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// From when a request is due to the last byte of its answer, and for a connect.
    #[serde(default = "default_timeout_s")]
    pub timeout_s: f64,
    #[serde(default)]
    pub expect: ExpectedResponse,
    /// Rows of the record; above it every k-th request is recorded.
    #[serde(default = "default_record_limit")]
    pub record_limit: u64,
    /// Requests of a lane that wait for a connection to one address; the next one fails at once.
    #[serde(default = "default_waiting_limit")]
    pub waiting_limit: u64,
    /// Ask for SCHED_FIFO for the lanes' threads.
    #[serde(default)]
    pub realtime: bool,
    /// Open loops: what is due, and what arrives, within so many seconds after an event is handled together with it. Fewer wake-ups
    /// cost less CPU; requests are sent up to this late. In [0, 0.1]; 0: everything at once.
    #[serde(default)]
    pub slack_s: f64,
    /// What is asked of memcached:// targets; without it the defaults.
    #[serde(default)]
    pub kv: Option<KvConfig>,
    /// What is asked of messages:// targets; without it the defaults.
    #[serde(default)]
    pub messages: Option<MessagesConfig>,
    /// Users of http:// targets who go from page to page; without it each target is asked as it stands.
    #[serde(default)]
    pub sessions: Option<SessionsConfig>,
    /// Of https:// targets; without it the authorities that this machine trusts.
    #[serde(default)]
    pub tls: Option<TlsConfig>,
    /// HTTP goes to this socket, whatever the URLs' hosts are.
    #[serde(default)]
    pub unix_socket: Option<PathBuf>,
    /// One of several generators that share the arrivals.
    #[serde(default)]
    pub agent: Option<AgentConfig>,
    /// Start at this CLOCK_MONOTONIC time; otherwise as soon as everything is open.
    #[serde(default)]
    pub start_at_s: Option<f64>,
}

/// One thread with its own connections; exactly one of `arrivals` and `closed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientThreadConfig {
    pub targets: Vec<TargetConfig>,
    #[serde(default)]
    pub arrivals: Option<Arrivals>,
    #[serde(default)]
    pub closed: Option<ClosedLoop>,
    /// Opened before the start and kept open, for each address; default 16, or one a user.
    #[serde(default)]
    pub connections: Option<u32>,
    /// Upper limit for each address; default 1024, or one a user, and at least `connections`.
    #[serde(default)]
    pub connections_max: Option<u32>,
    #[serde(default)]
    pub cpu: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetConfig {
    pub url: String,
    #[serde(default = "default_weight")]
    pub weight: f64,
    #[serde(default = "default_class")]
    pub class: String,
    /// Of HTTP, like all that follows.
    #[serde(default = "default_method")]
    pub method: String,
    #[serde(default)]
    pub headers: Vec<HeaderConfig>,
    #[serde(default)]
    pub body: Option<BodyConfig>,
    /// Placeholders in path, headers and body are drawn for each request: `crate::template`.
    #[serde(default)]
    pub template: bool,
    /// Instead of `expect.status`.
    #[serde(default)]
    pub status: Option<ExpectedStatuses>,
}

/// A closed loop: each user thinks, requests, thinks …
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClosedLoop {
    pub users: u32,
    #[serde(default = "no_think")]
    pub think: Distribution,
}

/// What a success is; without a status, 200 to 399.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedResponse {
    #[serde(default)]
    pub status: Option<ExpectedStatuses>,
    #[serde(default)]
    pub min_bytes: Option<u64>,
    #[serde(default)]
    pub max_bytes: Option<u64>,
}

fn default_seed() -> u64 {
    1
}
fn default_timeout_s() -> f64 {
    10.0
}
fn default_record_limit() -> u64 {
    2_000_000
}
fn default_waiting_limit() -> u64 {
    1_000_000
}
fn default_weight() -> f64 {
    1.0
}
fn default_method() -> String {
    "GET".to_string()
}
fn default_class() -> String {
    "request".to_string()
}
fn no_think() -> Distribution {
    Distribution::Deterministic { mean: 0.0 }
}

impl ClientThreadConfig {
    pub(crate) fn connections(&self) -> u32 {
        self.connections.unwrap_or_else(|| self.closed.as_ref().map_or(16, |closed| closed.users))
    }

    pub(crate) fn connections_max(&self) -> u32 {
        let usual = self.closed.as_ref().map_or(1024, |closed| closed.users);
        self.connections_max.unwrap_or_else(|| usual.max(self.connections()))
    }
}
