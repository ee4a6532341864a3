//! A message-passing service: named queues over HTTP/1.1, kept in PostgreSQL.
//!
//! A request goes this way:
//! - `dispatcher` the one thread that waits for all clients; `reading` their bytes; `frame` where a request ends
//! - `line`       the bounded queue
//! - `sessions`   the database's sessions in the dispatcher's poll; or, in the threaded design:
//! - `worker`     takes a request; `batch`: takes all that wait
//! - `request`    a head as an `operation`; `text` names and percent-encoding; `refusal` what is not done, and why
//! - `database`   the pool of connections, statements, tables, what has to be done beside
//! - `outcome`    what came of a request; `answer` the response; `client` its way back, in the order of the requests
//!
//! Beside it: `book` (what was done, and how long it took), `log`, `metrics` (OpenMetrics), `summary`, `shared` (what all
//! threads see), `serve` (opens, watches the clock, closes). What it has in common with other services is in
//! `sojourn_serving`.
#![forbid(unsafe_code)]

mod answer;
mod batch;
mod book;
mod client;
mod config;
mod database;
mod dispatcher;
mod error;
mod frame;
mod line;
mod log;
mod metrics;
mod operation;
mod outcome;
mod reading;
mod refusal;
mod request;
mod serve;
mod sessions;
mod shared;
#[cfg(test)]
mod stand_in;
mod summary;
mod text;
mod worker;

pub use config::{Config, Design, Durability};
pub use database::{About, PUT, SETTINGS, TAKE};
pub use error::ServeError;
pub use serve::{serve, Ready};
pub use summary::Summary;
