//! The loops that run as a process of their own.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_worker::{json, os_error, parse, stop_flag, tell};
use std::path::{Path, PathBuf};

/// Runs a load until it is over or a signal came; returns the summary.
#[pyfunction]
pub fn load(py: Python<'_>, config: &str, out: &str, progress: Py<PyAny>) -> PyResult<String> {
    let config =
        sojourn_loadgen::Config::from_json(config).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let summary = py.detach(|| {
        sojourn_loadgen::run(&config, Path::new(out), &mut |p| tell(&progress, p), stop_flag()).map_err(
            |error| match error {
                // What somebody gave is wrong, not the service: a body's file, a variable that is not set.
                sojourn_loadgen::LoadError::Config(error) => PyValueError::new_err(error.to_string()),
                error => os_error(error),
            },
        )
    })?;
    json(&summary)
}

/// Runs a load of block I/O until it is over or a signal came; returns the summary.
#[pyfunction]
pub fn load_blocks(py: Python<'_>, config: &str, out: &str, progress: Py<PyAny>) -> PyResult<String> {
    use sojourn_blockload::BlockLoadError;
    let told = |error: BlockLoadError| match error {
        BlockLoadError::Value { .. } => PyValueError::new_err(error.to_string()),
        error => os_error(error),
    };
    let config = sojourn_blockload::Config::from_json(config).map_err(told)?;
    let summary = py.detach(|| {
        sojourn_blockload::run(&config, Path::new(out), &mut |p| tell(&progress, p), stop_flag())
            .map_err(told)
    })?;
    json(&summary)
}

/// Records host metrics until a signal comes.
#[pyfunction]
pub fn collect_host(py: Python<'_>, config: &str) -> PyResult<String> {
    let config: sojourn_hostmetrics::Config = parse("host metrics", config)?;
    let summary = py.detach(|| sojourn_hostmetrics::collect(&config, stop_flag()).map_err(os_error))?;
    json(&summary)
}

/// Spins on `cores` at idle priority until a signal comes; work done is counted in the file `work`.
#[pyfunction]
#[pyo3(signature = (cores, work=None))]
pub fn spin(py: Python<'_>, cores: Vec<usize>, work: Option<PathBuf>) -> PyResult<()> {
    let counters = work.map(|path| sojourn_spin::WorkCounters::map(&path, cores.len())).transpose()?;
    py.detach(|| sojourn_spin::spin(&cores, stop_flag(), counters.as_ref())).map_err(os_error)
}

/// The first `duration_s` seconds of an arrival process (JSON), as times in s: what the generator will send.
#[pyfunction]
pub fn schedule(
    py: Python<'_>,
    arrivals: &str,
    seed: u64,
    name: &str,
    duration_s: f64,
) -> PyResult<Vec<f64>> {
    let arrivals: sojourn_dist::Arrivals = parse("arrivals", arrivals)?;
    Ok(py.detach(|| arrivals.schedule(seed, name, duration_s).collect()))
}

/// The statistics of all requests of several agents, from the `counts` of their summaries.
#[pyfunction]
pub fn merged_latency(counts: &str) -> PyResult<String> {
    let counts: Vec<std::collections::BTreeMap<String, sojourn_loadgen::LatencyCounts>> =
        parse("counts", counts)?;
    json(&sojourn_loadgen::merged_latency(&counts))
}

/// Adds the interval logs of several agents, second by second, into one.
#[pyfunction]
pub fn merge_interval_logs(py: Python<'_>, logs: Vec<PathBuf>, out: PathBuf) -> PyResult<()> {
    py.detach(|| sojourn_loadgen::merge_interval_logs(&logs, &out).map_err(os_error))
}
