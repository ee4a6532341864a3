//! Limits on how many are inside some stations together, and customers on their way.

use super::config::{Config, LimitPolicy};
use std::collections::VecDeque;

/// Something was freed.
#[derive(Debug, Clone, Copy)]
pub enum FreedCapacity {
    /// At a station.
    Room(usize),
    /// Of a limit.
    Place(usize),
}

/// A customer on its way: where it comes from, whether it still has a seat there, where it goes, and as which class.
#[derive(Debug, Clone, Copy)]
pub struct Transition {
    pub id: u32,
    pub from: usize,
    pub seated: bool,
    pub node: usize,
    pub class: usize,
}

/// A limit, who is inside, and who waits for it.
#[derive(Debug, Clone)]
pub struct Limit {
    pub size: u32,
    pub lose: bool,
    pub inside: u32,
    pub line: VecDeque<Transition>,
    pub stations: Vec<bool>,
}

impl Limit {
    pub fn all(config: &Config) -> Vec<Limit> {
        let limit = |l: &super::config::Limit| Limit {
            size: l.size,
            lose: l.on_full == LimitPolicy::Lose,
            inside: 0,
            line: VecDeque::new(),
            stations: (0..=config.stations.len()).map(|k| l.stations.contains(&k)).collect(),
        };
        config.limits.iter().map(limit).collect()
    }
}
