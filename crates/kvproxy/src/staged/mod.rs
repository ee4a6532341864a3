//! `staged`.
