//! A distribution made ready for many draws: what can be computed once is, and the exponential is the quick one.

use crate::portable_math::{exp, ln};
use crate::random_stream::branch;
use crate::{moments, Distribution, Stream};

/// Draws of one distribution for the simulator: the same on every machine, other numbers than
/// [`Distribution::sample`].
#[derive(Debug, Clone)]
pub enum Sampler {
    Constant(f64),
    /// Its mean.
    Exponential(f64),
    Other(Box<NonExponential>),
}

#[derive(Debug, Clone)]
pub enum NonExponential {
    /// Mean of a phase, number of phases.
    Erlang(f64, u32),
    Mix(Vec<f64>, Vec<f64>),
    Uniform(f64, f64),
    /// Mean and standard deviation of the logarithm.
    Lognormal(f64, f64),
    /// Scale, 1/shape.
    Weibull(f64, f64),
    /// Low, 1/shape.
    Pareto(f64, f64),
    Phases(Vec<f64>, Vec<Phase>),
    Values(Vec<f64>),
}

/// Mean time in a phase, and the probability of each next phase; the rest is absorption.
#[derive(Debug, Clone)]
pub struct Phase {
    mean: f64,
    next: Vec<f64>,
}

impl Sampler {
    /// Of a distribution that `validate` accepts.
    pub fn new(distribution: &Distribution) -> Sampler {
        let other = match distribution {
            Distribution::Exponential { mean } => return Sampler::Exponential(*mean),
            Distribution::Deterministic { mean } => return Sampler::Constant(*mean),
            Distribution::Erlang { mean, shape } => NonExponential::Erlang(mean / f64::from(*shape), *shape),
            Distribution::Hyperexponential { probabilities, means } => {
                NonExponential::Mix(probabilities.clone(), means.clone())
            }
            Distribution::Uniform { low, high } => NonExponential::Uniform(*low, high - low),
            Distribution::Lognormal { mean, scv } => {
                let variance = ln(1.0 + scv);
                NonExponential::Lognormal(ln(*mean) - variance / 2.0, variance.sqrt())
            }
            Distribution::Weibull { mean, shape } => {
                NonExponential::Weibull(moments::weibull_scale(*mean, *shape), 1.0 / shape)
            }
            Distribution::Pareto { mean, shape } => {
                NonExponential::Pareto(moments::pareto_low(*mean, *shape), 1.0 / shape)
            }
            Distribution::PhaseType { start, rates } => NonExponential::Phases(start.clone(), phases(rates)),
            Distribution::Empirical { values } => NonExponential::Values(values.clone()),
        };
        Sampler::Other(Box::new(other))
    }

    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        match self {
            Sampler::Exponential(mean) => mean * stream.quick_exponential(),
            Sampler::Constant(value) => *value,
            Sampler::Other(other) => other.draw(stream),
        }
    }
}

impl NonExponential {
    fn draw(&self, stream: &mut Stream) -> f64 {
        match self {
            NonExponential::Erlang(mean, shape) => {
                mean * (0..*shape).map(|_| stream.quick_exponential()).sum::<f64>()
            }
            NonExponential::Mix(probabilities, means) => {
                means[branch(probabilities, stream.uniform())] * stream.quick_exponential()
            }
            NonExponential::Uniform(low, width) => low + width * stream.uniform(),
            NonExponential::Lognormal(mean, deviation) => exp(mean + deviation * normal(stream)),
            NonExponential::Weibull(scale, power) => {
                let e = stream.quick_exponential();
                scale * if e > 0.0 { exp(power * ln(e)) } else { 0.0 }
            }
            NonExponential::Pareto(low, power) => low * exp(power * stream.quick_exponential()),
            NonExponential::Phases(start, phases) => walk(start, phases, stream),
            NonExponential::Values(values) => values[stream.below(values.len() as u64) as usize],
        }
    }
}

fn phases(rates: &[Vec<f64>]) -> Vec<Phase> {
    let phase = |(i, row): (usize, &Vec<f64>)| {
        let total = -row[i];
        let share = |(j, rate): (usize, &f64)| if j == i { 0.0 } else { rate / total };
        Phase { mean: 1.0 / total, next: row.iter().enumerate().map(share).collect() }
    };
    rates.iter().enumerate().map(phase).collect()
}

fn walk(start: &[f64], phases: &[Phase], stream: &mut Stream) -> f64 {
    let mut at = branch(start, stream.uniform());
    let mut time = 0.0;
    loop {
        time += phases[at].mean * stream.quick_exponential();
        let mut left = stream.uniform();
        let beyond = |p: &f64| {
            left -= p;
            left < 0.0
        };
        match phases[at].next.iter().position(beyond) {
            Some(next) => at = next,
            None => return time,
        }
    }
}

/// Standard normal by Marsaglia's polar method (Knuth, The Art of Computer Programming 2, 3.4.1 C).
fn normal(stream: &mut Stream) -> f64 {
    loop {
        let (x, y) = (2.0 * stream.uniform() - 1.0, 2.0 * stream.uniform() - 1.0);
        let s = x * x + y * y;
        if s > 0.0 && s < 1.0 {
            return x * (-2.0 * ln(s) / s).sqrt();
        }
    }
}
