//! Discrete-event simulation.
//!
//! - `network`: queueing networks of any shape, with full statistics
//! - `host`: a virtual host: cores with soft interrupts served first, threads, NICs
#![forbid(unsafe_code)]

pub mod host;
pub mod network;
