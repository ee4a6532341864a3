//! Models as JSON, and means with standard errors from time-batches.
#![allow(dead_code)]

use serde_json::{json, Value};
use sojourn_des::network::{Simulation, COLUMNS, WIDTH};

pub fn exponential(mean: f64) -> Value {
    json!({"kind": "exponential", "mean": mean})
}

/// Mean 1, squared coefficient of variation 4, balanced means.
pub fn variable() -> Value {
    let p = (1.0 + (3.0f64 / 5.0).sqrt()) / 2.0;
    let means = [0.5 / p, 0.5 / (1.0 - p)];
    json!({"kind": "hyperexponential", "probabilities": [p, 1.0 - p], "means": means})
}

/// Open classes "a", "b", … in a row through all stations; `service[k][c]`.
pub fn open(stations: &[Value], rates: &[f64], service: Value) -> Value {
    let names = ["a", "b", "c"];
    let class = |(c, rate): (usize, &f64)| json!({"name": names[c], "arrivals": exponential(1.0 / rate), "priority": c});
    let classes: Vec<Value> = rates.iter().enumerate().map(class).collect();
    json!({"seed": 7, "stations": stations, "classes": classes, "service": service,
           "routes": series(stations.len(), rates.len()), "batch_s": 10.0, "batches": 64, "engine": "events"})
}

/// One closed class in a row through all stations.
pub fn closed(stations: &[Value], population: u32, think: Option<Value>, service: Value) -> Value {
    json!({"seed": 7, "stations": stations, "classes": [{"name": "a", "population": population, "think": think}],
           "service": service, "routes": series(stations.len(), 1), "batch_s": 10.0, "batches": 64})
}

fn series(k: usize, classes: usize) -> Value {
    let row = |c: usize, from: usize| json!({"node": from, "class": c, "to": [[if from == k {0} else {from + 1}, c, 1.0]]});
    (0..classes).flat_map(|c| (0..=k).map(move |from| row(c, from))).collect()
}

pub fn queue(name: &str, extra: Value) -> Value {
    let mut station = json!({"name": name, "kind": "queue"});
    let object = station.as_object_mut().unwrap();
    object.extend(extra.as_object().unwrap().clone());
    station
}

pub fn with(mut config: Value, key: &str, value: Value) -> Value {
    config[key] = value;
    config
}

pub fn make(config: &Value) -> Simulation {
    Simulation::from_json(&config.to_string()).unwrap()
}

/// Runs `passes` and a bit of warm-up, which is cut.
pub fn run(config: &Value, passes: u64) -> Outcome {
    let mut simulation = make(config);
    simulation.run(None, Some(passes), None);
    Outcome::new(&simulation)
}

/// The batches of a run without the first tenth.
pub struct Outcome {
    rows: Vec<Vec<f64>>,
    length_s: f64,
    classes: usize,
}

impl Outcome {
    pub fn new(simulation: &Simulation) -> Outcome {
        let counts = simulation.batches();
        let all: Vec<Vec<f64>> = counts.rows.chunks_exact(counts.width).map(<[f64]>::to_vec).collect();
        let cut = all.len() / 10;
        Outcome {
            rows: all[cut..].to_vec(),
            length_s: counts.length_s,
            classes: simulation.config.classes.len(),
        }
    }

    fn column(&self, node: usize, class: usize, name: &str) -> Vec<f64> {
        let column = COLUMNS.iter().position(|c| *c == name).unwrap();
        let index = (node * self.classes + class) * WIDTH + column;
        self.rows.iter().map(|r| r[index]).collect()
    }

    pub fn total(&self, node: usize, class: usize, name: &str) -> f64 {
        self.column(node, class, name).iter().sum()
    }

    /// Sum of one column over that of another, and its standard error (jackknife-like, from groups of batches).
    pub fn ratio(&self, node: usize, class: usize, above: &str, below: &str) -> (f64, f64) {
        let ones = vec![self.length_s; self.rows.len()];
        let (a, b) = (
            self.column(node, class, above),
            if below == "time" { ones } else { self.column(node, class, below) },
        );
        ratio(&a, &b)
    }

    pub fn response(&self, node: usize, class: usize) -> (f64, f64) {
        self.ratio(node, class, "response_s", "completions")
    }

    pub fn waiting(&self, node: usize, class: usize) -> (f64, f64) {
        self.ratio(node, class, "waiting_s", "completions")
    }

    pub fn throughput(&self, node: usize, class: usize) -> (f64, f64) {
        self.ratio(node, class, "completions", "time")
    }
}

fn ratio(a: &[f64], b: &[f64]) -> (f64, f64) {
    let groups = 20;
    let size = a.len() / groups;
    assert!(size > 0, "{} batches are too few", a.len());
    let sums = |x: &[f64]| x.chunks_exact(size).map(|c| c.iter().sum::<f64>()).collect::<Vec<f64>>();
    let (a, b) = (sums(a), sums(b));
    let mean = a.iter().sum::<f64>() / b.iter().sum::<f64>();
    let per_group = b.iter().sum::<f64>() / b.len() as f64;
    let spread: f64 = a.iter().zip(&b).map(|(a, b)| (a - mean * b).powi(2)).sum();
    let n = a.len() as f64;
    (mean, (spread / (n * (n - 1.0))).sqrt() / per_group)
}

/// Within four standard errors, and these not so large that anything would pass.
#[track_caller]
pub fn near((mean, error): (f64, f64), truth: f64) {
    assert!((mean - truth).abs() <= 4.0 * error + 1e-12 * truth, "{mean} ± {error}, expected {truth}");
    assert!(error <= 0.1 * truth, "{mean} ± {error} says nothing about {truth}");
}
