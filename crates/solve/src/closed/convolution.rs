//! Normalising constants over a lattice of populations, and means from them, for stations of any speed.
//!
//! Sources: `station_sums` (the sums), `open_rates` (what keeps them in range). Each station needs the lattice of all others; halves
//! of the stations are joined and divided again, so that K stations need K log K joins and no division (taking a
//! station out by dividing is where published programs lose digits).

use super::lattice_rows::{repeat, shift_add, thinking};
use super::number_distribution::number;
use super::open_rates::{rates, ClosedModel};
use super::population_lattice::PopulationLattice;
use super::station_sums::{StationSums, StationTerms};

/// Means at one point; `queue[k][r]`, as are `busy`; see `station_sums::StationSums`.
#[derive(Clone, Debug, Default)]
pub struct ConvolutionMeans {
    pub throughput: Vec<f64>,
    pub queue: Vec<Vec<f64>>,
    pub busy: Vec<Vec<f64>>,
    pub second: Vec<f64>,
    pub spread: Vec<f64>,
    /// `line[k][r]`: mean number beyond the servers.
    pub line: Vec<Vec<f64>>,
    pub exactly: Vec<Vec<f64>>,
}

/// Below this the last digits of a sum may have been lost to underflow; the point is done again with its own rates.
const LEAST: f64 = 1e-200;

/// The answers at `points`; None where even the point's own rates leave too small a sum (not seen so far).
///
/// `most` probabilities of 0, 1, … are told for each station.
pub fn run(model: &ClosedModel, points: &[Vec<usize>], most: usize) -> Vec<Option<ConvolutionMeans>> {
    let mut found: Vec<Option<ConvolutionMeans>> = vec![None; points.len()];
    let mut pending: Vec<usize> = (0..points.len()).collect();
    while let Some(&target) = pending.iter().max_by_key(|&&p| points[p].iter().sum::<usize>()) {
        let answers = at_rates_of(model, &points[target], &pending, points, most);
        for (&p, answer) in pending.iter().zip(answers) {
            found[p] = answer;
        }
        pending.retain(|&p| found[p].is_none() && p != target);
    }
    found
}

fn at_rates_of(
    model: &ClosedModel,
    target: &[usize],
    pending: &[usize],
    points: &[Vec<usize>],
    most: usize,
) -> Vec<Option<ConvolutionMeans>> {
    let wanted: Vec<f64> = target.iter().map(|&n| (n as f64).max(0.5)).collect();
    let z = rates(model, &wanted);
    let limit: Vec<usize> =
        (0..z.len()).map(|r| pending.iter().map(|&p| points[p][r]).max().unwrap_or(0)).collect();
    let lattice = PopulationLattice::new(&limit);
    let vectors: Vec<(usize, &[usize])> =
        pending.iter().map(|&p| (lattice.index(&points[p]), points[p].as_slice())).collect();
    ConvolutionWorkspace::new(model, &z, lattice, most).answers(&vectors)
}

struct ConvolutionWorkspace {
    z: Vec<f64>,
    lattice: PopulationLattice,
    stations: Vec<StationTerms>,
    single: Vec<usize>, // stations of one speed, done by a recurrence
    general: Vec<usize>,
    most: usize,
    thinking: Vec<f64>,
}

impl ConvolutionWorkspace {
    fn new(model: &ClosedModel, z: &[f64], lattice: PopulationLattice, most: usize) -> Self {
        let stations: Vec<StationTerms> = (0..model.speeds.len())
            .map(|k| {
                let rho = model.offered(k, z);
                let share =
                    model.demands_s[k].iter().zip(z).map(|(d, z)| if rho > 0.0 { d * z / rho } else { 0.0 });
                StationTerms {
                    share: share.collect(),
                    number: number(rho, &model.speeds[k]),
                    speeds: model.speeds[k].clone(),
                }
            })
            .collect();
        let alone = |k: &usize| most == 0 && stations[*k].speeds.len() == 1;
        let (single, general) = (0..stations.len()).partition(alone);
        let thinking = z.iter().zip(model.think_s).map(|(z, t)| z * t).collect();
        Self { z: z.to_vec(), lattice, stations, single, general, most, thinking }
    }

