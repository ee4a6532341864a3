//! The numbers at one station, from the lattice of all the others.
//!
//! c_j(n) = sum over vectors i with |i| = j of j!/prod(i_r!) prod(d_r^i_r) others(n - i), d_r = class r's share of the
//! station's work: c_0 = others, c_j(n) = sum_r d_r c_(j-1)(n - e_r). With v_j the station's open probabilities,
//! p(j | n) = v_j c_j(n)/g(n) and g = sum_j v_j c_j; from j = last on, v is geometric, and the sums over j are
//! recurrences over n. Class r: E[n_r] = sum_j j v_j d_r c_(j-1)(n - e_r)/g(n). All terms are positive.
//! (F. R. Moore 1972 and J. P. Buzen 1973 for one class; M. Reiser, H. Kobayashi: IBM J. Res. Dev. 19(3), 1975, pp.
//! 283-294 for several; the tail as a recurrence: Bruell, Balbo: Computational Algorithms for Closed Queueing Networks,
//! 1980, ch. 4.)

use super::lattice_rows::{add, repeat, shift, shift_add};
use super::number_distribution::NumberDistribution;
use super::population_lattice::PopulationLattice;

/// One station in terms of the lattice.
pub struct StationTerms {
    pub share: Vec<f64>, // d_r
    pub number: NumberDistribution,
    pub speeds: Vec<f64>,
}

/// Sums at one point, still to be divided by g there.
#[derive(Clone, Debug, Default)]
pub struct StationSums {
    pub mean: Vec<f64>,    // by class
    pub busy: Vec<f64>,    // by class: probability that somebody is there, by shares of those present
    pub second: f64,       // of the total number
    pub line: Vec<f64>,    // by class: number beyond the servers, where speeds are those of servers
    pub spread: f64,       // mean of (n + 1)/speed(n + 1): what an arrival from outside would bring
    pub exactly: Vec<f64>, // probabilities of 0, 1, …
}

impl StationTerms {
    /// Factors of the geometric tail, by class.
    pub fn tail(&self) -> Vec<f64> {
        self.share.iter().map(|d| d * self.number.ratio).collect()
    }

    fn last(&self) -> usize {
        self.number.probability.len() - 1
    }

    /// The lattice with this station added to `others`.
    pub fn join(&self, lattice: &PopulationLattice, others: &[f64]) -> Vec<f64> {
        let v = &self.number.probability;
        let mut tail: Vec<f64>;
        let mut sum = vec![0.0; lattice.size];
        if self.share.len() == 1 {
            let last = self.last().min(lattice.size);
            for (j, &p) in v.iter().enumerate().take(last) {
                add(p, &others[..lattice.size - j], &mut sum[j..]);
            }
            tail = vec![0.0; lattice.size];
            if last < lattice.size {
                add(v[last], &others[..lattice.size - last], &mut tail[last..]);
            }
        } else {
            let (mut c, mut next) = (others.to_vec(), vec![0.0; lattice.size]);
            for &p in &v[..self.last()] {
                add(p, &c, &mut sum);
                shift(lattice, &self.share, &c, &mut next);
                std::mem::swap(&mut c, &mut next);
            }
            c.iter_mut().for_each(|x| *x *= v[self.last()]);
            tail = c;
        }
        repeat(lattice, &self.tail(), &mut tail);
        add(1.0, &tail, &mut sum);
        sum
    }

    /// Sums at `points` (indices of the lattice and vectors), with `exactly` for 0 … most - 1 customers.
    pub fn sums(
        &self,
        lattice: &PopulationLattice,
        others: &[f64],
        points: &[(usize, &[usize])],
        most: usize,
    ) -> Vec<StationSums> {
        let classes = self.share.len();
        let none = vec![0.0; classes];
        let empty =
            StationSums { mean: none.clone(), busy: none.clone(), line: none, ..StationSums::default() };
        let mut found = vec![empty; points.len()];
        let (mut c, mut next) = (others.to_vec(), vec![0.0; lattice.size]);
        let last = self.last();
        for j in 0..=last {
            for (sums, &(at, n)) in found.iter_mut().zip(points) {
                self.below(lattice, j, &c, (at, n), most, sums);
            }
            if j < last {
                shift(lattice, &self.share, &c, &mut next);
                std::mem::swap(&mut c, &mut next);
            }
        }
        self.beyond(lattice, &c, points, &mut found);
        self.rare(lattice, c, points, most, &mut found);
        found
    }

