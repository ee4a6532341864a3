//! Sums and recurrences over a lattice: rows of f64 that are only added and multiplied by positive numbers.

use super::population_lattice::PopulationLattice;

/// to(n) += factor · from(n - e_r)
pub fn shift_add(lattice: &PopulationLattice, r: usize, factor: f64, from: &[f64], to: &mut [f64]) {
    if factor == 0.0 {
        return;
    }
    let stride = lattice.stride[r];
    let block = stride * (lattice.most[r] + 1);
    for (source, target) in from.chunks_exact(block).zip(to.chunks_exact_mut(block)) {
        for (t, s) in target[stride..].iter_mut().zip(source) {
            *t += factor * s;
        }
    }
}

/// to(n) = sum_r factor_r · from(n - e_r)
pub fn shift(lattice: &PopulationLattice, factors: &[f64], from: &[f64], to: &mut [f64]) {
    to.fill(0.0);
    for (r, &factor) in factors.iter().enumerate() {
        shift_add(lattice, r, factor, from, to);
    }
}

/// x(n) += sum_r factor_r · x(n - e_r), in the order of the lattice: the station takes any number of them.
pub fn repeat(lattice: &PopulationLattice, factors: &[f64], x: &mut [f64]) {
    let (slow, row) = (factors.len() - 1, lattice.row());
    lattice.rows(|start, n| {
        let (before, rest) = x.split_at_mut(start);
        let now = &mut rest[..row];
        for r in 0..slow {
            if n[r] > 0 && factors[r] > 0.0 {
                let from = start - lattice.stride[r];
                now.iter_mut().zip(&before[from..from + row]).for_each(|(t, s)| *t += factors[r] * s);
            }
        }
        let mut last = 0.0;
        for value in now {
            *value += factors[slow] * last;
            last = *value;
        }
    });
}

/// x += factor · y
pub fn add(factor: f64, y: &[f64], x: &mut [f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += factor * y);
}

/// Poisson numbers of each class that think, independent: the lattice to begin with.
pub fn thinking(lattice: &PopulationLattice, means: &[f64]) -> Vec<f64> {
    let single: Vec<Vec<f64>> = means.iter().zip(&lattice.most).map(|(&m, &n)| poisson(m, n)).collect();
    let slow = means.len() - 1;
    let mut grid = vec![0.0; lattice.size];
    lattice.rows(|start, n| {
        let factor: f64 = (0..slow).map(|r| single[r][n[r]]).product();
        grid[start..start + lattice.row()].iter_mut().zip(&single[slow]).for_each(|(g, p)| *g = factor * p);
    });
    grid
}

/// Probabilities of 0 … most, made to sum to 1, from the likeliest outwards.
fn poisson(mean: f64, most: usize) -> Vec<f64> {
    let mode = (mean.floor() as usize).min(most);
    let mut p = vec![0.0; most + 1];
    p[mode] = 1.0;
    for n in mode + 1..=most {
        p[n] = p[n - 1] * mean / n as f64;
    }
    for n in (0..mode).rev() {
        p[n] = p[n + 1] * (n + 1) as f64 / mean;
    }
    let sum: f64 = p.iter().sum();
    p.iter_mut().for_each(|value| *value /= sum);
    p
}
