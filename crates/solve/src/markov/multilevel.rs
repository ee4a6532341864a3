//! Multilevel aggregation: Gauss-Seidel smooths, pairs of strongly joined states are solved as one, again and again.
//!
//! Source: G. Horton, S. T. Leutenegger: A Multi-Level Solution Algorithm for Steady-State Markov Chains. SIGMETRICS
//! 1994, pp. 191-200; two coarse visits at every second level (a W-cycle), so that slow modes of large chains go too.
//! All operations add and multiply numbers that are not negative.

use super::gth::{gth, SMALL};
use super::sparse_generator::{normalise, SparseGenerator};

const SMOOTH: usize = 2;
/// No probability falls below this on the way: a group of zeros could never grow again.
const LEAST: f64 = 1e-280;

/// One step of coarsening: which group each state belongs to, and where each rate goes in the coarse chain.
struct CoarseningLevel {
    group: Vec<u32>,
    place: Vec<u32>,
    coarse: SparseGenerator,
    visits: usize,
}

/// The levels below a chain; made once, the rates of coarse chains anew in each cycle.
pub struct CoarseningHierarchy {
    levels: Vec<CoarseningLevel>,
}

/// Rates within a group.
const INNER: u32 = u32::MAX;

impl CoarseningHierarchy {
    pub fn new(chain: &SparseGenerator) -> Self {
        let mut levels: Vec<CoarseningLevel> = Vec::new();
        let (whole, mut times) = (chain.rate.len(), 1);
        loop {
            let fine = levels.last().map_or(chain, |l| &l.coarse);
            if fine.len() <= SMALL {
                return Self { levels };
            }
            let level = CoarseningLevel::new(fine);
            // where nothing pairs up, another level would not end it
            if level.coarse.len() as f64 > 0.95 * fine.len() as f64 {
                return Self { levels };
            }
            // two visits at every second level, as long as a level costs no more than the chain itself
            let twice = 2 * times * level.coarse.rate.len() <= 2 * whole;
            let visits = if twice { 2 } else { 1 };
            times *= visits;
            levels.push(CoarseningLevel { visits, ..level });
        }
    }

    /// One cycle: `x` comes nearer to the stationary distribution; it sums to 1.
    pub fn cycle(&mut self, chain: &SparseGenerator, x: &mut [f64]) {
        descend(&mut self.levels, chain, x);
        x.iter_mut().for_each(|v| *v = v.max(LEAST));
        normalise(x);
    }
}

fn descend(levels: &mut [CoarseningLevel], chain: &SparseGenerator, x: &mut [f64]) {
    let Some((level, below)) = levels.split_first_mut() else { return bottom(chain, x) };
    for _ in 0..SMOOTH {
        sweep(chain, x);
    }
    let mut sums = level.aggregate(chain, x);
    let before = sums.clone();
    for _ in 0..level.visits {
        descend(below, &level.coarse, &mut sums);
    }
    for (i, v) in x.iter_mut().enumerate() {
        let g = level.group[i] as usize;
        if before[g] > 0.0 {
            *v *= sums[g] / before[g];
        }
    }
    for _ in 0..SMOOTH {
        sweep(chain, x);
    }
}

fn bottom(chain: &SparseGenerator, x: &mut [f64]) {
    if chain.len() <= SMALL {
        x.copy_from_slice(&gth(chain));
        x.iter_mut().for_each(|v| *v = v.max(LEAST));
    } else {
        for _ in 0..20 {
            sweep(chain, x);
        }
        normalise(x);
    }
}

/// Gauss-Seidel, forwards and then backwards.
fn sweep(chain: &SparseGenerator, x: &mut [f64]) {
    for j in (0..chain.len()).chain((0..chain.len()).rev()) {
        if chain.out[j] > 0.0 {
            x[j] = (chain.inflow(j, x) / chain.out[j]).max(LEAST);
        }
    }
}

impl CoarseningLevel {
    fn new(fine: &SparseGenerator) -> Self {
        let (group, count) = pair(fine);
        let mut pairs: Vec<(u32, u32, u32)> = Vec::with_capacity(fine.rate.len());
        for j in 0..fine.len() {
            for e in fine.start[j]..fine.start[j + 1] {
                let (from, to) = (group[fine.from[e] as usize], group[j]);
                if from != to {
                    pairs.push((to, from, e as u32));
                }
            }
        }
        pairs.sort_unstable();
        let mut place = vec![INNER; fine.rate.len()];
        let mut coarse = SparseGenerator {
            start: vec![0; count + 1],
            out: vec![0.0; count],
            ..SparseGenerator::default()
        };
        for same in pairs.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            same.iter().for_each(|&(.., e)| place[e as usize] = coarse.from.len() as u32);
            coarse.from.push(same[0].1);
            coarse.start[same[0].0 as usize + 1] += 1;
        }
        for g in 0..count {
            coarse.start[g + 1] += coarse.start[g];
        }
        coarse.rate = vec![0.0; coarse.from.len()];
        let mut level = Self { group, place, coarse, visits: 1 };
        level.aggregate(fine, &vec![1.0; fine.len()]);
        level
    }

    /// Sums of `x` by group; the coarse rates become means of the fine ones with weights `x`.
    fn aggregate(&mut self, fine: &SparseGenerator, x: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.coarse.len()];
        for (&g, &v) in self.group.iter().zip(x) {
            sums[g as usize] += v;
        }
        self.coarse.rate.fill(0.0);
        for (e, &p) in self.place.iter().enumerate().filter(|&(_, &p)| p != INNER) {
            self.coarse.rate[p as usize] += x[fine.from[e] as usize] * fine.rate[e];
        }
        self.coarse.out.fill(0.0);
        for (&g, rate) in self.coarse.from.iter().zip(&mut self.coarse.rate) {
            *rate = if sums[g as usize] > 0.0 { *rate / sums[g as usize] } else { 0.0 };
            self.coarse.out[g as usize] += *rate;
        }
        sums
    }
}

/// Each state with the free neighbour that it is joined to most strongly, or where none is free in the group of the one
/// that it is joined to most; the group of each, and how many there are.
fn pair(chain: &SparseGenerator) -> (Vec<u32>, usize) {
    let mut group = vec![INNER; chain.len()];
    let mut count = 0;
    for j in 0..chain.len() {
        if group[j] != INNER {
            continue;
        }
        let others = || (chain.start[j]..chain.start[j + 1]).filter(|&e| chain.from[e] as usize != j);
        let strongest = |a: &usize, b: &usize| chain.rate[*a].total_cmp(&chain.rate[*b]);
        let free = others().filter(|&e| group[chain.from[e] as usize] == INNER).max_by(strongest);
        if let (None, Some(e)) = (free, others().max_by(strongest)) {
            group[j] = group[chain.from[e] as usize];
            continue;
        }
        group[j] = count;
        if let Some(e) = free {
            group[chain.from[e] as usize] = count;
        }
        count += 1;
    }
    (group, count as usize)
}
