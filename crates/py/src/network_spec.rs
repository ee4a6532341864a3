//! The network of a Markov chain, as Python gives it.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_solve::markov::network_spec;

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
pub struct Spec {
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
    pub fn native(self) -> PyResult<network_spec::NetworkSpec> {
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
