//! Exact mean value analysis of several classes over single servers and delays, the whole lattice kept.
//!
//! Source: Reiser, Lavenberg: J. ACM 27(2), 1980, pp. 313-322; Lazowska et al. (1984), Algorithm 7.2, p. 141.
//! R_kr(n) = D_kr (1 + Q_k(n - e_r)); X_r = n_r/(Z_r + sum_k R_kr); Q_k = sum_r X_r R_kr. Only sums of positive terms.
//! A state waits for the divisions of the states before it: so states that do not wait for each other are visited in turn.

use super::population_lattice::{by_diagonals, PopulationLattice};

pub const LANES: usize = 4;
pub type Lane = [f64; LANES];

/// Demands of each class by stations, four at a time (the last ones 0), and `think_s[r]`, delays included.
pub struct ClassDemands {
    demands_s: Vec<Vec<Lane>>,
    pub think_s: Vec<f64>,
    pub stations: usize,
    pub width: usize, // lanes of a state
}

impl ClassDemands {
    /// `demands_s[r]` is a row of stations.
    pub fn new(demands_s: &[Vec<f64>], think_s: &[f64]) -> Self {
        let lanes = |row: &Vec<f64>| -> Vec<Lane> {
            row.chunks(LANES).map(|c| std::array::from_fn(|i| c.get(i).copied().unwrap_or(0.0))).collect()
        };
        let stations = demands_s.first().map_or(0, Vec::len);
        let demands_s: Vec<Vec<Lane>> = demands_s.iter().map(lanes).collect();
        Self { demands_s, think_s: think_s.to_vec(), stations, width: stations.div_ceil(LANES) }
    }

    /// Adds the mean numbers of `count` customers of class r who find `before` to `sum`; returns their throughput.
    #[inline(always)]
    pub fn add(&self, r: usize, count: usize, before: &[Lane], sum: &mut [Lane]) -> f64 {
        let (demands, think, count) = (&self.demands_s[r], self.think_s[r], count as f64);
        // known lengths keep the residence times in registers
        match self.width {
            1 => step::<1>(demands, think, count, before, sum),
            2 => step::<2>(demands, think, count, before, sum),
            3 => step::<3>(demands, think, count, before, sum),
            4 => step::<4>(demands, think, count, before, sum),
            5 => step::<5>(demands, think, count, before, sum),
            6 => step::<6>(demands, think, count, before, sum),
            _ => long(demands, think, count, before, sum),
        }
    }

    /// An answer with nobody in it, and the numbers of one class as the stations have them.
    pub fn empty(&self) -> MvaMeans {
        let classes = self.think_s.len();
        let none = vec![vec![0.0; self.stations]; classes];
        MvaMeans { throughput: vec![0.0; classes], queue: none.clone(), line: none }
    }

    /// Fills in class r, `count` of whom find `before`.
    pub fn tell(&self, r: usize, count: usize, before: &[Lane], answer: &mut MvaMeans) {
        let mut sum = vec![[0.0; LANES]; self.width];
        answer.throughput[r] = self.add(r, count, before, &mut sum);
        answer.queue[r].copy_from_slice(&sum.as_flattened()[..self.stations]);
        let (demands, found) = (self.demands_s[r].as_flattened(), before.as_flattened());
        for (line, (d, q)) in answer.line[r].iter_mut().zip(demands.iter().zip(found)) {
            *line = answer.throughput[r] * d * q;
        }
    }
}

/// R = D (1 + Q), X = n/(Z + sum R), and X R added, for W lanes of stations.
#[inline(always)]
fn step<const W: usize>(demands: &[Lane], think: f64, count: f64, before: &[Lane], sum: &mut [Lane]) -> f64 {
    let (demands, before, sum) = (&demands[..W], &before[..W], &mut sum[..W]);
    let mut residence = [[0.0; LANES]; W];
    let mut time = [0.0; LANES];
    for w in 0..W {
        for i in 0..LANES {
            residence[w][i] = demands[w][i] * (1.0 + before[w][i]);
            time[i] += residence[w][i];
        }
    }
    let x = count / (think + ((time[0] + time[1]) + (time[2] + time[3])));
    for w in 0..W {
        for i in 0..LANES {
            sum[w][i] += x * residence[w][i];
        }
    }
    x
}

/// The same for any number of lanes.
fn long(demands: &[Lane], think: f64, count: f64, before: &[Lane], sum: &mut [Lane]) -> f64 {
    let mut time = [0.0; LANES];
    for (d, q) in demands.iter().zip(before) {
        for i in 0..LANES {
            time[i] += d[i] * (1.0 + q[i]);
        }
    }
    let x = count / (think + ((time[0] + time[1]) + (time[2] + time[3])));
    for ((total, d), q) in sum.iter_mut().zip(demands).zip(before) {
        for i in 0..LANES {
            total[i] += x * (d[i] * (1.0 + q[i]));
        }
    }
    x
}

