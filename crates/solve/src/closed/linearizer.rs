//! Linearizer (K. M. Chandy, D. Neuse: Commun. ACM 25(2), 1982, pp. 126-134): letters and limits in
//! `python/sojourn/solve/closed/linearizer.py`. Single servers; several points at once, each for itself.

use rayon::prelude::*;

/// Solutions at N and at N less one of each class; the last is the answer.
const PASSES: usize = 3;

/// Single servers that K stations and R classes stand for; `demands_s` K x R.
#[derive(Clone, Copy)]
pub struct SingleServers<'a> {
    pub demands_s: &'a [f64],
    pub think_s: &'a [f64],
    pub population: &'a [f64],
}

/// Until no number moves by more than `tolerance`, relative to one more than it, or for `rounds`.
#[derive(Clone, Copy)]
pub struct Stop {
    pub tolerance: f64,
    pub rounds: usize,
}

/// Mean numbers and residence times, K x R.
#[derive(Clone, Debug)]
pub struct LinearizerAnswer {
    pub queue: Vec<f64>,
    pub residence_s: Vec<f64>,
    pub settled: bool,
}

pub fn run(points: &[SingleServers<'_>], stop: Stop) -> Vec<LinearizerAnswer> {
    points.par_iter().map(|point| solve(point, stop)).collect()
}

fn solve(s: &SingleServers<'_>, stop: Stop) -> LinearizerAnswer {
    let (classes, size) = (s.population.len(), s.demands_s.len());
    let mut levels: Vec<Level> =
        (0..=classes).map(|j| Level::new(s, if j < classes { Some(j) } else { None })).collect();
    let mut change = vec![0.0; size * classes];
    let mut settled = false;
    for pass in 1..=PASSES {
        if pass == PASSES {
            settled = levels[classes].iterate(s, &change, stop);
            break;
        }
        for level in &mut levels {
            level.iterate(s, &change, stop);
        }
        let full = &levels[classes];
        for (j, level) in levels[..classes].iter().enumerate() {
            for at in 0..size {
                let r = at % classes;
                let there = level.population[r] > 0.0;
                change[at * classes + j] = if there { level.share(at, r) - full.share(at, r) } else { 0.0 };
            }
        }
    }
    let full = &mut levels[classes];
    full.step(s, &change, stop.tolerance);
    LinearizerAnswer {
        queue: std::mem::take(&mut full.queue),
        residence_s: std::mem::take(&mut full.residence_s),
        settled,
    }
}

/// How far a step went.
#[derive(Clone, Copy, PartialEq)]
enum StepOutcome {
    /// No number moved by more than the tolerance.
    Settled,
    Moving,
    /// One of them is no number.
    Broken,
}

/// The network at one population.
struct Level {
    population: Vec<f64>,
    /// 1 by the population of each class, 1 where there is none: a step multiplies, as dividing takes longer.
    inverse: Vec<f64>,
    /// Of class r those whom a customer of class j may meet, R x R (r first).
    met: Vec<f64>,
    queue: Vec<f64>,
    residence_s: Vec<f64>,
    /// Residence in all stations, and then throughput, of each class.
    totals: Vec<f64>,
}

impl Level {
    /// With one customer less of a class; customers spread as their demands say, thinking too.
    fn new(s: &SingleServers<'_>, less: Option<usize>) -> Self {
        let classes = s.population.len();
        let mut population = s.population.to_vec();
        if let Some(j) = less {
            population[j] = (population[j] - 1.0).max(0.0);
        }
        let mut queue = s.demands_s.to_vec();
        for (r, &number) in population.iter().enumerate() {
            let total = s.think_s[r] + s.demands_s.iter().skip(r).step_by(classes).sum::<f64>();
            let each = if total > 0.0 { number / total } else { number };
            queue.iter_mut().skip(r).step_by(classes).for_each(|q| *q *= each);
        }
        let inverse =
            population.iter().map(|&number| if number > 0.0 { 1.0 / number } else { 1.0 }).collect();
        let met = (0..classes * classes).map(|at| {
            let (r, j) = (at / classes, at % classes);
            if r == j {
                (population[r] - 1.0).max(0.0)
            } else {
                population[r]
            }
        });
        let met = met.collect();
        Self {
            inverse,
            met,
            residence_s: vec![0.0; queue.len()],
            totals: vec![0.0; classes],
            population,
            queue,
        }
    }

    fn share(&self, at: usize, class: usize) -> f64 {
        self.queue[at] * self.inverse[class]
    }

    fn iterate(&mut self, s: &SingleServers<'_>, change: &[f64], stop: Stop) -> bool {
        let mut steps = (0..stop.rounds).map(|_| self.step(s, change, stop.tolerance));
        steps.find(|step| *step != StepOutcome::Moving) == Some(StepOutcome::Settled)
    }

    fn step(&mut self, s: &SingleServers<'_>, change: &[f64], tolerance: f64) -> StepOutcome {
        // For the compiler: where it knows how many there are, the loops over classes are none.
        match self.population.len() {
            1 => self.step_of(1, s, change, tolerance),
            2 => self.step_of(2, s, change, tolerance),
            3 => self.step_of(3, s, change, tolerance),
            4 => self.step_of(4, s, change, tolerance),
            classes => self.step_of(classes, s, change, tolerance),
        }
    }

    #[inline(always)]
    fn step_of(
        &mut self,
        classes: usize,
        s: &SingleServers<'_>,
        change: &[f64],
        tolerance: f64,
    ) -> StepOutcome {
        let (inverse, met) = (&self.inverse[..classes], &self.met[..classes * classes]);
        let (totals, population) = (&mut self.totals[..classes], &self.population[..classes]);
        totals.copy_from_slice(s.think_s);
        let stations = self.queue.chunks_exact(classes).zip(change.chunks_exact(classes * classes));
        let times = self.residence_s.chunks_exact_mut(classes).zip(s.demands_s.chunks_exact(classes));
        for ((queue, change), (residence, demands)) in stations.zip(times) {
            for j in 0..classes {
                let found: f64 = (0..classes)
                    .map(|r| met[r * classes + j] * (queue[r] * inverse[r] + change[r * classes + j]))
                    .sum();
                residence[j] = demands[j] * (1.0 + found.max(0.0));
                totals[j] += residence[j];
            }
        }
        for (total, &number) in totals.iter_mut().zip(population) {
            *total = number / if *total > 0.0 { *total } else { 1.0 };
        }
        let (mut settled, mut broken) = (true, false);
        let both = self.queue.chunks_exact_mut(classes).zip(self.residence_s.chunks_exact(classes));
        for (queue, residence) in both {
            for j in 0..classes {
                let new = residence[j] * totals[j];
                let moved = (new - queue[j]).abs();
                settled &= moved <= tolerance * (1.0 + new.abs());
                broken |= moved.is_nan();
                queue[j] = new;
            }
        }
        match (broken, settled) {
            (true, _) => StepOutcome::Broken,
            (_, true) => StepOutcome::Settled,
            _ => StepOutcome::Moving,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOP: Stop = Stop { tolerance: 1e-12, rounds: 20_000 };

    #[test]
    fn one_customer_waits_for_nobody() {
        let point =
            SingleServers { demands_s: &[0.2, 0.0, 0.5, 0.0], think_s: &[1.0, 1.0], population: &[1.0, 0.0] };
        let found = &run(&[point], STOP)[0];
        assert!(found.settled);
        assert!((found.queue[0] - 0.2 / 1.7).abs() < 1e-15 && (found.queue[2] - 0.5 / 1.7).abs() < 1e-15);
        assert_eq!(found.queue[1], 0.0);
    }

    #[test]
    fn what_is_no_number_does_not_settle() {
        for demands_s in [[0.2, f64::NAN], [f64::NAN, 0.2]] {
            let point =
                SingleServers { demands_s: &demands_s, think_s: &[1.0, 1.0], population: &[2.0, 1.0] };
            assert!(!run(&[point], STOP)[0].settled, "{demands_s:?}");
        }
    }

    /// Equal stations hold equal shares at every population, which is what Linearizer supposes: exact, X = N/(D (K + N - 1)).
    #[test]
    fn equal_stations_are_exact() {
        let point = SingleServers { demands_s: &[0.1; 8], think_s: &[0.0, 0.0], population: &[3.0, 5.0] };
        let found = &run(&[point], STOP)[0];
        let residence = 0.1 * (1.0 + 7.0 / 4.0);
        assert!(found.residence_s.iter().all(|r| (r / residence - 1.0).abs() < 1e-11), "{found:?}");
    }
}
