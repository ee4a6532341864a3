//! What the loops of a worker process share towards Python; the native modules of sojourn and of a package of cases use it.
//!
//! - `stop`   the flag that a signal sets
//! - `json`   configurations and summaries cross as JSON text: each is checked by the crate that owns it
//! - `service!`  a function of Python that serves until a signal comes

mod json;
mod service;
mod stop;

pub use json::{json, parse, tell};
pub use stop::{os_error, stop_flag, stop_on_signals, stopped};
