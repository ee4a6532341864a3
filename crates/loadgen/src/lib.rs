//! The load generator: puts a known load on a service over HTTP/1.1, memcached's text protocol or the message
//! service's HTTP, and records what came of each request.
//!
//! The way of a request, as a list of files:
//!
//! 1. `config`: what the user wants; `url`, `prepared_load`: names resolved, connections opened before the start; `encoded_request`, `request_template`:
//!    the bytes of a request
//! 2. `request_source`: when the next request is due, from a schedule (open) or from users (closed)
//! 3. `client_thread`: one thread and one event loop; takes due requests, waits with ns precision
//! 4. `connection_pool`: which connection carries it, or the queue in which it waits (its intended time stays)
//! 5. `connection`, `http`, `tls`: sends it, reads the answer, knows when the last byte came; `response_check`: is it a success; `protocol`: what is
//!    drawn, of `kv` (all that is memcached's own), `messages` (all that is the message service's own) or `sessions`
//!    (users who go from page to page)
//! 6. `sink`: rows to `requests.rec`, histograms to `latency.hlog`, counts to [`Progress`] and [`Summary`]
//!
//! `merge`: what several generators have counted, added up.
//!
//! `sys` has the system calls and all `unsafe` of the crate; `clock` what time it is; `latency_statistics` the
//! statistics of a latency; `request_outcome` the kinds of failure; `error` and `config_error` what can go wrong.

#![deny(unsafe_code)]

mod class_statistics;
mod client_thread;
mod clock;
mod config;
mod config_error;
mod connection;
mod connection_pool;
mod encoded_request;
mod error;
#[cfg(fuzzing)]
pub mod fuzzing;
mod http;
mod kv;
mod latency_statistics;
mod merge;
mod messages;
mod prepared_load;
mod protocol;
mod request_outcome;
mod request_source;
mod request_template;
mod response_check;
mod run;
mod run_terms;
mod sessions;
mod sink;
mod summary;
mod sys;
mod tls;
mod url;
mod verifiable_bytes;

pub use clock::now_s;
pub use config::{
    AgentConfig, BodyConfig, ClientThreadConfig, ClosedLoop, Config, Credential, ExpectedResponse,
    ExpectedStatuses, HeaderConfig, KeyPattern, KvConfig, MessagesConfig, MixConfig, OperationMix,
    SessionsConfig, SizeDistribution, TargetConfig, TlsConfig,
};
pub use config_error::ConfigError;
pub use error::LoadError;
pub use kv::KvSummary;
pub use latency_statistics::{LatencyCounts, LatencyStatistics};
pub use merge::{merge_interval_logs, merged_latency, MergedLatency};
pub use messages::MessagesSummary;
pub use request_outcome::Failure;
pub use run::run;
pub use sessions::SessionsSummary;
pub use summary::{ClientThreadSummary, LatencyByEndpoint, LatencySummary, Progress, Summary};

/// For loads of another kind: their threads make outcomes, and the run is recorded, counted and told as any other.
pub mod recording {
    pub use crate::client_thread::{LiveCounts, OutcomeBatch, ThreadCounts};
    pub use crate::request_outcome::{RequestInFlight, RequestOutcome, ResponseFacts};
    pub use crate::request_source::NO_USER;
    pub use crate::run::record_run;
    pub use crate::run_terms::{RunTerms, StopFlags};
    pub use crate::sink::OutcomeSink;
    pub use crate::sys::{pin, precise_timers, Poller};
}
