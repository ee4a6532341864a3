//! What all stations share: the clock, the calendar, the customers, and what is counted.

use super::calendar::{self, Calendar, Priority};
use super::config::Config;
use super::customer::Customers;
use super::statistics::Statistics;

#[derive(Debug, Clone)]
pub struct World {
    pub now_s: f64,
    /// Time since the segment began, s.
    pub since: f64,
    sequence: u64,
    pub calendar: Calendar,
    pub customers: Customers,
    pub statistics: Statistics,
    pub classes: usize,
    /// Of each class, 0 the highest.
    pub priority: Vec<u32>,
}

impl World {
    /// At time 0, with nobody in it and as many sources of events.
    pub fn new(config: &Config, sources: usize) -> World {
        World {
            now_s: 0.0,
            since: 0.0,
            sequence: 0,
            calendar: Calendar::new(sources),
            customers: Customers::default(),
            statistics: Statistics::new(config, false),
            classes: config.classes.len(),
            priority: config.classes.iter().map(|c| c.priority).collect(),
        }
    }

    #[inline(always)]
    pub fn sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// The key of an event of `source`.
    #[inline(always)]
    pub fn event(&mut self, time_s: f64, priority: Priority, source: usize) -> u128 {
        let sequence = self.sequence();
        calendar::key(time_s, calendar::tie(priority, sequence, source))
    }
}
