//! Queueing networks: a config in, counts by time-batches out.
//!
//! - `config`: what a simulation is told, JSON
//! - `check`: what a config must keep
//! - `simulation`: [`Simulation`], which runs, goes on, and gives its counts
//! - `events`: the engine by events; `calendar` their order, `serve` stations at work, `moves` between them,
//!   `control` servers that come and go, `short` the quick way, `routes`, `station`, `customer`
//! - `recursion`: the engine without events, for queues in the order of the flow; `lines` its stations
//! - `statistics`: what is counted; `cells`, `histogram`, `log`

mod calendar;
mod cells;
mod check;
pub mod config;
mod control;
mod customer;
mod events;
mod histogram;
mod lines;
mod log;
mod moves;
mod recursion;
mod routes;
mod serve;
mod short;
mod simulation;
mod station;
mod statistics;

pub use cells::{COLUMNS, WIDTH};
pub use check::Refused;
pub use config::Config;
pub use simulation::{Counts, Simulation};

use events::Source;
use sojourn_dist::{Sampler, Stream, Times};

/// The stream of one source: its name says what it is for, at which station and class, and which replication.
fn stream(config: &Config, what: &str, station: &str, class: &str) -> Stream {
    Stream::new(config.seed, &format!("{what}/{station}/{class}/{}", config.replication))
}

fn services(config: &Config) -> Vec<Option<Source>> {
    let rows = config.stations.iter().zip(&config.service);
    rows.flat_map(|(s, row)| {
        config.classes.iter().zip(row).map(|(c, d)| {
            let sampler = Sampler::new(d.as_ref()?);
            Some(Source { sampler, stream: stream(config, "service", &s.name, &c.name) })
        })
    })
    .collect()
}

fn arrivals(config: &Config) -> Vec<Option<Times>> {
    let times = |c: &config::Class| Some(c.arrivals.as_ref()?.times(stream(config, "arrivals", "", &c.name)));
    config.classes.iter().map(times).collect()
}
