//! Queueing networks.
