//! Where a worker process runs, and how it is told to stop.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Set by the first SIGTERM or SIGINT after `stop_on_signals`.
pub fn stop_flag() -> &'static Arc<AtomicBool> {
    static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    STOP.get_or_init(Arc::default)
}

pub fn os_error(error: impl std::fmt::Display) -> PyErr {
    PyOSError::new_err(error.to_string())
}

/// From now on SIGTERM and SIGINT end the native loop of this process in good order.
#[pyfunction]
pub fn stop_on_signals() -> PyResult<()> {
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(stop_flag())).map_err(os_error)?;
    }
    Ok(())
}

/// Whether a signal has asked this process to stop.
#[pyfunction]
pub fn stopped() -> bool {
    stop_flag().load(Ordering::Relaxed)
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
