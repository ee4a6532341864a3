//! `direct`: event loops that parse, forward and answer, each with its own connection to every server.
//!
//! - `lane`   one loop: events, time, its end
//! - `begin`  a client's bytes to requests under way
//! - `finish` a server's answer to a client's
//! - `client`, `server` the two sides' connections

mod begin;
mod client;
mod finish;
mod lane;
mod server;

pub(crate) use lane::{Lane, Post};
