//! A simulation: made from a config, run in pieces, asked for its counts.

use super::cells::Batches;
use super::check::{check, Refused};
use super::config::Config;
use super::events::Events;
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

#[derive(Debug, Clone)]
pub struct Simulation {
    pub config: Config,
    engine: Box<Events>,
    ended: bool,
}

impl Simulation {
    pub fn from_json(text: &str) -> Result<Simulation, Refused> {
        let wrong = |e: serde_json::Error| Refused {
            value: e.to_string(),
            place: "simulation".to_string(),
            remedy: "see the schema in crates/des/src/network/config.rs".to_string(),
        };
        Simulation::new(serde_json::from_str(text).map_err(wrong)?)
    }

    pub fn new(config: Config) -> Result<Simulation, Refused> {
        check(&config)?;
        let engine = Box::new(Events::new(&config));
        Ok(Simulation { config, engine, ended: false })
    }

    /// Goes on until simulated time `until_s`, `completions` passes in all, or `seconds` of wall time, whichever is
    /// first. With none of them it goes on until nothing happens any more.
    pub fn run(&mut self, until_s: Option<f64>, completions: Option<u64>, seconds: Option<f64>) {
        let until_s = until_s.unwrap_or(f64::INFINITY);
        let completions = completions.unwrap_or(u64::MAX);
        let limit = seconds.map(|s| Duration::from_secs_f64(s.clamp(0.0, 1e9)));
        let started = Instant::now();
        while !self.ended && self.engine.completions < completions && self.engine.now_s < until_s {
            self.ended = !self.engine.run(until_s, completions, EVENTS);
            if limit.is_some_and(|l| started.elapsed() >= l) {
                return;
            }
        }
    }

    pub fn now_s(&self) -> f64 {
        self.engine.now_s
    }

    /// Passes completed.
    pub fn completions(&self) -> u64 {
        self.engine.completions
    }

    pub fn events(&self) -> u64 {
        self.engine.events
    }

    /// Nothing will ever happen again: a trace is over, or all are blocked.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Customers that exist now, those who think too.
    pub fn customers(&self) -> usize {
        self.engine.customers.count()
    }

    pub fn engine(&self) -> &'static str {
        "events"
    }

    fn statistics(&self) -> &Statistics {
        &self.engine.statistics
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

fn counts(batches: &Batches) -> Counts<'_> {
    Counts { length_s: batches.length_s, width: batches.width, rows: &batches.rows }
}
