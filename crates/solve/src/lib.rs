//! Solver kernels that loop: pure functions of slices, no allocation of results by the caller's language.
//!
//! - `closed`: exact mean value analysis, convolution, and their approximations
//! - `markov`: sparse chains, matrix-geometric methods, transients
#![forbid(unsafe_code)]

pub mod closed;
pub mod markov;
