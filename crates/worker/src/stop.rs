//! How a worker process is told to stop. Each native module has a flag of its own, and registers it by itself.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Set by the first SIGTERM or SIGINT after `stop_on_signals`.
pub fn stop_flag() -> &'static Arc<AtomicBool> {
    static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    STOP.get_or_init(Arc::default)
}

pub fn os_error(error: impl std::fmt::Display) -> PyErr {
    PyOSError::new_err(error.to_string())
}

/// From now on SIGTERM and SIGINT end the native loops of this module in good order.
pub fn stop_on_signals() -> PyResult<()> {
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(stop_flag())).map_err(os_error)?;
    }
    Ok(())
}

/// Whether a signal has asked this process to stop.
pub fn stopped() -> bool {
    stop_flag().load(Ordering::Relaxed)
}
