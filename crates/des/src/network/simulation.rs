//! A simulation: made from a config, run in pieces, asked for its counts.

use super::batches::Batches;
use super::check::{check, InvalidConfig};
use super::config::{Config, Engine};
use super::event_engine::EventEngine;
use super::log::Pass;
use super::recursion::{self, Recursion};
use super::statistics::Statistics;
use std::time::{Duration, Instant};

/// Between two looks at the wall clock.
const EVENTS: u64 = 1 << 14;

/// Rows of equal length: `rows` has for each row the columns [`super::COLUMNS`] of each cell.
#[derive(Debug, Clone, Copy)]
pub struct Counts<'a> {
    pub length_s: f64,
    pub width: usize,
    pub rows: &'a [f64],
}

/// One of the two engines.
#[derive(Debug, Clone)]
enum Runner {
    Events(Box<EventEngine>),
    Recursion(Box<Recursion>),
}

#[derive(Debug, Clone)]
pub struct Simulation {
    pub config: Config,
    engine: Runner,
    ended: bool,
}

impl Simulation {
    pub fn from_json(text: &str) -> Result<Simulation, InvalidConfig> {
        let wrong = |e: serde_json::Error| InvalidConfig {
            value: e.to_string(),
            place: "simulation".to_string(),
            remedy: "see the schema in crates/des/src/network/config.rs".to_string(),
        };
        Simulation::new(serde_json::from_str(text).map_err(wrong)?)
    }

    pub fn new(config: Config) -> Result<Simulation, InvalidConfig> {
        check(&config)?;
        let engine = match recursion::order(&config) {
            Some(order) => Runner::Recursion(Box::new(Recursion::new(&config, order))),
            None if config.engine == Engine::Recursion => return Err(not_forward()),
            None => Runner::Events(Box::new(EventEngine::new(&config))),
        };
        Ok(Simulation { config, engine, ended: false })
    }

    /// Goes on until simulated time `until_s`, `completions` passes in all, or `seconds` of wall time, whichever is
    /// first; the recursion looks at passes after each window of about 500 arrivals. With none of them it goes on until nothing happens any more.
    pub fn run(&mut self, until_s: Option<f64>, completions: Option<u64>, seconds: Option<f64>) {
        let until_s = until_s.unwrap_or(f64::INFINITY);
        let completions = completions.unwrap_or(u64::MAX);
        let limit = seconds.map(|s| Duration::from_secs_f64(s.clamp(0.0, 1e9)));
        let started = Instant::now();
        while !self.ended && self.completions() < completions && self.now_s() < until_s {
            self.ended = !match &mut self.engine {
                Runner::Events(engine) => engine.run(until_s, completions, EVENTS),
                Runner::Recursion(engine) => engine.run(until_s, completions, EVENTS),
            };
            if limit.is_some_and(|l| started.elapsed() >= l) {
                return;
            }
        }
    }

    pub fn now_s(&self) -> f64 {
        match &self.engine {
            Runner::Events(engine) => engine.world.now_s,
            Runner::Recursion(engine) => engine.now_s,
        }
    }

    /// Passes completed.
    pub fn completions(&self) -> u64 {
        match &self.engine {
            Runner::Events(engine) => engine.completions,
            Runner::Recursion(engine) => engine.completions,
        }
    }

    /// Events; of the recursion, arrivals from outside and completions.
    pub fn events(&self) -> u64 {
        match &self.engine {
            Runner::Events(engine) => engine.events,
            Runner::Recursion(engine) => engine.events,
        }
    }

    /// Nothing will ever happen again: a trace is over, or all are blocked.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Customers that exist now, those who think too.
    pub fn customers(&self) -> usize {
        match &self.engine {
            Runner::Events(engine) => engine.world.customers.count(),
            Runner::Recursion(engine) => engine.customers(),
        }
    }

    /// Which engine runs.
    pub fn engine(&self) -> &'static str {
        match &self.engine {
            Runner::Events(_) => "events",
            Runner::Recursion(_) => "recursion",
        }
    }

    fn statistics(&self) -> &Statistics {
        match &self.engine {
            Runner::Events(engine) => &engine.world.statistics,
            Runner::Recursion(engine) => &engine.statistics,
        }
    }

    /// Passes that ended, one by one, if they were asked for.
    pub fn passes(&self) -> &[Pass] {
        &self.statistics().log.rows
    }

    /// The time-batches that have ended.
    pub fn batches(&self) -> Counts<'_> {
        counts(&self.statistics().batches)
    }

    /// Rows of `period_s`.
    pub fn series(&self) -> Option<Counts<'_>> {
        self.statistics().series.as_ref().map(counts)
    }

    /// Of a key of the config: bin edges (s), counts (a row a group), length of a group (s).
    pub fn histogram(&self, key: &str) -> Option<(Vec<f64>, Vec<Vec<u64>>, f64)> {
        let index = self.config.histograms.iter().position(|h| h == key)?;
        Some(self.statistics().histogram(index))
    }
}

fn not_forward() -> InvalidConfig {
    InvalidConfig {
        value: "recursion".to_string(),
        place: "engine".to_string(),
        remedy:
            "the recursion does open classes at fcfs queues and delays that lead only forward; use events"
                .to_string(),
    }
}

fn counts(batches: &Batches) -> Counts<'_> {
    Counts { length_s: batches.length_s, width: batches.width, rows: &batches.rows }
}
