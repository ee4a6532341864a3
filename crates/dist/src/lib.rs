//! Randomness that a run can be repeated from: the simulator and the load generator draw the same
//! arrivals from the same (process, seed, name).
//!
//! - `stream`: [`Stream`], independent named streams (xoshiro256++), frozen
//! - `distribution`: [`Distribution`] of service and think times
//! - `arrivals`: [`Arrivals`], the arrival processes, and [`Schedule`], their times
//! - `normal`: the normal quantile, for the lognormal
//! - `error`: [`DistError`]
//!
//! Samplers are our own and use the inverse of the distribution function, so that neither a library's
//! new version nor another platform changes a schedule.
#![forbid(unsafe_code)]

mod arrivals;
mod distribution;
mod error;
mod normal;
mod stream;

pub use arrivals::{Arrivals, Schedule};
pub use distribution::Distribution;
pub use error::DistError;
pub use stream::Stream;
