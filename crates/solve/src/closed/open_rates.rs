//! The rates z of an open network whose mean numbers are the populations N of the closed one.
//!
//! A closed network is the open one given that its numbers are N. With these rates that condition is likely (of the
//! order 1/sqrt(variance) a class), so sums over the lattice are probabilities of ordinary size: nothing that matters
//! over- or underflows, for any population and any demands. The rates need not be exact. They minimise the convex
//! sum_k log B_k(rho_k) + sum_r z_r Z_r - sum_r N_r log z_r in log z (a Legendre transform of the normalising
//! constant; for the idea see Buzen, CACM 16(9), 1973 and Lam, Commun. ACM 25(4), 1982, dynamic scaling).

use super::number_distribution::{number, NumberDistribution};

/// Stations with `demands_s[k][r]` and `speeds[k]`; delays are in `think_s[r]`.
pub struct ClosedModel<'a> {
    pub demands_s: &'a [Vec<f64>],
    pub speeds: &'a [Vec<f64>],
    pub think_s: &'a [f64],
}

impl ClosedModel<'_> {
    /// Work offered to station k at rates z.
    pub fn offered(&self, k: usize, z: &[f64]) -> f64 {
        self.demands_s[k].iter().zip(z).map(|(d, z)| d * z).sum()
    }
}

const ROUNDS: usize = 200;

/// Rates in 1/s for populations `n` (all > 0; every class has a demand or thinks).
pub fn rates(model: &ClosedModel, n: &[f64]) -> Vec<f64> {
    let mut theta: Vec<f64> = start(model, n).iter().map(|z| z.ln()).collect();
    let mut now = value(model, n, &theta);
    for _ in 0..ROUNDS {
        let (gradient, step) = newton(model, n, &theta);
        if gradient.iter().zip(n).all(|(g, n)| g.abs() <= 0.05 * n.sqrt()) {
            break;
        }
        let Some((next, found)) = line(model, n, &theta, &step, now) else { break };
        (theta, now) = (next, found);
    }
    theta.iter().map(|t| t.exp()).collect()
}

/// Inside the region where every station keeps up, each class at a share of what it could have alone.
fn start(model: &ClosedModel, n: &[f64]) -> Vec<f64> {
    let classes = n.len() as f64;
    let one = |r: usize| {
        let alone = model.think_s[r] + model.demands_s.iter().map(|d| d[r]).sum::<f64>();
        let limit = model.demands_s.iter().zip(model.speeds).filter(|(d, _)| d[r] > 0.0);
        let most = limit.map(|(d, s)| s[s.len() - 1] / d[r]).fold(f64::INFINITY, f64::min);
        (n[r] / alone).min(0.9 * most / classes)
    };
    (0..n.len()).map(one).collect()
}

fn value(model: &ClosedModel, n: &[f64], theta: &[f64]) -> f64 {
    let z: Vec<f64> = theta.iter().map(|t| t.exp()).collect();
    let mut sum: f64 = (0..n.len()).map(|r| z[r] * model.think_s[r] - n[r] * theta[r]).sum();
    for (k, speeds) in model.speeds.iter().enumerate() {
        let rho = model.offered(k, &z);
        if rho >= speeds[speeds.len() - 1] * (1.0 - 1e-14) {
            return f64::INFINITY;
        }
        sum += number(rho, speeds).log_sum;
    }
    sum
}

/// Gradient and Newton step in log z.
fn newton(model: &ClosedModel, n: &[f64], theta: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let z: Vec<f64> = theta.iter().map(|t| t.exp()).collect();
    let classes = n.len();
    let mut gradient: Vec<f64> = (0..classes).map(|r| z[r] * model.think_s[r] - n[r]).collect();
    let mut hessian = vec![vec![0.0; classes]; classes];
    for r in 0..classes {
        hessian[r][r] = z[r] * model.think_s[r];
    }
    for (k, speeds) in model.speeds.iter().enumerate() {
        let rho = model.offered(k, &z);
        if rho > 0.0 {
            let share: Vec<f64> = (0..classes).map(|r| model.demands_s[k][r] * z[r] / rho).collect();
            curve(&number(rho, speeds), &share, &mut gradient, &mut hessian);
        }
    }
    let step = solve(hessian, gradient.iter().map(|g| -g).collect());
    (gradient, step)
}

fn curve(number: &NumberDistribution, share: &[f64], gradient: &mut [f64], hessian: &mut [Vec<f64>]) {
    for r in 0..share.len() {
        gradient[r] += number.mean * share[r];
        hessian[r][r] += number.mean * share[r];
        for s in 0..share.len() {
            hessian[r][s] += (number.variance - number.mean) * share[r] * share[s];
        }
    }
}

/// Halves the step until it stays inside and goes down.
fn line(model: &ClosedModel, n: &[f64], theta: &[f64], step: &[f64], now: f64) -> Option<(Vec<f64>, f64)> {
    let longest = step.iter().fold(0.0f64, |a, s| a.max(s.abs()));
    let mut length = (4.0 / longest.max(1e-300)).min(1.0);
    for _ in 0..60 {
        let next: Vec<f64> = theta.iter().zip(step).map(|(t, s)| t + length * s).collect();
        let found = value(model, n, &next);
        if found < now {
            return Some((next, found));
        }
        length *= 0.5;
    }
    None
}

/// Gaussian elimination with the largest pivot; a class that cannot move keeps its rate.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for i in 0..n {
        let pivot = (i..n).max_by(|&p, &q| a[p][i].abs().total_cmp(&a[q][i].abs())).unwrap_or(i);
        a.swap(i, pivot);
        b.swap(i, pivot);
        if a[i][i].abs() < 1e-300 {
            continue;
        }
        for j in i + 1..n {
            let f = a[j][i] / a[i][i];
            let (head, rest) = a.split_at_mut(j);
            rest[0].iter_mut().zip(&head[i]).skip(i).for_each(|(x, y)| *x -= f * y);
            b[j] -= f * b[i];
        }
    }
    let mut x = vec![0.0; n];
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|j| a[i][j] * x[j]).sum();
        x[i] = if a[i][i].abs() < 1e-300 { 0.0 } else { (b[i] - sum) / a[i][i] };
    }
    x
}
