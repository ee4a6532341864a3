//! Queueing networks: a config in, counts by time-batches out.
//!
//! - `config`: what a simulation is told, JSON
//! - `check`: what a config must keep
//! - `simulation`: [`Simulation`], which runs, goes on, and gives its counts
//! - `event_engine`: the engine by events; `calendar` their order, `serve` stations at work, `moves` between them,
//!   `control` servers that come and go, `several_servers` and `single_server` the quick ways, `routes`, `station`, `customer`, `sources`
//! - `recursion`: the engine without events, for queues in the order of the flow; `recursion_station` its stations
//! - `statistics`: what is counted; `cells`, `histogram`, `log`

mod calendar;
mod cells;
mod check;
pub mod config;
mod control;
mod customer;
mod event_engine;
mod histogram;
mod log;
mod moves;
mod recursion;
mod recursion_station;
mod routes;
mod serve;
mod several_servers;
mod simulation;
mod single_server;
mod sources;
mod station;
mod statistics;

pub use cells::{COLUMNS, WIDTH};
pub use check::InvalidConfig;
pub use config::Config;
pub use simulation::{Counts, Simulation};
