//! Markov chains.
