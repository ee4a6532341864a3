//! The recursion of `multi` for a lattice that is too large to keep, in parallel.
//!
//! States with equal n_a + n_b (two classes) depend on those with one less and on their own tile: all values of the
//! other classes. So tiles on a diagonal are worked on at once, and two diagonals are kept.

use rayon::prelude::*;

use super::lattice::Lattice;
use super::multi::{add, Answer, Demands};

/// Numbers of f64 kept at once by `run` for this many customers a class and stations.
pub fn kept(point: &[usize], stations: usize) -> f64 {
    let mut sorted: Vec<f64> = point.iter().map(|&n| n as f64 + 1.0).collect();
    sorted.sort_by(f64::total_cmp);
    let largest = sorted.pop().unwrap_or(1.0);
    sorted.pop();
    2.0 * largest * sorted.iter().product::<f64>() * stations as f64
}

/// The answer at one point of at least two classes, each with customers.
pub fn run(model: &Demands, point: &[usize]) -> Answer {
    let mut order: Vec<usize> = (0..point.len()).collect();
    order.sort_by_key(|&r| std::cmp::Reverse(point[r]));
    let sweep = Sweep::new(model, point, &order);
    let (mut before, mut now) =
        (vec![0.0; sweep.tile * (sweep.a.1 + 1)], vec![0.0; sweep.tile * (sweep.a.1 + 1)]);
    for diagonal in 0..=sweep.a.1 + sweep.b.1 {
        std::mem::swap(&mut before, &mut now);
        sweep.diagonal(diagonal, &before, &mut now);
    }
    sweep.answer(&before, &now)
}

struct Sweep<'a> {
    model: &'a Demands<'a>,
    a: (usize, usize), // class and its population
    b: (usize, usize),
    others: Vec<usize>, // classes inside a tile
    inner: Lattice,
    tile: usize, // numbers in a tile
}

impl<'a> Sweep<'a> {
    fn new(model: &'a Demands, point: &[usize], order: &[usize]) -> Self {
        let others = order[2..].to_vec();
        let inner = Lattice::new(&others.iter().map(|&r| point[r]).collect::<Vec<_>>());
        let tile = inner.size * model.stations();
        Self { model, a: (order[0], point[order[0]]), b: (order[1], point[order[1]]), others, inner, tile }
    }

    fn diagonal(&self, diagonal: usize, before: &[f64], now: &mut [f64]) {
        let (first, last) = (diagonal.saturating_sub(self.b.1), diagonal.min(self.a.1));
        let least = (20_000 / self.tile).max(1);
        now[first * self.tile..(last + 1) * self.tile]
            .par_chunks_mut(self.tile)
            .with_min_len(least)
            .enumerate()
            .for_each(|(offset, tile)| {
                let i = first + offset;
                self.fill(i, diagonal - i, before, tile);
            });
    }

    fn fill(&self, i: usize, j: usize, before: &[f64], tile: &mut [f64]) {
        let k = self.model.stations();
        let mut residence = vec![0.0; k];
        let mut n = vec![0; self.others.len()];
        for state in 0..self.inner.size {
            let (own, rest) = tile.split_at_mut(state * k);
            let sum = &mut rest[..k];
            sum.fill(0.0);
            if i > 0 {
                add(
                    self.model,
                    self.a.0,
                    i,
                    &before[(i - 1) * self.tile + state * k..][..k],
                    &mut residence,
                    sum,
                );
            }
            if j > 0 {
                add(self.model, self.b.0, j, &before[i * self.tile + state * k..][..k], &mut residence, sum);
            }
            for (r, &class) in self.others.iter().enumerate() {
                if n[r] > 0 {
                    let from = (state - self.inner.stride[r]) * k;
                    add(self.model, class, n[r], &own[from..from + k], &mut residence, sum);
                }
            }
            advance(&mut n, &self.inner.most);
        }
    }

    /// The last state of the last tile, class by class.
    fn answer(&self, before: &[f64], now: &[f64]) -> Answer {
        let (k, classes) = (self.model.stations(), self.model.think_s.len());
        let mut found = Answer { throughput: vec![0.0; classes], queue: vec![vec![0.0; k]; classes] };
        let mut residence = vec![0.0; k];
        let (own, end) = (self.a.1 * self.tile, (self.inner.size - 1) * k);
        let mut one = |class: usize, count: usize, found_there: &[f64]| {
            found.throughput[class] =
                add(self.model, class, count, found_there, &mut residence, &mut found.queue[class]);
        };
        one(self.a.0, self.a.1, &before[own - self.tile + end..][..k]);
        one(self.b.0, self.b.1, &before[own + end..][..k]);
        for (r, &class) in self.others.iter().enumerate() {
            one(class, self.inner.most[r], &now[own + end - self.inner.stride[r] * k..][..k]);
        }
        found
    }
}

#[inline]
fn advance(n: &mut [usize], most: &[usize]) {
    for r in (0..n.len()).rev() {
        n[r] += 1;
        if n[r] <= most[r] {
            return;
        }
        n[r] = 0;
    }
}
