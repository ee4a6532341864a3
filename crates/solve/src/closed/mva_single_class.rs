//! Exact mean value analysis of one class over single servers and delays.
//!
//! Source: Reiser, Lavenberg: J. ACM 27(2), 1980, pp. 313-322. R_k = D_k (1 + Q_k(n-1)), X = n/(Z + sum R), Q_k = X R_k.
//! Every term is positive: the relative error grows by some roundings a step, never by cancellation.

use rayon::prelude::*;

const LANES: usize = 4;
type Lane = [f64; LANES];

/// One point: demands in s of the single servers, everything else as `think` in s, customers.
pub struct SingleClassNetwork<'a> {
    pub demands_s: &'a [f64],
    pub think_s: f64,
    pub population: u64,
}

/// Throughput (1/s) of each point, and the mean numbers present and waiting, a row of stations a point.
///
/// Neighbours that differ in their population only, upwards, share one recursion.
pub fn run(points: &[SingleClassNetwork], throughput: &mut [f64], queue: &mut [f64], line: &mut [f64]) {
    let stations = points.first().map_or(0, |p| p.demands_s.len());
    let mut jobs = Vec::new();
    let (mut x, mut q, mut l) = (throughput, queue, line);
    let mut rest = points;
    while !rest.is_empty() {
        let count = 1 + rest.windows(2).take_while(|w| continues(&w[0], &w[1])).count();
        let (mine, others) = rest.split_at(count);
        let (x_mine, x_rest) = std::mem::take(&mut x).split_at_mut(count);
        let (q_mine, q_rest) = std::mem::take(&mut q).split_at_mut(count * stations);
        let (l_mine, l_rest) = std::mem::take(&mut l).split_at_mut(count * stations);
        jobs.push((mine, x_mine, q_mine, l_mine));
        (rest, x, q, l) = (others, x_rest, q_rest, l_rest);
    }
    if jobs.len() > 1 && points.iter().map(|p| p.population).sum::<u64>() > 20_000 {
        jobs.into_par_iter().for_each(|(p, x, q, l)| recursion(p, x, q, l));
    } else {
        jobs.into_iter().for_each(|(p, x, q, l)| recursion(p, x, q, l));
    }
}

fn continues(a: &SingleClassNetwork, b: &SingleClassNetwork) -> bool {
    a.think_s == b.think_s && a.population <= b.population && a.demands_s == b.demands_s
}

/// Points of one model with ascending populations.
fn recursion(points: &[SingleClassNetwork], throughput: &mut [f64], queue: &mut [f64], line: &mut [f64]) {
    let stations = points[0].demands_s.len();
    let (think, demands) = (points[0].think_s, lanes(points[0].demands_s));
    let mut numbers: Vec<Lane> = vec![[0.0; LANES]; demands.len()];
    let mut before = numbers.clone();
    let (mut x, mut n) = (0.0, 0);
    for (i, point) in points.iter().enumerate() {
        if n < point.population {
            // one call of `step`, so that it is inlined: two cost 8 % of the recursion
            for end in [point.population - 1, point.population] {
                before.copy_from_slice(&numbers);
                while n < end {
                    n += 1;
                    x = step(&demands, &mut numbers, think, n as f64);
                }
            }
        }
        throughput[i] = if n == 0 { 0.0 } else { x };
        for (k, value) in queue[i * stations..(i + 1) * stations].iter_mut().enumerate() {
            *value = numbers[k / LANES][k % LANES];
        }
        for (k, value) in line[i * stations..(i + 1) * stations].iter_mut().enumerate() {
            *value = x * demands[k / LANES][k % LANES] * before[k / LANES][k % LANES];
        }
    }
}

#[inline]
fn step(demands: &[Lane], numbers: &mut [Lane], think: f64, n: f64) -> f64 {
    let mut total = [0.0; LANES];
    for (q, d) in numbers.iter_mut().zip(demands.iter()) {
        for i in 0..LANES {
            q[i] = d[i] * (1.0 + q[i]);
            total[i] += q[i];
        }
    }
    let x = n / (think + ((total[0] + total[1]) + (total[2] + total[3])));
    for q in numbers {
        for value in q {
            *value *= x;
        }
    }
    x
}

fn lanes(values: &[f64]) -> Vec<Lane> {
    values.chunks(LANES).map(|c| std::array::from_fn(|i| c.get(i).copied().unwrap_or(0.0))).collect()
}
