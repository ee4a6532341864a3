//! Arrival processes of a simulation, which has no end: renewal, MAP, steps that repeat, a trace.

use serde::{Deserialize, Serialize};

use crate::error::{in_range, not_negative, positive};
use crate::random_stream::branch;
use crate::{Arrivals, DistError, Distribution, Sampler, Stream};

/// What arrives at a simulated network from outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ArrivalProcess {
    /// Independent times between arrivals, the first after one of them.
    Renewal(Distribution),
    NonRenewal(NonRenewalProcess),
}

/// Arrivals that depend on what was before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum NonRenewalProcess {
    /// Markovian arrivals: moves without an arrival `D0`, with one `D1` (1/s); an MMPP where D1 is diagonal.
    Map {
        #[serde(rename = "D0")]
        d0: Vec<Vec<f64>>,
        #[serde(rename = "D1")]
        d1: Vec<Vec<f64>>,
    },
    /// Poisson, with a rate that changes: `[rate per s, duration in s]`, from the start again after the last.
    Steps { steps: Vec<(f64, f64)> },
    /// Given times, ascending from 0; nothing arrives after the last.
    Trace { times_s: Vec<f64> },
}

impl ArrivalProcess {
    pub fn validate(&self) -> Result<(), DistError> {
        match self {
            ArrivalProcess::Renewal(gap) => {
                gap.validate()?;
                positive("mean", gap.mean())
            }
            ArrivalProcess::NonRenewal(NonRenewalProcess::Map { d0, d1 }) => validate_map(d0, d1),
            ArrivalProcess::NonRenewal(NonRenewalProcess::Steps { steps }) => {
                Arrivals::Steps { steps: steps.clone() }.validate()
            }
            ArrivalProcess::NonRenewal(NonRenewalProcess::Trace { times_s }) => {
                Arrivals::Trace { times_s: times_s.clone() }.validate()
            }
        }
    }

    /// Its arrival times, ascending, without end but for a trace.
    pub fn times(&self, stream: Stream) -> ArrivalTimes {
        let state = match self {
            ArrivalProcess::Renewal(gap) => ProcessState::Renewal(Sampler::new(gap)),
            ArrivalProcess::NonRenewal(NonRenewalProcess::Map { d0, d1 }) => {
                ProcessState::Map { moves: moves(d0, d1), phase: 0, fresh: true }
            }
            ArrivalProcess::NonRenewal(NonRenewalProcess::Steps { steps }) => {
                ProcessState::Steps { steps: steps.clone(), at: 0, end_s: steps[0].1 }
            }
            ArrivalProcess::NonRenewal(NonRenewalProcess::Trace { times_s }) => {
                ProcessState::Trace { times_s: times_s.clone(), next: 0 }
            }
        };
        ArrivalTimes { stream, now_s: 0.0, state }
    }
}

/// Mean time in a phase, and the probabilities of the next phase, first without and then with an arrival.
#[derive(Debug, Clone)]
struct PhaseTransitions {
    mean: f64,
    to: Vec<f64>,
}

fn moves(d0: &[Vec<f64>], d1: &[Vec<f64>]) -> Vec<PhaseTransitions> {
    let row = |i: usize| {
        let total = -d0[i][i];
        let without = d0[i].iter().enumerate().map(|(j, r)| if i == j { 0.0 } else { r / total });
        PhaseTransitions { mean: 1.0 / total, to: without.chain(d1[i].iter().map(|r| r / total)).collect() }
    };
    (0..d0.len()).map(row).collect()
}

fn validate_map(d0: &[Vec<f64>], d1: &[Vec<f64>]) -> Result<(), DistError> {
    let n = d0.len();
    let square = |d: &[Vec<f64>]| d.len() == n && d.iter().all(|row| row.len() == n);
    let wrong = |what, remedy| Err(DistError::List { parameter: "D0", what, remedy });
    if n == 0 || !square(d0) || !square(d1) {
        return wrong(format!("{n} rows, D1 has {}", d1.len()), "give two square matrices of one size");
    }
    for i in 0..n {
        for j in 0..n {
            if i != j {
                not_negative(&format!("D0[{i}][{j}]"), d0[i][j])?;
            }
            not_negative(&format!("D1[{i}][{j}]"), d1[i][j])?;
        }
        in_range(&format!("D0[{i}][{i}]"), d0[i][i], d0[i][i] < 0.0, "a finite number below 0")?;
        let sum: f64 = d0[i].iter().chain(&d1[i]).sum();
        if sum.abs() > 1e-9 * -d0[i][i] {
            return wrong(format!("row {i} of D0 + D1 adds up to {sum}"), "make it add up to 0");
        }
    }
    if d1.iter().flatten().all(|rate| *rate == 0.0) {
        return wrong("nothing in D1 is above 0".to_string(), "give at least one rate of arrivals");
    }
    Ok(())
}

