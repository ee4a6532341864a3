//! The simulator of queueing networks.

use numpy::{PyArray1, PyArrayMethods, ToPyArray};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_des::network::{self, Counts, COLUMNS, WIDTH};

/// A simulation of a network, which runs in pieces and keeps what was done.
#[pyclass(module = "sojourn._native")]
pub struct Simulation {
    inner: network::Simulation,
}

#[pymethods]
impl Simulation {
    /// From a config (JSON; schema: crates/des/src/network/config.rs). Raises ValueError, which names the value, the
    /// place and the remedy.
    #[new]
    fn new(py: Python<'_>, config_json: &str) -> PyResult<Simulation> {
        let made = py.detach(|| network::Simulation::from_json(config_json));
        Ok(Simulation { inner: made.map_err(|e| PyValueError::new_err(e.to_string()))? })
    }

    /// Goes on from where it stands until simulated time, passes in all, or wall seconds, whichever is first.
    #[pyo3(signature = (until_s=None, completions=None, seconds=None))]
    fn run(&mut self, py: Python<'_>, until_s: Option<f64>, completions: Option<u64>, seconds: Option<f64>) {
        let inner = &mut self.inner;
        py.detach(|| inner.run(until_s, completions, seconds));
    }

    #[getter]
    fn now_s(&self) -> f64 {
        self.inner.now_s()
    }

    #[getter]
    fn completions(&self) -> u64 {
        self.inner.completions()
    }

    #[getter]
    fn events(&self) -> u64 {
        self.inner.events()
    }

    /// True if nothing will ever happen again: a trace is over, or all are blocked.
    #[getter]
    fn ended(&self) -> bool {
        self.inner.ended()
    }

    /// Customers that exist now, thinkers included.
    #[getter]
    fn customers(&self) -> usize {
        self.inner.customers()
    }

    /// Which engine runs: "events" or "recursion".
    #[getter]
    fn engine(&self) -> &'static str {
        self.inner.engine()
    }

    /// Ended time-batches: each column an array (B, K+1, C), row K the whole system; "limit_" + column (B, L, C).
    fn batches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = self.table(py, self.inner.batches())?;
        table.set_item("batch_s", self.inner.batches().length_s)?;
        Ok(table)
    }

    /// Passes that ended, if config "requests" asked for them: "class", "start_s", "end_s", "lost", each (n,).
    fn requests<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = self.inner.passes();
        let table = PyDict::new(py);
        table.set_item("class", PyArray1::from_iter(py, rows.iter().map(|r| r.class)))?;
        table.set_item("start_s", PyArray1::from_iter(py, rows.iter().map(|r| r.start_s)))?;
        table.set_item("end_s", PyArray1::from_iter(py, rows.iter().map(|r| r.end_s)))?;
        table.set_item("lost", PyArray1::from_iter(py, rows.iter().map(|r| r.lost)))?;
        Ok(table)
    }

    /// The same for the time series, if `period_s` was asked for.
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(counts) = self.inner.series() else { return Ok(None) };
        let table = self.table(py, counts)?;
        table.set_item("period_s", counts.length_s)?;
        Ok(Some(table))
    }

    /// Response times of a key: "edges_s" (n+1), "counts" (G, n) by group of time-batches, "group_s".
    fn histogram<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyDict>> {
        let found = self.inner.histogram(key).ok_or_else(|| {
            PyKeyError::new_err(format!("{key:?}: not among the config's histograms; name it there"))
        })?;
        let (edges, rows, group_s) = found;
        let bins = edges.len() - 1;
        let table = PyDict::new(py);
        let groups = rows.len();
        let mut flat: Vec<u64> = Vec::with_capacity(groups * bins);
        rows.into_iter().for_each(|row| flat.extend(row));
        table.set_item("edges_s", edges.to_pyarray(py))?;
        table.set_item("counts", PyArray1::from_vec(py, flat).reshape([groups, bins])?)?;
        table.set_item("group_s", group_s)?;
        Ok(table)
    }
}

impl Simulation {
    fn table<'py>(&self, py: Python<'py>, counts: Counts<'_>) -> PyResult<Bound<'py, PyDict>> {
        let (k, c) = (self.inner.config.stations.len() + 1, self.inner.config.classes.len());
        let limits = self.inner.config.limits.len();
        let table = PyDict::new(py);
        for (column, name) in COLUMNS.iter().enumerate() {
            let part = |first: usize, nodes: usize| {
                let cells = first * c..(first + nodes) * c;
                let rows = counts.rows.chunks_exact(counts.width);
                let values: Vec<f64> =
                    rows.flat_map(|row| cells.clone().map(move |i| row[i * WIDTH + column])).collect();
                PyArray1::from_vec(py, values).reshape([counts.rows.len() / counts.width, nodes, c])
            };
            table.set_item(*name, part(0, k)?)?;
            table.set_item(format!("limit_{name}"), part(k, limits)?)?;
        }
        Ok(table)
    }
}

/// Adds this file's functions to the native module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Simulation>()
}