/// Throughput (1/s) and mean numbers `queue[class][station]`, waiting ones in `line`, at one vector of populations.
pub struct MvaMeans {
    pub throughput: Vec<f64>,
    pub queue: Vec<Vec<f64>>,
    pub line: Vec<Vec<f64>>,
}

/// The answers at `points`, from one lattice that reaches to the largest of each class.
pub fn run(model: &ClassDemands, points: &[Vec<usize>]) -> Vec<MvaMeans> {
    let classes = model.think_s.len();
    let most: Vec<usize> = (0..classes).map(|r| points.iter().map(|p| p[r]).max().unwrap_or(0)).collect();
    let lattice = PopulationLattice::new(&most);
    let total = fill(model, &lattice);
    points.iter().map(|point| answer(model, &lattice, &total, point)).collect()
}

/// Mean numbers at all stations for every state, by planes of the last two classes.
fn fill(model: &ClassDemands, lattice: &PopulationLattice) -> Vec<Lane> {
    // known widths keep the numbers of a state in registers until all classes are added
    match model.width {
        1 => fill_known::<1>(model, lattice),
        2 => fill_known::<2>(model, lattice),
        3 => fill_known::<3>(model, lattice),
        4 => fill_known::<4>(model, lattice),
        5 => fill_known::<5>(model, lattice),
        6 => fill_known::<6>(model, lattice),
        _ => fill_any(model, lattice),
    }
}

fn fill_known<const W: usize>(model: &ClassDemands, lattice: &PopulationLattice) -> Vec<Lane> {
    let plane = LastTwoClasses::of(lattice);
    let class = |r: usize| (&model.demands_s[r][..W], model.think_s[r]);
    let ((slower, slower_think), (faster, faster_think)) = (class(plane.slower), class(plane.faster));
    let mut total = vec![[0.0; LANES]; lattice.size * W];
    let mut ahead: Vec<(usize, f64, f64, &[Lane])> = Vec::new();
    lattice.blocks(plane.slower, |start, n| {
        ahead.clear();
        let classes = (0..plane.slower).filter(|&r| n[r] > 0);
        ahead.extend(
            classes.map(|r| (lattice.stride[r] * W, model.think_s[r], n[r] as f64, &model.demands_s[r][..W])),
        );
        by_diagonals(plane.rows, plane.row, |b, c| {
            let here = (start + b * plane.row + c) * W;
            let mut sum = [[0.0; LANES]; W];
            for &(back, think, count, demands) in &ahead {
                step::<W>(demands, think, count, &total[here - back..][..W], &mut sum);
            }
            if b > 0 {
                step::<W>(slower, slower_think, b as f64, &total[here - plane.row * W..][..W], &mut sum);
            }
            if c > 0 {
                step::<W>(faster, faster_think, c as f64, &total[here - W..][..W], &mut sum);
            }
            total[here..][..W].copy_from_slice(&sum);
        });
    });
    total
}

fn fill_any(model: &ClassDemands, lattice: &PopulationLattice) -> Vec<Lane> {
    let (width, last) = (model.width, lattice.classes() - 1);
    let mut total = vec![[0.0; LANES]; lattice.size * width];
    lattice.rows(|start, n| {
        for count in 0..lattice.row() {
            let state = start + count;
            let (before, rest) = total.split_at_mut(state * width);
            let sum = &mut rest[..width];
            for r in (0..last).filter(|&r| n[r] > 0) {
                model.add(r, n[r], &before[(state - lattice.stride[r]) * width..][..width], sum);
            }
            if count > 0 {
                model.add(last, count, &before[(state - 1) * width..], sum);
            }
        }
    });
    total
}

/// The states of the last two classes, all others being the same; of the only class, where there is one.
struct LastTwoClasses {
    slower: usize, // the same as `faster` if there is one
    faster: usize,
    rows: usize,
    row: usize,
}

impl LastTwoClasses {
    fn of(lattice: &PopulationLattice) -> LastTwoClasses {
        let faster = lattice.classes() - 1;
        let slower = faster.saturating_sub(1);
        let rows = if slower < faster { lattice.most[slower] + 1 } else { 1 };
        LastTwoClasses { slower, faster, rows, row: lattice.row() }
    }
}

fn answer(model: &ClassDemands, lattice: &PopulationLattice, total: &[Lane], point: &[usize]) -> MvaMeans {
    let (width, state) = (model.width, lattice.index(point));
    let mut found = model.empty();
    for (r, &count) in point.iter().enumerate() {
        if count > 0 {
            model.tell(r, count, &total[(state - lattice.stride[r]) * width..][..width], &mut found);
        }
    }
    found
}
