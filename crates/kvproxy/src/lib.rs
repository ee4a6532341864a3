//! A middleware for memcached: replicates writes to all servers, spreads reads over them.
//!
//! Two designs with the same protocol, the same rules and the same statistics:
//! - `direct`: a few event-loop threads, each with a connection to every server: parse, forward, answer, no hand-over
//! - `staged`: one network thread that parses and queues, N workers that each serve one request at a time
//!
//! Shared by both, from the bottom: `config`, `error`; `route` (which servers a request goes to), `limits` (what is held,
//! what is refused), `gather` (many answers to one); `count`, `bins` (response times and their log), `stats` (counters of one
//! thread), `histograms` (of one thread), `log` (what is written each period), `hlog` (HdrHistogram log), `summary`;
//! `availability` (which servers are up), `shared` (what all threads see), `acceptor`, `exposition` (the `stats` command and
//! OpenMetrics). On top `serve` opens a design and closes it. What it has in common with other services, connections above all,
//! is in `sojourn_serving`.
#![forbid(unsafe_code)]

mod acceptor;
mod availability;
mod bins;
mod config;
mod count;
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
