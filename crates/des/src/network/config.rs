//! What a simulation is told, as JSON: the schema, which `sojourn.simulate` writes from a `Network`.
//!
//! Nodes are stations 0 … K-1 and K, outside: where open classes come from and go to, and closed ones think.

use serde::{Deserialize, Serialize};
use sojourn_dist::{ArrivalProcess, Distribution, Stream};

/// A whole simulation. `service` is K×C (a row a station, a column a class).
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub seed: u64,
    /// Part of every stream's name: replications of one seed are independent.
    #[serde(default)]
    pub replication: u64,
    pub stations: Vec<Station>,
    pub classes: Vec<Class>,
    pub service: Vec<Vec<Option<Distribution>>>,
    pub routes: Vec<Row>,
    #[serde(default)]
    pub limits: Vec<Limit>,
    /// Length of the first time-batches, s; doubled whenever there are more than twice `batches`.
    pub batch_s: f64,
    #[serde(default = "default_batches")]
    pub batches: usize,
    /// "station/class", "/class" (whole passes), "station/" or "/" (all classes together).
    #[serde(default)]
    pub histograms: Vec<String>,
    /// Length of the rows of the time series, s; none without.
    #[serde(default)]
    pub period_s: Option<f64>,
    /// Most passes that are logged one by one; only by the event engine.
    #[serde(default)]
    pub requests: usize,
    #[serde(default)]
    pub engine: Engine,
}

impl Config {
    /// The stream of one source: its name says what it is for, at which station and class, and which replication.
    pub fn stream(&self, what: &str, station: &str, class: &str) -> Stream {
        Stream::new(self.seed, &format!("{what}/{station}/{class}/{}", self.replication))
    }
}

/// Which engine runs: by itself the recursion where it can, or the one named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    #[default]
    Auto,
    Events,
    Recursion,
}

fn default_batches() -> usize {
    1024
}

fn one() -> u32 {
    1
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Station {
    pub name: String,
    pub kind: Kind,
    #[serde(default = "one")]
    pub servers: u32,
    #[serde(default)]
    pub discipline: Discipline,
    /// Most customers present, those in service too.
    #[serde(default)]
    pub capacity: Option<u32>,
    #[serde(default)]
    pub on_full: OnFull,
    /// Load-dependent: completions 1/s with 1, 2, … present, the last for more.
    #[serde(default)]
    pub rates: Vec<f64>,
    /// Fork-join: tasks of a visit.
    #[serde(default)]
    pub branches: u32,
    /// `[at_s, servers]`, ascending; repeated every `period_s`. Who is in service when a server goes is finished.
    #[serde(default)]
    pub schedule: Vec<(f64, u32)>,
    #[serde(default)]
    pub period_s: Option<f64>,
    #[serde(default)]
    pub breakdowns: Option<Breakdowns>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Queue,
    Delay,
    LoadDependent,
    ForkJoin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Discipline {
    #[default]
    Fcfs,
    Ps,
    LcfsPr,
    Siro,
    Priority,
    PriorityPreemptive,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFull {
    #[default]
    Lose,
    /// Stays where it was served, and holds that server (blocking after service).
    Block,
}

/// Each server is up for a time, idle or not, then down; its job goes on at the first free server.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Breakdowns {
    pub up: Distribution,
    pub down: Distribution,
}

/// `population` customers that think, or an open class with `arrivals`; a class may have neither (switched into).
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    pub name: String,
    #[serde(default)]
    pub population: Option<u32>,
    #[serde(default)]
    pub think: Option<Distribution>,
    #[serde(default)]
    pub arrivals: Option<ArrivalProcess>,
    /// 0 is highest.
    #[serde(default)]
    pub priority: u32,
}

/// Where customers of `class` go from `node`: `to` with probabilities, or by the state.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub node: usize,
    pub class: usize,
    /// `[node, class, probability]`; they add up to 1.
    #[serde(default)]
    pub to: Vec<(usize, usize, f64)>,
    #[serde(default)]
    pub choice: Option<Choice>,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    pub policy: Policy,
    pub to: Vec<usize>,
    /// How many `power` looks at.
    #[serde(default = "two")]
    pub d: usize,
}

fn two() -> usize {
    2
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    RoundRobin,
    /// The fewest present, ties at random.
    Jsq,
    Random,
    /// The fewest present of `d` drawn without repetition.
    Power,
}

/// At most `size` inside `stations` together.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    pub name: String,
    pub size: u32,
    pub stations: Vec<usize>,
    #[serde(default)]
    pub on_full: LimitPolicy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitPolicy {
    #[default]
    Wait,
    Lose,
}
