//! A middleware for memcached: replicates writes to all servers, spreads reads over them.
//!
//! Two designs with the same protocol, the same rules and the same statistics:
//! - `direct`: a few event-loop threads, each with a connection to every server: parse, forward, answer, no hand-over
//! - `staged`: one network thread that parses and queues, N workers that each serve one request at a time
//!
//! Shared by both: `route` (which servers a request goes to), `rules` (what is refused), `gather` (many answers to one), `buffer` (bytes that
//! arrived), `stats` (counters with one writer each), `bins` (response times, and their log), `own` (histograms of one
//! thread), `summary`, `log`, `hlog` (HdrHistogram log), `tell` (the `stats` command and OpenMetrics), `serve` (opens,
//! watches the clock, closes). What it has in common with other services is in `sojourn_serving`.
#![forbid(unsafe_code)]

mod acceptor;
mod availability;
mod bins;
mod config;
mod direct;
mod error;
mod exposition;
mod gather;
mod histograms;
mod hlog;
mod limits;
mod log;
mod route;
mod serve;
mod shared;
mod staged;
mod stats;
mod summary;

pub use config::{Config, Design};
pub use error::ServeError;
pub use serve::{serve, Ready};
pub use summary::Summary;
