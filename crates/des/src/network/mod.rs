//! Queueing networks: a config in, counts by time-batches out.
//!
//! - `config`: what a simulation is told, JSON
//! - `check`: what a config must keep
//! - `simulation`: [`Simulation`], which runs, goes on, and gives its counts
//! - `event_engine`: the engine by events; `world` what its stations share, `calendar` the order of events, `station`,
//!   `serve` and `disciplines` stations at work, `customer_transitions` between them, `limits` of those inside, `control`
//!   servers that come and go, `routes`, `customer`, `sources`
//! - `recursion`: the engine without events, for queues in the order of the flow; `recursion_station` its stations
//! - `statistics`: what is counted; `statistical_counters`, `batches`, `histogram`, `log`

mod batches;
mod calendar;
mod check;
pub mod config;
mod control;
mod customer;
mod customer_transitions;
mod disciplines;
mod event_engine;
mod histogram;
mod limits;
mod log;
mod recursion;
mod recursion_station;
mod routes;
mod serve;
mod simulation;
mod sources;
mod station;
mod statistical_counters;
mod statistics;
mod world;

pub use check::InvalidConfig;
pub use config::Config;
pub use simulation::{Counts, Simulation};
pub use statistical_counters::{COLUMNS, WIDTH};
