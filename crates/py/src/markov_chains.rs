//! Kernels of Markov chains.

use std::time::Duration;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_solve::markov::mean_measures::{measure, MeanMeasures};
use sojourn_solve::markov::network_points::{solve_points, SteadyLimits};
use sojourn_solve::markov::network_spec::NetworkSpec;
use sojourn_solve::markov::network_state::StateLayout;
use sojourn_solve::markov::sparse_generator::SparseGenerator;
use sojourn_solve::markov::state_space::{explore, NoChain, StateSpace};
use sojourn_solve::markov::transition_rates::Clocks;
use sojourn_solve::markov::{steady_state, transient};

use crate::network_spec::Spec;

/// Adds this file's functions to the native module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<NetworkChain>()?;
    module.add_function(wrap_pyfunction!(chain_steady, module)?)?;
    module.add_function(wrap_pyfunction!(chain_transient, module)?)
}

type Measures<'py> = Bound<'py, PyDict>;
type Vector<'py> = Bound<'py, PyArray1<f64>>;
type Sparse<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>, Vector<'py>, Vector<'py>);

fn duration(limit_s: f64) -> Duration {
    Duration::try_from_secs_f64(limit_s.max(0.0)).unwrap_or(Duration::MAX)
}

/// The states of a network and their generator.
#[pyclass(frozen)]
struct NetworkChain {
    spec: NetworkSpec,
    explored: StateSpace,
}

#[pymethods]
impl NetworkChain {
    /// Explores at most `most` states; ValueError says too_many, deadlock, no_room or too_wide.
    #[new]
    fn new(py: Python<'_>, spec: Spec, most: usize) -> PyResult<Self> {
        let spec = spec.native()?;
        let explored = py.detach(|| explore(&spec, most)).map_err(|r| {
            PyValueError::new_err(match r {
                NoChain::TooMany => "too_many",
                NoChain::Deadlock => "deadlock",
                NoChain::NoRoom => "no_room",
                NoChain::TooWide => "too_wide",
            })
        })?;
        Ok(Self { spec, explored })
    }

    fn __len__(&self) -> usize {
        self.explored.keys.len()
    }

    /// (p, residual, cycles); `skewed`: from another first distribution. TimeoutError after `limit_s`.
    #[pyo3(signature = (tolerance, most, skewed = false, limit_s = f64::INFINITY))]
    fn steady<'py>(
        &self,
        py: Python<'py>,
        tolerance: f64,
        most: usize,
        skewed: bool,
        limit_s: f64,
    ) -> PyResult<(Vector<'py>, f64, usize)> {
        let limit = duration(limit_s);
        let s = py.detach(|| steady_state::steady(&self.chain(), tolerance, most, skewed, limit));
        if s.late {
            return Err(PyTimeoutError::new_err(format!("{} cycles", s.cycles)));
        }
        Ok((s.p.into_pyarray(py), s.residual, s.cycles))
    }

    /// Rates into each state: start, from, rate, and the rate at which each is left.
    fn generator<'py>(&self, py: Python<'py>) -> Sparse<'py> {
        let chain = self.chain();
        let start: Vec<i64> = chain.start.iter().map(|&s| s as i64).collect();
        let from: Vec<i32> = chain.from.iter().map(|&s| s as i32).collect();
        (
            start.into_pyarray(py),
            from.into_pyarray(py),
            chain.rate.into_pyarray(py),
            chain.out.into_pyarray(py),
        )
    }

    /// What a distribution over the states means, by name.
    fn measure<'py>(&self, py: Python<'py>, p: PyReadonlyArray1<'py, f64>) -> PyResult<Measures<'py>> {
        let p = p.as_slice()?;
        if p.len() != self.explored.keys.len() {
            return Err(PyValueError::new_err("one probability for each state"));
        }
        let mut told =
            py.detach(|| measure(&self.spec, &self.explored.keys, &[p], &[Clocks::of(&self.spec).rates]));
        self.named(py, told.swap_remove(0))
    }

    /// (measures, residual, cycles) of each point: service as often as fast as `speeds` say, points × (node · classes + class).
    /// As `steady` and `measure`, the states read once for all.
    #[pyo3(signature = (speeds, tolerance, most, skewed = false, limit_s = f64::INFINITY))]
    fn points<'py>(
        &self,
        py: Python<'py>,
        speeds: PyReadonlyArray2<'py, f64>,
        tolerance: f64,
        most: usize,
        skewed: bool,
        limit_s: f64,
    ) -> PyResult<Vec<(Measures<'py>, f64, usize)>> {
        let limits = SteadyLimits { tolerance, most, skewed, limit: duration(limit_s) };
        let width = self.spec.stations.len() * self.spec.classes;
        if speeds.as_array().ncols() != width {
            return Err(PyValueError::new_err(format!("{width} speeds for each point")));
        }
        let speeds = speeds.as_slice()?;
        let found = py.detach(|| solve_points(&self.spec, &self.explored, speeds, limits));
        if let Some(late) = found.iter().find(|point| point.late) {
            return Err(PyTimeoutError::new_err(format!("{} cycles", late.cycles)));
        }
        found.into_iter().map(|s| Ok((self.named(py, s.measures)?, s.residual, s.cycles))).collect()
    }
}

