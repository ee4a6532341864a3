//! Exact mean value analysis of several classes over single servers and delays, the whole lattice kept.
//!
//! Source: Reiser, Lavenberg: J. ACM 27(2), 1980, pp. 313-322; Lazowska et al. (1984), Algorithm 7.2, p. 141.
//! R_kr(n) = D_kr (1 + Q_k(n - e_r)); X_r = n_r/(Z_r + sum_k R_kr); Q_k = sum_r X_r R_kr. Only sums of positive terms.

use super::lattice::Lattice;

/// `demands_s[r]` is a row of stations; `think_s[r]` holds delays too.
pub struct Demands<'a> {
    pub demands_s: &'a [Vec<f64>],
    pub think_s: &'a [f64],
}

impl Demands<'_> {
    pub fn stations(&self) -> usize {
        self.demands_s.first().map_or(0, Vec::len)
    }
}

/// Throughput (1/s) and mean numbers `queue[class][station]` at one vector of populations.
pub struct Answer {
    pub throughput: Vec<f64>,
    pub queue: Vec<Vec<f64>>,
}

/// The answers at `points`, from one lattice that reaches to the largest of each class.
pub fn run(model: &Demands, points: &[Vec<usize>]) -> Vec<Answer> {
    let classes = model.think_s.len();
    let most: Vec<usize> = (0..classes).map(|r| points.iter().map(|p| p[r]).max().unwrap_or(0)).collect();
    let lattice = Lattice::new(&most);
    let total = match model.stations() {
        4 => fill_fixed::<4>(model, &lattice),
        _ => fill(model, &lattice),
    };
    points.iter().map(|point| answer(model, &lattice, &total, point)).collect()
}

/// Mean numbers at all stations for every state, by rows of the last class.
fn fill(model: &Demands, lattice: &Lattice) -> Vec<f64> {
    let stations = model.stations();
    let mut total = vec![0.0; lattice.size * stations];
    let mut residence = vec![0.0; stations];
    lattice.rows(|start, n| {
        for last in 0..lattice.row() {
            let state = start + last;
            let (before, rest) = total.split_at_mut(state * stations);
            for r in 0..n.len() {
                let count = if r + 1 == n.len() { last } else { n[r] };
                if count > 0 {
                    let from = (state - lattice.stride[r]) * stations;
                    add(
                        model,
                        r,
                        count,
                        &before[from..from + stations],
                        &mut residence,
                        &mut rest[..stations],
                    );
                }
            }
        }
    });
    total
}

/// The same for a number of stations known when compiled.
fn fill_fixed<const K: usize>(model: &Demands, lattice: &Lattice) -> Vec<f64> {
    let mut total = vec![[0.0; K]; lattice.size];
    let demands: Vec<[f64; K]> = model.demands_s.iter().map(|row| std::array::from_fn(|k| row[k])).collect();
    let mut ahead: Vec<(usize, usize)> = Vec::new();
    lattice.rows(|start, n| {
        ahead.clear();
        ahead.extend((0..n.len() - 1).filter(|&r| n[r] > 0).map(|r| (r, n[r])));
        for last in 0..lattice.row() {
            let state = start + last;
            let mut sum = [0.0; K];
            for &(r, count) in &ahead {
                fixed(&demands[r], model.think_s[r], count, &total[state - lattice.stride[r]], &mut sum);
            }
            if last > 0 {
                let r = n.len() - 1;
                fixed(&demands[r], model.think_s[r], last, &total[state - 1], &mut sum);
            }
            total[state] = sum;
        }
    });
    total.into_flattened()
}

#[inline(always)]
fn fixed<const K: usize>(
    demands: &[f64; K],
    think: f64,
    count: usize,
    before: &[f64; K],
    sum: &mut [f64; K],
) {
    let residence: [f64; K] = std::array::from_fn(|k| demands[k] * (1.0 + before[k]));
    let x = count as f64 / (think + residence.iter().sum::<f64>());
    for k in 0..K {
        sum[k] += x * residence[k];
    }
}

/// Adds the mean numbers of `count` customers of class r who find `before`; returns their throughput.
#[inline]
pub fn add(
    model: &Demands,
    r: usize,
    count: usize,
    before: &[f64],
    residence: &mut [f64],
    sum: &mut [f64],
) -> f64 {
    let mut time = model.think_s[r];
    for ((res, d), q) in residence.iter_mut().zip(&model.demands_s[r]).zip(before) {
        *res = d * (1.0 + q);
        time += *res;
    }
    let x = count as f64 / time;
    for (total, res) in sum.iter_mut().zip(residence.iter()) {
        *total += x * res;
    }
    x
}

fn answer(model: &Demands, lattice: &Lattice, total: &[f64], point: &[usize]) -> Answer {
    let (stations, state) = (model.stations(), lattice.index(point));
    let mut found =
        Answer { throughput: vec![0.0; point.len()], queue: vec![vec![0.0; stations]; point.len()] };
    for (r, &count) in point.iter().enumerate() {
        if count > 0 {
            let from = (state - lattice.stride[r]) * stations;
            let (before, mut residence) = (&total[from..from + stations], vec![0.0; stations]);
            found.throughput[r] = add(model, r, count, before, &mut residence, &mut found.queue[r]);
        }
    }
    found
}