#[derive(Debug, Clone)]
enum ProcessState {
    Renewal(Sampler),
    Map { moves: Vec<PhaseTransitions>, phase: usize, fresh: bool },
    Steps { steps: Vec<(f64, f64)>, at: usize, end_s: f64 },
    Trace { times_s: Vec<f64>, next: usize },
}

/// The times of one process, s.
#[derive(Debug, Clone)]
pub struct ArrivalTimes {
    stream: Stream,
    now_s: f64,
    state: ProcessState,
}

impl Iterator for ArrivalTimes {
    type Item = f64;

    #[inline]
    fn next(&mut self) -> Option<f64> {
        if let ProcessState::Renewal(gap) = &self.state {
            self.now_s += gap.draw(&mut self.stream);
            return Some(self.now_s);
        }
        self.changing()
    }
}

impl ArrivalTimes {
    /// Appends the times before `end_s`; `next_s` is the one that comes next, and is left at the first that does not
    /// belong; infinite after the last.
    pub fn before(&mut self, end_s: f64, next_s: &mut f64, times_s: &mut Vec<f64>) {
        if let ProcessState::Renewal(Sampler::Exponential(mean)) = self.state {
            // The same numbers as one by one, with the stream in registers.
            let mut stream = self.stream.clone();
            while *next_s < end_s {
                times_s.push(*next_s);
                self.now_s += mean * stream.quick_exponential();
                *next_s = self.now_s;
            }
            self.stream = stream;
            return;
        }
        while *next_s < end_s {
            times_s.push(*next_s);
            *next_s = self.next().unwrap_or(f64::INFINITY);
        }
    }

    /// Appends the next `count` times, fewer at the end.
    pub fn append(&mut self, count: usize, times_s: &mut Vec<f64>) {
        if let ProcessState::Renewal(Sampler::Exponential(mean)) = self.state {
            // The same numbers as one by one, with the stream in registers.
            let (mut stream, mut now_s) = (self.stream.clone(), self.now_s);
            let next = |_| {
                now_s += mean * stream.quick_exponential();
                now_s
            };
            times_s.extend((0..count).map(next));
            (self.stream, self.now_s) = (stream, now_s);
            return;
        }
        times_s.extend(self.by_ref().take(count));
    }

    fn changing(&mut self) -> Option<f64> {
        match &mut self.state {
            ProcessState::Renewal(_) => None,
            ProcessState::Trace { times_s, next } => {
                *next += 1;
                times_s.get(*next - 1).copied()
            }
            ProcessState::Map { moves, phase, fresh } => {
                if std::mem::take(fresh) {
                    *phase = first_phase(moves, &mut self.stream);
                }
                loop {
                    self.now_s += moves[*phase].mean * self.stream.quick_exponential();
                    let to = branch(&moves[*phase].to, self.stream.uniform());
                    *phase = to % moves.len();
                    if to >= moves.len() {
                        return Some(self.now_s);
                    }
                }
            }
            ProcessState::Steps { steps, at, end_s } => {
                // A unit-rate arrival spent over the steps: exact, without thinning.
                let mut left = self.stream.quick_exponential();
                loop {
                    let rate = steps[*at].0;
                    let room = rate * (*end_s - self.now_s);
                    if left < room {
                        self.now_s += left / rate;
                        return Some(self.now_s);
                    }
                    left -= room;
                    self.now_s = *end_s;
                    *at = (*at + 1) % steps.len();
                    *end_s += steps[*at].1;
                }
            }
        }
    }
}

/// A phase from the stationary distribution, near enough: where a long walk by the jump chain's times has led.
fn first_phase(moves: &[PhaseTransitions], stream: &mut Stream) -> usize {
    let n = moves.len();
    let fastest = moves.iter().map(|m| m.mean).fold(f64::INFINITY, f64::min);
    let mut p = vec![1.0 / n as f64; n];
    // Uniformisation's power iteration; a start that is only nearly stationary is warm-up, which is cut anyway.
    for _ in 0..2000 {
        let mut q = vec![0.0; n];
        for (i, m) in moves.iter().enumerate() {
            let leave = 0.9 * fastest / m.mean;
            q[i] += p[i] * (1.0 - leave);
            for (j, share) in m.to.iter().enumerate() {
                q[j % n] += p[i] * leave * share;
            }
        }
        p = q;
    }
    branch(&p, stream.uniform())
}
