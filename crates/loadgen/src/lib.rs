//! The load generator: puts a known load on a service over HTTP/1.1, memcached's text protocol or the message
//! service's HTTP, and records what came of each request.
//!
//! The way of a request, as a list of files:
//!
//! 1. `config`: what the user wants; `url`, `plan`: names resolved, connections opened before the start; `encoded_request`, `template`:
//!    the bytes of a request
//! 2. `source`: when the next request is due, from a schedule (open) or from users (closed)
//! 3. `client_thread`: one thread and one event loop; takes due requests, waits with ns precision
//! 4. `pool`: which connection carries it, or the queue in which it waits (its intended time stays)
//! 5. `conn`, `http`, `tls`: sends it, reads the answer, knows when the last byte came; `check`: is it a success; `protocol`: what is
//!    drawn, of `kv` (all that is memcached's own) or `messages` (all that is the message service's own)
//! 6. `sink`: rows to `requests.rec`, histograms to `latency.hlog`, counts to [`Progress`] and [`Summary`]
//!
//! `sys` has the system calls and all `unsafe` of the crate; `clock` what time it is; `stats` the
//! statistics of a latency; `outcome` the kinds of failure; `error` what can go wrong.

#![deny(unsafe_code)]

mod check;
mod classes;
mod client_thread;
mod clock;
mod config;
mod conn;
mod content;
mod encoded_request;
mod error;
mod http;
mod kv;
mod messages;
mod outcome;
mod plan;
mod pool;
mod protocol;
mod run;
mod sink;
mod source;
mod stats;
mod summary;
mod sys;
mod template;
mod tls;
mod url;

pub use clock::now_s;
pub use config::{
    BodyConfig, Closed, Config, Credential, Expect, HeaderConfig, KeyPattern, KvConfig, LaneConfig,
    MessagesConfig, Mix, Sizes, Statuses, TargetConfig, TlsConfig,
};
pub use error::{ConfigError, LoadError};
pub use kv::KvSummary;
pub use messages::MessagesSummary;
pub use outcome::Failure;
pub use run::run;
pub use stats::Statistics;
pub use summary::{LaneSummary, Latency, Progress, Summary, ToBoth};