    fn answers(&self, points: &[(usize, &[usize])]) -> Vec<Option<ConvolutionMeans>> {
        let mut base = thinking(&self.lattice, &self.thinking);
        for &k in &self.single {
            base.iter_mut().for_each(|x| *x *= self.stations[k].number.probability[0]);
            repeat(&self.lattice, &self.stations[k].tail(), &mut base);
        }
        let all = self.joined(&base, &self.general);
        let mut sums = vec![Vec::new(); self.stations.len()];
        for &k in &self.single {
            sums[k] = self.alone(k, &all, points);
        }
        self.divide(&base, &self.general, points, &mut sums);
        points.iter().enumerate().map(|(i, &point)| self.answer(i, point, &all, &sums)).collect()
    }

    fn joined(&self, base: &[f64], stations: &[usize]) -> Vec<f64> {
        stations.iter().fold(base.to_vec(), |grid, &k| self.stations[k].join(&self.lattice, &grid))
    }

    /// The sums of each of `stations`; `base` holds everything else.
    fn divide(
        &self,
        base: &[f64],
        stations: &[usize],
        points: &[(usize, &[usize])],
        sums: &mut [Vec<StationSums>],
    ) {
        match stations {
            [] => {}
            [k] => sums[*k] = self.stations[*k].sums(&self.lattice, base, points, self.most),
            _ => {
                let (left, right) = stations.split_at(stations.len() / 2);
                self.divide(&self.joined(base, right), left, points, sums);
                self.divide(&self.joined(base, left), right, points, sums);
            }
        }
    }

    /// A station of one speed: M(n) = sum_r a_r (g + M)(n - e_r) is its mean number times g(n).
    fn alone(&self, k: usize, all: &[f64], points: &[(usize, &[usize])]) -> Vec<StationSums> {
        let (tail, lattice) = (self.stations[k].tail(), &self.lattice);
        let (mut mean, mut second) = (vec![0.0; lattice.size], vec![0.0; lattice.size]);
        for (r, &factor) in tail.iter().enumerate() {
            shift_add(lattice, r, factor, all, &mut mean);
            shift_add(lattice, r, factor, all, &mut second);
        }
        repeat(lattice, &tail, &mut mean);
        for (r, &factor) in tail.iter().enumerate() {
            shift_add(lattice, r, 2.0 * factor, &mean, &mut second);
        }
        repeat(lattice, &tail, &mut second);
        let speed = self.stations[k].speeds[0];
        let one = |&(at, n): &(usize, &[usize])| {
            let term =
                |r: usize, grid: &[f64]| if n[r] > 0 { tail[r] * grid[at - lattice.stride[r]] } else { 0.0 };
            let busy: Vec<f64> = (0..n.len()).map(|r| term(r, all)).collect();
            let line: Vec<f64> = (0..n.len()).map(|r| term(r, &mean)).collect();
            StationSums {
                mean: busy.iter().zip(&line).map(|(busy, line)| busy + line).collect(),
                busy,
                line,
                second: second[at],
                spread: (mean[at] + all[at]) / speed,
                exactly: Vec::new(),
            }
        };
        points.iter().map(one).collect()
    }

    fn answer(
        &self,
        i: usize,
        (at, n): (usize, &[usize]),
        all: &[f64],
        sums: &[Vec<StationSums>],
    ) -> Option<ConvolutionMeans> {
        let g = all[at];
        if !(g > LEAST && g.is_finite()) && n.iter().any(|&n| n > 0) {
            return None;
        }
        let rate = |r: usize| if n[r] > 0 { self.z[r] * (all[at - self.lattice.stride[r]] / g) } else { 0.0 };
        let over =
            |values: &[f64]| values.iter().map(|v| if *v == 0.0 { 0.0 } else { v / g }).collect::<Vec<f64>>();
        let each = |f: &dyn Fn(&StationSums) -> Vec<f64>| sums.iter().map(|s| f(&s[i])).collect::<Vec<_>>();
        Some(ConvolutionMeans {
            throughput: (0..n.len()).map(rate).collect(),
            queue: each(&|s| over(&s.mean)),
            busy: each(&|s| over(&s.busy)),
            line: each(&|s| over(&s.line)),
            second: sums.iter().map(|s| over(&[s[i].second])[0]).collect(),
            spread: sums.iter().map(|s| over(&[s[i].spread])[0]).collect(),
            exactly: each(&|s| over(&s.exactly)),
        })
    }
}
