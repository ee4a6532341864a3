//! Randomness that a run can be repeated from: the simulator and the load generator draw the same
//! arrivals from the same (process, seed, name).
//!
//! - `random_stream`: [`Stream`], independent named streams (xoshiro256++), frozen
//! - `distribution`: [`Distribution`] of service and think times
//! - `arrival_schedule`: [`Arrivals`], the arrival processes, and [`Schedule`], their times
//! - `sampler`: [`Sampler`], a distribution made ready to be drawn by the hundred million, for the simulator
//! - `arrival_process`: [`ArrivalProcess`], what arrives in a simulation: renewal, MAP, steps that repeat, a trace
//! - `ziggurat`, `portable_math`: a quick exponential, and the functions it needs, the same bits on every machine
//! - `moments`: of the distributions that have more than a line
//! - `normal_quantile`: the normal quantile, for the lognormal
//! - `error`: [`DistError`]
//!
//! Samplers are our own; those of schedules use the inverse of the distribution function, so that neither a
//! library's new version nor another platform changes a schedule.
#![forbid(unsafe_code)]

mod arrival_process;
mod arrival_schedule;
mod distribution;
mod error;
mod moments;
mod normal_quantile;
mod portable_math;
mod random_stream;
mod sampler;
mod ziggurat;

pub use arrival_process::{ArrivalProcess, ArrivalTimes, NonRenewalProcess};
pub use arrival_schedule::{Arrivals, Schedule};
pub use distribution::Distribution;
pub use error::DistError;
pub use random_stream::Stream;
pub use sampler::Sampler;