    /// Terms of j customers, j <= last; what needs the tail is left to `beyond`.
    fn below(
        &self,
        lattice: &PopulationLattice,
        j: usize,
        c: &[f64],
        point: (usize, &[usize]),
        most: usize,
        sums: &mut StationSums,
    ) {
        let (v, last, (at, n)) = (&self.number.probability, self.last(), point);
        let here = v[j] * c[at];
        if j < last {
            sums.second += (j * j) as f64 * here;
            sums.spread += (j + 1) as f64 / self.speeds[j] * here;
            for r in 0..n.len() {
                if n[r] > 0 {
                    let one = v[j + 1] * self.share[r] * c[at - lattice.stride[r]];
                    sums.busy[r] += one;
                    sums.mean[r] += (j + 1) as f64 * one;
                }
            }
        }
        if j < most {
            sums.exactly.push(here);
        }
    }

    /// Sums over all j >= last: of 1, j and j^2, as recurrences over n. Who comes
    /// to j finds j - last beyond `last + 1` servers, itself counted: a recurrence of its own, and no difference.
    fn beyond(
        &self,
        lattice: &PopulationLattice,
        c: &[f64],
        points: &[(usize, &[usize])],
        found: &mut [StationSums],
    ) {
        let (tail, last) = (self.tail(), self.last() as f64);
        let first = self.number.probability[self.last()];
        let mut zeroth: Vec<f64> = c.iter().map(|x| first * x).collect();
        let mut over = vec![0.0; lattice.size];
        let mut second: Vec<f64> = zeroth.iter().map(|x| last * last * x).collect();
        repeat(lattice, &tail, &mut zeroth);
        for (r, &factor) in tail.iter().enumerate() {
            shift_add(lattice, r, factor, &zeroth, &mut over);
        }
        repeat(lattice, &tail, &mut over);
        let mean: Vec<f64> = over.iter().zip(&zeroth).map(|(over, all)| over + last * all).collect();
        for (r, &factor) in tail.iter().enumerate() {
            shift_add(lattice, r, factor, &zeroth, &mut second);
            shift_add(lattice, r, 2.0 * factor, &mean, &mut second);
        }
        repeat(lattice, &tail, &mut second);
        let speed = self.speeds[self.speeds.len() - 1];
        for (sums, &(at, n)) in found.iter_mut().zip(points) {
            sums.second += second[at];
            sums.spread += (mean[at] + zeroth[at]) / speed;
            for r in 0..n.len() {
                if n[r] > 0 {
                    let from = at - lattice.stride[r];
                    sums.busy[r] += tail[r] * zeroth[from];
                    sums.line[r] += tail[r] * over[from];
                    sums.mean[r] += tail[r] * (mean[from] + zeroth[from]);
                }
            }
        }
    }

    /// Probabilities of more than `last`, one by one.
    fn rare(
        &self,
        lattice: &PopulationLattice,
        mut c: Vec<f64>,
        points: &[(usize, &[usize])],
        most: usize,
        found: &mut [StationSums],
    ) {
        let mut next = vec![0.0; lattice.size];
        let mut probability = self.number.probability[self.last()];
        for _ in self.last() + 1..most {
            shift(lattice, &self.share, &c, &mut next);
            std::mem::swap(&mut c, &mut next);
            probability *= self.number.ratio;
            for (sums, &(at, _)) in found.iter_mut().zip(points) {
                sums.exactly.push(probability * c[at]);
            }
        }
    }
}
