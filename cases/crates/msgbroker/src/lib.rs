//! A message-passing service: named queues over HTTP/1.1, kept in PostgreSQL.
//!
//! A request goes this way:
//! - `event_loop` the one thread that waits for all clients; `connection` their bytes; `request_framing` where a request ends
//! - `database_sessions` the database's sessions in the same loop; or, in the threaded design:
//! - `worker` a thread that takes a request; `batch`: one that takes all that wait
//! - `request` a head as an `operation`; `queue_names` and percent-encoding; `refusal` what is not done, and why
//! - `database` the pool of sessions, statements, tables, maintenance
//! - `request_outcome` what came of a request; `response` in bytes; `client` its way back, in the order of the
//!   requests; `client_state` what it is owed
//!
//! Beside it: `stats` (what was done, and how long it took), `record_log`, `metrics` (OpenMetrics), `summary`, `shared`
//! (what all threads see), `serve` (opens, watches the clock, closes). What it has in common with other services is in
//! `sojourn_serving`. No module uses one that uses it.
#![forbid(unsafe_code)]

mod batch;
mod client;
mod client_state;
mod config;
mod connection;
mod database;
mod database_sessions;
mod error;
mod event_loop;
#[cfg(test)]
mod fake_postgres;
#[cfg(fuzzing)]
pub mod fuzzing;
mod metrics;
mod operation;
mod queue_names;
mod record_log;
mod refusal;
mod request;
mod request_framing;
mod request_outcome;
mod response;
mod serve;
mod shared;
mod stats;
mod summary;
mod worker;

pub use config::{Config, Durability, ThreadingDesign};
pub use database::{DatabaseInfo, PUT, PUT_MANY, SETTINGS, TAKE, TAKE_MANY};
pub use error::ServeError;
pub use serve::{serve, ReadyMessage};
pub use summary::Summary;
