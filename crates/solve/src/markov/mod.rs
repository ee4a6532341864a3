//! Markov chains.
//!
//! - `spec`, `state`, `walk`, `place`: a queueing network as states and transitions
//! - `explore`: every state that can be reached, as a sparse generator; `measure`: what a distribution over them means
//! - `sparse`: the generator; `steady`, `multilevel`: its stationary distribution; `transient`: uniformisation

pub mod explore;
pub mod measure;
pub mod multilevel;
pub mod place;
pub mod sparse;
pub mod spec;
pub mod state;
pub mod steady;
pub mod transient;
pub mod walk;
