//! Closed networks.
