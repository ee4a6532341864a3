//! A middleware for memcached: replicates writes to all servers, spreads reads over them.
//!
//! Two designs with the same protocol, the same rules and the same statistics:
//! - `direct`: a few event-loop threads, each with a connection to every server: parse, forward, answer, no hand-over
//! - `staged`: one network thread that parses and queues, N workers that each serve a few that wait
//!
//! Shared by both, from the bottom: `config`, `error`; `route` (which servers a request goes to), `limits` (what is held,
//! what is refused), `reply_merger` (many answers to one); `single_writer_counter`, `response_time_bins` (response times and their log), `stats` (counters of one
//! thread), `histograms` (of one thread), `record_log` (what is written each period), `hdr_log` (HdrHistogram log), `summary`;
//! `availability` (which servers are up), `shared` (what all threads see), `acceptor`, `metrics_exposition` (the `stats` command and
//! OpenMetrics). On top `serve` opens a design and closes it. What it has in common with other services, connections above all,
//! is in `sojourn_serving`.
#![forbid(unsafe_code)]

mod acceptor;
mod availability;
mod config;
mod direct;
mod error;
mod hdr_log;
mod histograms;
mod limits;
mod metrics_exposition;
mod record_log;
mod reply_merger;
mod response_time_bins;
mod route;
mod serve;
mod shared;
mod single_writer_counter;
mod staged;
mod stats;
mod summary;

pub use config::{Config, ThreadingDesign};
pub use error::ServeError;
pub use serve::{serve, ReadyMessage};
pub use summary::Summary;
