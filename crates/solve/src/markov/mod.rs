//! Markov chains.
//!
//! - `network_spec`, `network_state`, `state_transitions`, `immediate_transitions`: a queueing network as states and transitions
//! - `state_space`: every state that can be reached, as a sparse generator; `mean_measures`: what a distribution over them means
//! - `sparse_generator`: the generator; `steady_state`, `gth`, `multilevel`: its stationary distribution; `transient`: uniformisation

pub mod gth;
pub mod immediate_transitions;
pub mod mean_measures;
pub mod multilevel;
pub mod network_spec;
pub mod network_state;
pub mod sparse_generator;
pub mod state_space;
pub mod state_transitions;
pub mod steady_state;
pub mod transient;
