//! The message-passing service.

use std::collections::BTreeMap;

use crate::worker_loops::{json, parse, tell};
use crate::worker_process::{os_error, stop_flag};
use pyo3::prelude::*;

/// Serves messages until a signal comes; `ready` is called once with where it listens; returns the summary.
#[pyfunction]
fn serve_messages(py: Python<'_>, config: &str, ready: Py<PyAny>) -> PyResult<String> {
    let config: sojourn_msgbroker::Config = parse("message service", config)?;
    let summary = py.detach(|| {
        sojourn_msgbroker::serve(&config, stop_flag(), &mut |r| tell(&ready, r)).map_err(os_error)
    })?;
    json(&summary)
}

/// The SQL of a put and of a take, for who wants to measure the database alone.
#[pyfunction]
fn message_statements() -> BTreeMap<&'static str, &'static str> {
    BTreeMap::from([("PUT", sojourn_msgbroker::PUT), ("TAKE", sojourn_msgbroker::TAKE)])
}

/// The settings of a session, but for its durability, as PGOPTIONS has them.
#[pyfunction]
fn message_settings() -> &'static str {
    sojourn_msgbroker::SETTINGS
}

/// Adds this file's functions to the native module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(serve_messages, module)?)?;
    module.add_function(wrap_pyfunction!(message_statements, module)?)?;
    module.add_function(wrap_pyfunction!(message_settings, module)?)
}
