//! A queueing network as the chain sees it: stations with phases, routes, sources, limits. Node `stations.len() - 1` is
//! outside: where closed customers think, and where open ones come from and go.

/// Who is served at a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceRule {
    /// Everybody, at full speed.
    Delay,
    /// Everybody, an equal share of the station's speed.
    Shared,
    /// In order of arrival (within a level of priority); who is in service stays there.
    Ordered,
    /// Whoever waits is next with equal probability.
    Random,
    /// The last to come; who is interrupted goes on later where it stopped.
    Last,
    /// The highest priority, first come first; who is interrupted goes on later where it stopped.
    Preemptive,
    /// A task of each job in each of `servers` lines; the job leaves with its last task.
    ForkJoin,
}

/// One phase of the service of one class at one station.
#[derive(Clone, Debug)]
pub struct ServicePhase {
    pub class: usize,
    /// Probability that service starts here.
    pub start: f64,
    /// Rate at which service ends from here, 1/s.
    pub done: f64,
    /// Rates to other phases of the same station, 1/s.
    pub moves: Vec<(usize, f64)>,
}

#[derive(Clone, Debug)]
pub struct Station {
    pub rule: ServiceRule,
    pub servers: usize,
    /// Speed of the whole station with 1, 2, … present, the last repeats; empty: each server works at speed 1.
    pub speed: Vec<f64>,
    /// Most that can be present.
    pub capacity: usize,
    /// Whoever finds it full stays at the server it comes from; otherwise it is lost.
    pub block: bool,
    /// Whether classes are served by priority.
    pub levels: bool,
    pub phases: Vec<ServicePhase>,
}

impl Station {
    /// Numbers that the station keeps in the fixed part of a state.
    pub fn slots(&self) -> usize {
        if self.rule == ServiceRule::ForkJoin {
            self.servers
        } else {
            self.phases.len()
        }
    }

    /// Speed of each server, or of each job where all are served, with `n` present.
    pub fn scale(&self, n: usize) -> f64 {
        let whole = |n: usize| self.speed[n.min(self.speed.len()) - 1];
        match self.rule {
            _ if n == 0 || self.speed.is_empty() => 1.0,
            ServiceRule::Delay | ServiceRule::Shared => whole(n) / n as f64,
            _ => whole(n),
        }
    }
}

/// Where a customer may go next. `ended`: the pass ended on the way there, as this class, without thinking.
#[derive(Clone, Copy, Debug)]
pub struct RouteTarget {
    pub node: usize,
    pub class: usize,
    pub p: f64,
    pub ended: Option<usize>,
}

/// Markovian arrivals of one class: rates by phase, without and with an arrival.
#[derive(Clone, Debug)]
pub struct ArrivalSource {
    pub class: usize,
    pub silent: Vec<Vec<(usize, f64)>>,
    pub arriving: Vec<Vec<(usize, f64)>>,
}

/// At most `size` inside the nodes marked; the others wait in order, or are lost.
#[derive(Clone, Debug)]
pub struct PopulationLimit {
    pub size: usize,
    pub inside: Vec<bool>,
    pub lose: bool,
}

#[derive(Clone, Debug)]
pub struct NetworkSpec {
    /// The last is outside.
    pub stations: Vec<Station>,
    pub classes: usize,
    /// By class, 0 is highest.
    pub priority: Vec<u16>,
    /// By class: customers there are, 0 for an open class.
    pub population: Vec<usize>,
    pub open: Vec<bool>,
    /// By node · classes + class.
    pub routes: Vec<Vec<RouteTarget>>,
    /// By node · classes + class: among the targets, the one with the fewest present.
    pub shortest: Vec<bool>,
    pub sources: Vec<ArrivalSource>,
    pub limits: Vec<PopulationLimit>,
    /// Open customers there may be at once; beyond it arrivals are cut off.
    pub most_open: usize,
}

impl NetworkSpec {
    pub fn outside(&self) -> usize {
        self.stations.len() - 1
    }
}
