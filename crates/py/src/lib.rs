//! `sojourn._native`: converts, releases the GIL, maps errors. Nothing else in the workspace knows Python.
//!
//! - `place`    namespaces, pinning, the stop flag
//! - `services` the load generator, the web testbed, the host collector, spinners
//! - `irqwork`  work in soft-interrupt context
//! - `toml`     where in a file each key stands
//!
//! Configurations and summaries cross as JSON text: each is checked by the crate that owns it.

mod closed;
mod host;
mod irqwork;
mod kv;
mod kvproxy;
mod markov;
mod messages;
mod network;
mod place;
mod services;
mod toml;

use pyo3::prelude::*;

/// Native parts of sojourn.
#[pymodule]
mod _native {
    use super::{Bound, PyModule, PyResult};
    #[pymodule_export]
    use crate::irqwork::IrqWork;
    #[pymodule_export]
    use crate::place::{die_with_parent, enter_network, share_taken, stop_on_signals, stopped};
    #[pymodule_export]
    use crate::services::{collect_host, load, schedule, serve_web, spin};

    /// Solver kernels and simulators: each file registers its own functions.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::closed::register(module)?;
        crate::markov::register(module)?;
        crate::network::register(module)?;
        crate::host::register(module)?;
        crate::kv::register(module)?;
        crate::kvproxy::register(module)?;
        crate::messages::register(module)?;
        crate::toml::register(module)
    }
}
