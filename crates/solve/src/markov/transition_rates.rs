//! At which rates things happen. A clock is a rate that the network gives: of a phase's end, of a move to another phase, of an
//! arrival. A transition happens at a multiple of one clock's rate, and which transitions there are depends on no rate:
//! networks that differ in rates alone have the same states.

use std::ops::Mul;

use super::network_spec::NetworkSpec;

/// `times` the rate of `clock`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransitionRate {
    pub clock: usize,
    pub times: f64,
}

impl Mul<f64> for TransitionRate {
    type Output = Self;

    fn mul(self, by: f64) -> Self {
        Self { times: self.times * by, ..self }
    }
}

/// The numbers of clocks, and their rates.
#[derive(Clone, Debug)]
pub struct Clocks {
    /// By station and phase: the phase's end; its moves follow.
    phases: Vec<Vec<usize>>,
    /// By source and phase: the first change without an arrival; the others follow, and then those with one.
    sources: Vec<Vec<usize>>,
    /// 1/s.
    pub rates: Vec<f64>,
    /// Whose speed a clock follows: node · classes + class; none of an arrival.
    whose: Vec<Option<usize>>,
}

impl Clocks {
    pub fn of(spec: &NetworkSpec) -> Self {
        let mut clocks = Self { phases: vec![], sources: vec![], rates: vec![], whose: vec![] };
        for (k, station) in spec.stations.iter().enumerate() {
            let mut first = Vec::new();
            for phase in &station.phases {
                first.push(clocks.rates.len());
                let moves = phase.moves.iter().map(|&(_, rate)| rate);
                clocks.add(std::iter::once(phase.done).chain(moves), Some(k * spec.classes + phase.class));
            }
            clocks.phases.push(first);
        }
        for source in &spec.sources {
            let mut first = Vec::new();
            for (silent, arriving) in source.silent.iter().zip(&source.arriving) {
                first.push(clocks.rates.len());
                clocks.add(silent.iter().chain(arriving).map(|&(_, rate)| rate), None);
            }
            clocks.sources.push(first);
        }
        clocks
    }

    fn add(&mut self, rates: impl Iterator<Item = f64>, whose: Option<usize>) {
        self.rates.extend(rates);
        self.whose.resize(self.rates.len(), whose);
    }

    /// Phase `t` at station `k` ends.
    pub fn done(&self, k: usize, t: usize) -> usize {
        self.phases[k][t]
    }

    /// Phase `t` at station `k` moves on, by the `n`th of its moves.
    pub fn moved(&self, k: usize, t: usize, n: usize) -> usize {
        self.phases[k][t] + 1 + n
    }

    /// Source `i` in `phase` changes, by the `n`th of its changes, those without an arrival first.
    pub fn changed(&self, i: usize, phase: usize, n: usize) -> usize {
        self.sources[i][phase] + n
    }

    /// The rates where service is so many times as fast, by node · classes + class.
    pub fn at_speeds(&self, speeds: &[f64]) -> Vec<f64> {
        self.rates
            .iter()
            .zip(&self.whose)
            .map(|(&rate, whose)| whose.map_or(rate, |at| rate * speeds[at]))
            .collect()
    }
}
