//! The recursion of `mva_multiclass` for a lattice that is too large to keep, in parallel.
//!
//! States with equal n_a + n_b (two classes) depend on those with one less and on their own tile: all values of the
//! other classes. So tiles on a diagonal are worked on at once, and two diagonals are kept.

use rayon::prelude::*;

use super::mva_multiclass::{ClassDemands, Lane, MvaMeans, LANES};
use super::population_lattice::PopulationLattice;

/// Lanes of tiles that are worked on together, so that they stay in the cache, and most such tiles.
const TOGETHER: usize = 2000;
const TILES: usize = 4;

/// The answer at one point of at least two classes, each with customers.
pub fn run(model: &ClassDemands, point: &[usize]) -> MvaMeans {
    let mut order: Vec<usize> = (0..point.len()).collect();
    order.sort_by_key(|&r| std::cmp::Reverse(point[r]));
    let sweep = DiagonalSweep::new(model, point, &order);
    let (mut before, mut now) = (sweep.space(), sweep.space());
    for diagonal in 0..=sweep.a.1 + sweep.b.1 {
        std::mem::swap(&mut before, &mut now);
        sweep.diagonal(diagonal, &before, &mut now);
    }
    sweep.answer(&before, &now)
}

struct DiagonalSweep<'a> {
    model: &'a ClassDemands,
    a: (usize, usize), // class and its population
    b: (usize, usize),
    others: Vec<usize>, // classes inside a tile
    inner: PopulationLattice,
    tile: usize, // lanes of a tile
}

impl<'a> DiagonalSweep<'a> {
    fn new(model: &'a ClassDemands, point: &[usize], order: &[usize]) -> Self {
        let others = order[2..].to_vec();
        let inner = PopulationLattice::new(&others.iter().map(|&r| point[r]).collect::<Vec<_>>());
        let tile = inner.size * model.width;
        Self { model, a: (order[0], point[order[0]]), b: (order[1], point[order[1]]), others, inner, tile }
    }

    /// Room for the tiles of a diagonal, by the population of class a.
    fn space(&self) -> Vec<Lane> {
        vec![[0.0; LANES]; self.tile * (self.a.1 + 1)]
    }

    fn diagonal(&self, diagonal: usize, before: &[Lane], now: &mut [Lane]) {
        let (first, last) = (diagonal.saturating_sub(self.b.1), diagonal.min(self.a.1));
        let tiles = (TOGETHER / self.tile).clamp(1, TILES);
        let least = (20_000 / (tiles * self.tile)).max(1);
        now[first * self.tile..(last + 1) * self.tile]
            .par_chunks_mut(tiles * self.tile)
            .with_min_len(least)
            .enumerate()
            .for_each(|(offset, some)| self.fill(first + tiles * offset, diagonal, before, some));
    }

    /// Tiles of a diagonal, from that of `first` of class a on: state by state in turn, because their states do not wait for each other.
    fn fill(&self, first: usize, diagonal: usize, before: &[Lane], tiles: &mut [Lane]) {
        let width = self.model.width;
        let mut n = vec![0; self.others.len()];
        for state in 0..self.inner.size {
            for (offset, tile) in tiles.chunks_exact_mut(self.tile).enumerate() {
                let (i, j) = (first + offset, diagonal - first - offset);
                let (own, rest) = tile.split_at_mut(state * width);
                let sum = &mut rest[..width];
                sum.fill([0.0; LANES]);
                if i > 0 {
                    self.model.add(self.a.0, i, &before[(i - 1) * self.tile + state * width..][..width], sum);
                }
                if j > 0 {
                    self.model.add(self.b.0, j, &before[i * self.tile + state * width..][..width], sum);
                }
                for (r, &class) in self.others.iter().enumerate() {
                    if n[r] > 0 {
                        let from = (state - self.inner.stride[r]) * width;
                        self.model.add(class, n[r], &own[from..][..width], sum);
                    }
                }
            }
            advance(&mut n, &self.inner.most);
        }
    }

    /// The last state of the last tile, class by class.
    fn answer(&self, before: &[Lane], now: &[Lane]) -> MvaMeans {
        let width = self.model.width;
        let mut found = self.model.empty();
        let (own, end) = (self.a.1 * self.tile, (self.inner.size - 1) * width);
        self.model.tell(self.a.0, self.a.1, &before[own - self.tile + end..][..width], &mut found);
        self.model.tell(self.b.0, self.b.1, &before[own + end..][..width], &mut found);
        for (r, &class) in self.others.iter().enumerate() {
            let from = own + end - self.inner.stride[r] * width;
            self.model.tell(class, self.inner.most[r], &now[from..][..width], &mut found);
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