impl NetworkChain {
    fn chain(&self) -> SparseGenerator {
        self.explored.pattern.generator(&Clocks::of(&self.spec).rates)
    }

    fn named<'py>(&self, py: Python<'py>, m: MeanMeasures) -> PyResult<Measures<'py>> {
        let (at, c) = (StateLayout::new(&self.spec), self.spec.classes);
        let (k, limits) = (self.spec.stations.len(), self.spec.limits.len());
        let found = PyDict::new(py);
        for (name, from, len) in [
            ("done", at.done(0, 0), k * c),
            ("lost", at.lost(0, 0), k * c),
            ("exit", at.exit(0), c),
            ("cut", at.cut(0), c),
            ("limit_tried", at.limit(0, 0, 0), limits * c),
            ("limit_waited", at.limit(1, 0, 0), limits * c),
            ("limit_lost", at.limit(2, 0, 0), limits * c),
        ] {
            found.set_item(name, m.marks[from..from + len].to_vec().into_pyarray(py))?;
        }
        for (name, values) in [
            ("present", m.present),
            ("square", m.square),
            ("busy", m.busy),
            ("line", m.line),
            ("blocked", m.blocked),
            ("open", m.open),
            ("held", m.held),
            ("waiting", m.waiting),
        ] {
            found.set_item(name, values.into_pyarray(py))?;
        }
        let numbers: Vec<_> = m.numbers.into_iter().map(|n| n.into_pyarray(py)).collect();
        found.set_item("numbers", numbers)?;
        Ok(found)
    }
}

/// The chain of a CSR matrix of rates, row i from state i; the diagonal is passed over.
fn chain(start: &[i64], to: &[i32], rate: &[f64]) -> SparseGenerator {
    let (mut starts, mut kept, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    for (i, span) in start.windows(2).enumerate() {
        starts.push(kept.len());
        for e in span[0] as usize..span[1] as usize {
            if to[e] as usize != i && rate[e] != 0.0 {
                kept.push(to[e] as u32);
                rates.push(rate[e]);
            }
        }
    }
    SparseGenerator::from_rows(starts, kept, rates)
}

/// Stationary distribution of a generator in CSR form: (p, residual, cycles).
#[pyfunction]
fn chain_steady<'py>(
    py: Python<'py>,
    start: PyReadonlyArray1<'py, i64>,
    to: PyReadonlyArray1<'py, i32>,
    rate: PyReadonlyArray1<'py, f64>,
    tolerance: f64,
    most: usize,
) -> PyResult<(Vector<'py>, f64, usize)> {
    let (start, to, rate) = (start.as_slice()?, to.as_slice()?, rate.as_slice()?);
    let s =
        py.detach(|| steady_state::steady(&chain(start, to, rate), tolerance, most, false, Duration::MAX));
    Ok((s.p.into_pyarray(py), s.residual, s.cycles))
}

/// The distribution at each of `times_s` (ascending), one after another, from `p` at 0.
#[pyfunction]
fn chain_transient<'py>(
    py: Python<'py>,
    start: PyReadonlyArray1<'py, i64>,
    to: PyReadonlyArray1<'py, i32>,
    rate: PyReadonlyArray1<'py, f64>,
    p: PyReadonlyArray1<'py, f64>,
    times_s: PyReadonlyArray1<'py, f64>,
    tolerance: f64,
) -> PyResult<Vector<'py>> {
    let (start, to, rate) = (start.as_slice()?, to.as_slice()?, rate.as_slice()?);
    let (p, times) = (p.as_slice()?, times_s.as_slice()?);
    let all = py.detach(|| transient::transient(&chain(start, to, rate), p, times, tolerance));
    Ok(all.into_pyarray(py))
}
