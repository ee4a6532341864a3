//! Queueing networks: a config in, counts by time-batches out.
//!
//! - `config`: what a simulation is told, JSON
//! - `check`: what a config must keep
//! - `simulation`: [`Simulation`], which runs, goes on, and gives its counts
//! - `events`: the engine by events; `calendar` their order, `serve` stations at work, `moves` between them,
//!   `control` servers that come and go, `short` and `lane` the quick ways, `routes`, `station`, `customer`, `sources`
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
mod lane;
mod lines;
mod log;
mod moves;
mod recursion;
mod routes;
mod serve;
mod short;
mod simulation;
mod sources;
mod station;
mod statistics;

pub use cells::{COLUMNS, WIDTH};
pub use check::Refused;
pub use config::Config;
pub use simulation::{Counts, Simulation};
