//! How far cores are from each other, and memory from a core.

use pyo3::prelude::*;
use sojourn_worker::os_error;
use std::time::Duration;

/// One-way times of a cache line between two cores, s: a mean for each batch.
#[pyfunction]
pub fn cache_line_transfer(
    py: Python<'_>,
    one: usize,
    other: usize,
    batches: usize,
    limit_s: f64,
) -> PyResult<Vec<f64>> {
    let limit = Duration::try_from_secs_f64(limit_s).map_err(os_error)?;
    py.detach(|| sojourn_hostmetrics::cache_line_transfer_s(one, other, batches, limit)).map_err(os_error)
}

/// Times of an access in memory of each size on a core, s: a mean for each batch.
#[pyfunction]
pub fn pointer_chase(
    py: Python<'_>,
    core: usize,
    sizes_bytes: Vec<usize>,
    batches: usize,
) -> PyResult<Vec<Vec<f64>>> {
    py.detach(|| sojourn_hostmetrics::pointer_chase_s(core, &sizes_bytes, batches)).map_err(os_error)
}
