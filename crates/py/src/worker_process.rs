//! Where a worker process runs, and how it is told to stop.

use pyo3::prelude::*;
use sojourn_worker::os_error;
use std::time::Duration;

/// From now on SIGTERM and SIGINT end the native loop of this process in good order.
#[pyfunction]
pub fn stop_on_signals() -> PyResult<()> {
    sojourn_worker::stop_on_signals()
}

/// Whether a signal has asked this process to stop.
#[pyfunction]
pub fn stopped() -> bool {
    sojourn_worker::stopped()
}

/// Asks the kernel to end this process when its parent ends.
#[pyfunction]
pub fn die_with_parent() {
    sojourn_spin::die_with_parent();
}

/// Moves this thread into the network namespace at `path`.
#[pyfunction]
pub fn enter_network(path: &str) -> PyResult<()> {
    sojourn_spin::enter_network(path).map_err(os_error)
}

/// The share in [0, 1] of `core` that `thread` takes from an ordinary busy thread during `length_s` seconds.
#[pyfunction]
pub fn share_taken(py: Python<'_>, core: usize, thread: u32, length_s: f64) -> PyResult<f64> {
    let length = Duration::try_from_secs_f64(length_s).map_err(os_error)?;
    py.detach(|| sojourn_spin::share_taken(core, thread, length)).map_err(os_error)
}
