//! Kernels of Markov chains.

use std::time::Duration;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use sojourn_solve::markov::mean_measures::measure;
use sojourn_solve::markov::network_spec;
use sojourn_solve::markov::network_state::StateLayout;
use sojourn_solve::markov::sparse_generator::SparseGenerator;
use sojourn_solve::markov::state_space::{explore, NoChain, StateSpace};
use sojourn_solve::markov::{steady_state, transient};

/// Adds this file's functions to the native module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<NetworkChain>()?;
    module.add_function(wrap_pyfunction!(chain_steady, module)?)?;
    module.add_function(wrap_pyfunction!(chain_transient, module)?)
}

#[derive(FromPyObject)]
struct Phase {
    cls: usize,
    start: f64,
    done: f64,
    moves: Vec<(usize, f64)>,
}

#[derive(FromPyObject)]
struct Station {
    rule: String,
    servers: usize,
    speed: Vec<f64>,
    capacity: usize,
    block: bool,
    levels: bool,
    phases: Vec<Phase>,
}

#[derive(FromPyObject)]
struct Source {
    cls: usize,
    silent: Vec<Vec<(usize, f64)>>,
    arriving: Vec<Vec<(usize, f64)>>,
}

#[derive(FromPyObject)]
struct Limit {
    size: usize,
    inside: Vec<bool>,
    lose: bool,
}

/// Node, class, probability, and the class as which a pass ended on the way.
type Target = (usize, usize, f64, Option<usize>);

/// The fields of `sojourn.solve.markov.network_spec.NetworkSpec`.
#[derive(FromPyObject)]
struct Spec {
    stations: Vec<Station>,
    priority: Vec<u16>,
    population: Vec<usize>,
    open: Vec<bool>,
    routes: Vec<Vec<Target>>,
    shortest: Vec<bool>,
    sources: Vec<Source>,
    limits: Vec<Limit>,
    most_open: usize,
}

fn rule(name: &str) -> PyResult<network_spec::ServiceRule> {
    Ok(match name {
        "delay" => network_spec::ServiceRule::Delay,
        "shared" => network_spec::ServiceRule::Shared,
        "ordered" => network_spec::ServiceRule::Ordered,
        "random" => network_spec::ServiceRule::Random,
        "last" => network_spec::ServiceRule::Last,
        "preemptive" => network_spec::ServiceRule::Preemptive,
        "fork_join" => network_spec::ServiceRule::ForkJoin,
        other => return Err(PyValueError::new_err(format!("rule {other}"))),
    })
}

impl Station {
    fn native(self) -> PyResult<network_spec::Station> {
        let phase = |p: Phase| network_spec::ServicePhase {
            class: p.cls,
            start: p.start,
            done: p.done,
            moves: p.moves,
        };
        Ok(network_spec::Station {
            rule: rule(&self.rule)?,
            servers: self.servers,
            speed: self.speed,
            capacity: self.capacity,
            block: self.block,
            levels: self.levels,
            phases: self.phases.into_iter().map(phase).collect(),
        })
    }
}

impl Spec {
    fn native(self) -> PyResult<network_spec::NetworkSpec> {
        let target = |(node, class, p, ended): Target| network_spec::RouteTarget { node, class, p, ended };
        let source =
            |s: Source| network_spec::ArrivalSource { class: s.cls, silent: s.silent, arriving: s.arriving };
        let limit = |l: Limit| network_spec::PopulationLimit { size: l.size, inside: l.inside, lose: l.lose };
        Ok(network_spec::NetworkSpec {
            stations: self.stations.into_iter().map(Station::native).collect::<PyResult<_>>()?,
            classes: self.open.len(),
            priority: self.priority,
            population: self.population,
            open: self.open,
            routes: self.routes.into_iter().map(|r| r.into_iter().map(target).collect()).collect(),
            shortest: self.shortest,
            sources: self.sources.into_iter().map(source).collect(),
            limits: self.limits.into_iter().map(limit).collect(),
            most_open: self.most_open,
        })
    }
}

type Vector<'py> = Bound<'py, PyArray1<f64>>;
type Sparse<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>, Vector<'py>, Vector<'py>);

/// The states of a network and their generator.
#[pyclass(frozen)]
struct NetworkChain {
    spec: network_spec::NetworkSpec,
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
        let limit = Duration::try_from_secs_f64(limit_s.max(0.0)).unwrap_or(Duration::MAX);
        let s = py.detach(|| steady_state::steady(&self.explored.chain, tolerance, most, skewed, limit));
        if s.late {
            return Err(PyTimeoutError::new_err(format!("{} cycles", s.cycles)));
        }
        Ok((s.p.into_pyarray(py), s.residual, s.cycles))
    }

    /// Rates into each state: start, from, rate, and the rate at which each is left.
    fn generator<'py>(&self, py: Python<'py>) -> Sparse<'py> {
        let chain = &self.explored.chain;
        let start: Vec<i64> = chain.start.iter().map(|&s| s as i64).collect();
        let from: Vec<i32> = chain.from.iter().map(|&s| s as i32).collect();
        let (rate, out) = (chain.rate.clone(), chain.out.clone());
        (start.into_pyarray(py), from.into_pyarray(py), rate.into_pyarray(py), out.into_pyarray(py))
    }

    /// What a distribution over the states means, by name.
    fn measure<'py>(
        &self,
        py: Python<'py>,
        p: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
        let p = p.as_slice()?;
        if p.len() != self.explored.keys.len() {
            return Err(PyValueError::new_err("one probability for each state"));
        }
        let m = py.detach(|| measure(&self.spec, &self.explored, p));
        let (at, c) = (StateLayout::new(&self.spec), self.spec.classes);
        let (k, limits) = (self.spec.stations.len(), self.spec.limits.len());
        let found = pyo3::types::PyDict::new(py);
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
