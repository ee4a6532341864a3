//! The virtual host.

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_des::host::{simulate, Config, SimulatedRun};

/// Adds this file's functions to the native module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(simulate_host, module)?)
}

/// Simulates a host (its configuration as JSON text): arrays of its requests and samples by name, and totals.
///
/// A bad value is a `ValueError` with (value, place, remedy).
#[pyfunction]
fn simulate_host<'py>(py: Python<'py>, config: &str) -> PyResult<Bound<'py, PyDict>> {
    let config: Config = serde_json::from_str(config)
        .map_err(|e| PyValueError::new_err((e.to_string(), "virtual host", "mend the key or value there")))?;
    let run = py
        .detach(|| simulate(&config))
        .map_err(|e| PyValueError::new_err((e.value, format!("virtual host, {}", e.place), e.remedy)))?;
    arrays(py, run)
}

fn arrays(py: Python<'_>, run: SimulatedRun) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    let (records, samples) = (run.records, run.samples);
    let times = [
        ("intended_s", records.intended_s),
        ("ready_s", records.ready_s),
        ("start_s", records.start_s),
        ("done_s", records.done_s),
        ("interrupt_s", records.interrupt_s),
        ("page_s", records.page_s),
        ("sample_t_s", samples.t_s),
        ("sample_user_s", samples.user_s),
        ("sample_system_s", samples.system_s),
        ("sample_softirq_s", samples.softirq_s),
    ];
    for (name, column) in times {
        out.set_item(name, PyArray1::from_vec(py, column))?;
    }
    out.set_item("nic", PyArray1::from_vec(py, records.nic))?;
    out.set_item("core", PyArray1::from_vec(py, records.core))?;
    out.set_item("user", PyArray1::from_vec(py, records.user))?;
    out.set_item("refused", PyArray1::from_vec(py, records.refused))?;
    out.set_item("cores", run.cores)?;
    out.set_item("end_s", run.end_s)?;
    out.set_item("events", run.events)?;
    Ok(out)
}
