//! `sojourn._native`: converts, releases the GIL, maps errors. Nothing else in the workspace knows Python.
//!
//! - `worker_process`    namespaces, pinning, the stop flag
//! - `worker_loops` the load generator, the host collector, spinners
//! - `topology_probe` distances between cores, and of memory from a core
//! - `irqwork`  work in soft-interrupt context
//! - `toml_lines`     where in a file each key stands
//!
//! Configurations and summaries cross as JSON text: each is checked by the crate that owns it.

mod closed_networks;
mod embedded_kv;
mod irqwork;
mod markov_chains;
mod network_spec;
mod simulation;
mod toml_lines;
mod topology_probe;
mod virtual_host;
mod worker_loops;
mod worker_process;

use pyo3::prelude::*;

/// Native parts of sojourn.
#[pymodule]
mod _native {
    use super::{Bound, PyModule, PyResult};
    #[pymodule_export]
    use crate::irqwork::IrqWork;
    #[pymodule_export]
    use crate::topology_probe::{cache_line_transfer, pointer_chase};
    #[pymodule_export]
    use crate::worker_loops::{
        collect_host, load, load_blocks, merge_interval_logs, merged_latency, schedule, spin,
    };
    #[pymodule_export]
    use crate::worker_process::{die_with_parent, enter_network, share_taken, stop_on_signals, stopped};

    /// Solver kernels and simulators: each file registers its own functions.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::closed_networks::register(module)?;
        crate::markov_chains::register(module)?;
        crate::simulation::register(module)?;
        crate::virtual_host::register(module)?;
        crate::embedded_kv::register(module)?;
        crate::toml_lines::register(module)
    }
}
