//! The generator of a network whose rates are open: which states lead where, by which clocks.

use std::collections::HashMap;

use super::sparse_generator::{transposed, SparseGenerator};
use super::transition_rates::TransitionRate;

/// As `SparseGenerator`, with the number of a sum of clocks in place of each rate.
pub struct GeneratorPattern {
    start: Vec<usize>,
    from: Vec<u32>,
    sum: Vec<u32>,
    sums: Vec<Vec<TransitionRate>>,
}

impl GeneratorPattern {
    /// The generator where clocks have these rates, 1/s.
    pub fn generator(&self, rates: &[f64]) -> SparseGenerator {
        let value = |sum: &Vec<TransitionRate>| sum.iter().map(|t| t.times * rates[t.clock]).sum();
        let values: Vec<f64> = self.sums.iter().map(value).collect();
        let rate: Vec<f64> = self.sum.iter().map(|&s| values[s as usize]).collect();
        let mut out = vec![0.0; self.start.len() - 1];
        self.from.iter().zip(&rate).for_each(|(&i, &r)| out[i as usize] += r);
        SparseGenerator { start: self.start.clone(), from: self.from.clone(), rate, out }
    }
}

/// Rows of a pattern while they are made.
#[derive(Default)]
pub struct PatternRows {
    row: Vec<(u32, TransitionRate)>,
    start: Vec<usize>,
    to: Vec<u32>,
    sum: Vec<u32>,
    sums: Vec<Vec<TransitionRate>>,
    numbers: HashMap<Vec<(usize, u64)>, u32>,
}

impl PatternRows {
    pub fn push(&mut self, to: u32, rate: TransitionRate) {
        self.row.push((to, rate));
    }

    /// Ends a row, equal targets added up; false where it is empty.
    pub fn close(&mut self) -> bool {
        self.start.push(self.to.len());
        let mut row = std::mem::take(&mut self.row);
        row.sort_unstable_by_key(|&(to, rate)| (to, rate.clock, rate.times.to_bits()));
        for same in row.chunk_by(|a, b| a.0 == b.0) {
            self.to.push(same[0].0);
            let name = same.iter().map(|(_, rate)| (rate.clock, rate.times.to_bits())).collect();
            let sums = &mut self.sums;
            let number = self.numbers.entry(name).or_insert_with(|| {
                sums.push(same.iter().map(|&(_, rate)| rate).collect());
                (sums.len() - 1) as u32
            });
            self.sum.push(*number);
        }
        let some = !row.is_empty();
        row.clear();
        self.row = row;
        some
    }

    pub fn pattern(self) -> GeneratorPattern {
        let (start, from, sum) = transposed(self.start, &self.to, &self.sum);
        GeneratorPattern { start, from, sum, sums: self.sums }
    }
}
