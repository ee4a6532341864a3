//! Markov chains.
//!
//! - `network_spec`, `network_state`, `state_transitions`, `immediate_transitions`: a queueing network as states and transitions
//! - `transition_rates`: at which rates; `state_space`: every state that can be reached; `generator_pattern`: their generator
//!   with open rates; `mean_measures`: what distributions over them mean; `network_points`: networks that differ in speeds alone
//! - `sparse_generator`: the generator; `steady_state`, `gth`, `multilevel`: its stationary distribution; `transient`: uniformisation

pub mod generator_pattern;
pub mod gth;
pub mod immediate_transitions;
pub mod mean_measures;
pub mod multilevel;
pub mod network_points;
pub mod network_spec;
pub mod network_state;
pub mod sparse_generator;
pub mod state_space;
pub mod state_transitions;
pub mod steady_state;
pub mod transient;
pub mod transition_rates;
