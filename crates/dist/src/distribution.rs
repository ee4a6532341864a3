//! Distributions of service and think times.

use serde::{Deserialize, Serialize};

use crate::error::{in_range, not_negative, positive};
use crate::random_stream::branch;
use crate::{moments, normal_quantile, DistError, Stream};

/// A distribution on the non-negative numbers, in the unit of its mean. `scv` is the squared
/// coefficient of variation, variance over mean squared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Distribution {
    Exponential {
        mean: f64,
    },
    Deterministic {
        mean: f64,
    },
    Erlang {
        mean: f64,
        shape: u32,
    },
    Hyperexponential {
        probabilities: Vec<f64>,
        means: Vec<f64>,
    },
    Uniform {
        low: f64,
        high: f64,
    },
    Lognormal {
        mean: f64,
        scv: f64,
    },
    Weibull {
        mean: f64,
        shape: f64,
    },
    /// P(X > x) = (low / x)^shape with low = mean (shape - 1) / shape.
    Pareto {
        mean: f64,
        shape: f64,
    },
    /// Time to absorption of a chain: first phase from `start`, generator among the phases `rates` (1/s).
    #[serde(rename = "phase_type")]
    PhaseType {
        start: Vec<f64>,
        rates: Vec<Vec<f64>>,
    },
    /// One of `values`, each as likely.
    Empirical {
        values: Vec<f64>,
    },
}

impl Distribution {
    /// One sample; of a distribution that `validate` accepts.
    pub fn sample(&self, stream: &mut Stream) -> f64 {
        match self {
            Distribution::Exponential { mean } => mean * stream.exponential(),
            Distribution::Deterministic { mean } => *mean,
            Distribution::Erlang { mean, shape } => {
                let sum: f64 = (0..*shape).map(|_| stream.exponential()).sum();
                mean * sum / f64::from(*shape)
            }
            Distribution::Hyperexponential { probabilities, means } => {
                means.get(branch(probabilities, stream.uniform())).map_or(0.0, |m| m * stream.exponential())
            }
            Distribution::Uniform { low, high } => low + (high - low) * stream.uniform(),
            Distribution::Lognormal { mean, scv } => {
                // The middle of the 2^-53 cell keeps u away from 0, where the quantile is infinite.
                let u = stream.uniform() + 0.5 / (1u64 << 53) as f64;
                lognormal_quantile(*mean, *scv, u)
            }
            Distribution::Weibull { .. } | Distribution::Pareto { .. } => {
                self.quantile(stream.uniform()).unwrap_or(0.0)
            }
            Distribution::PhaseType { start, rates } => moments::phases(start, rates, stream),
            Distribution::Empirical { values } => {
                values.get(stream.below(values.len() as u64) as usize).copied().unwrap_or(0.0)
            }
        }
    }

    pub fn mean(&self) -> f64 {
        match self {
            Distribution::Exponential { mean }
            | Distribution::Deterministic { mean }
            | Distribution::Erlang { mean, .. }
            | Distribution::Lognormal { mean, .. }
            | Distribution::Weibull { mean, .. }
            | Distribution::Pareto { mean, .. } => *mean,
            Distribution::Hyperexponential { probabilities, means } => {
                probabilities.iter().zip(means).map(|(p, m)| p * m).sum()
            }
            Distribution::Uniform { low, high } => (low + high) / 2.0,
            Distribution::PhaseType { start, rates } => moments::phase_type(start, rates).0,
            Distribution::Empirical { values } => moments::raw(values, 1),
        }
    }

    /// Squared coefficient of variation; 0 where the mean is 0.
    pub fn scv(&self) -> f64 {
        let scv = match self {
            Distribution::Exponential { .. } => 1.0,
            Distribution::Deterministic { .. } => 0.0,
            Distribution::Erlang { shape, .. } => 1.0 / f64::from(*shape),
            Distribution::Hyperexponential { probabilities, means } => {
                let second: f64 = probabilities.iter().zip(means).map(|(p, m)| 2.0 * p * m * m).sum();
                second / (self.mean() * self.mean()) - 1.0
            }
            Distribution::Uniform { low, high } => {
                let relative = (high - low) / self.mean();
                relative * relative / 12.0
            }
            Distribution::Lognormal { scv, .. } => *scv,
            Distribution::Weibull { shape, .. } => moments::weibull_scv(*shape),
            Distribution::Pareto { shape, .. } => moments::pareto_scv(*shape),
            Distribution::PhaseType { start, rates } => {
                let (mean, second) = moments::phase_type(start, rates);
                second / (mean * mean) - 1.0
            }
            Distribution::Empirical { values } => {
                moments::raw(values, 2) / moments::raw(values, 1).powi(2) - 1.0
            }
        };
        if self.mean() > 0.0 {
            scv
        } else {
            0.0
        }
    }

    /// The quantile at u in [0, 1], where it has a closed form; `None` for Erlang, hyper-exponential, phase-type.
    pub fn quantile(&self, u: f64) -> Option<f64> {
        match self {
            Distribution::Exponential { mean } => Some(-mean * (-u).ln_1p()),
            Distribution::Deterministic { mean } => Some(*mean),
            Distribution::Uniform { low, high } => Some(low + (high - low) * u),
            Distribution::Lognormal { mean, scv } => Some(lognormal_quantile(*mean, *scv, u)),
            Distribution::Weibull { mean, shape } => {
                Some(moments::weibull_scale(*mean, *shape) * (-(-u).ln_1p()).powf(1.0 / shape))
            }
            Distribution::Pareto { mean, shape } => {
                Some(moments::pareto_low(*mean, *shape) * (-(-u).ln_1p() / shape).exp())
            }
            Distribution::Empirical { values } => moments::empirical_quantile(values, u),
            Distribution::Erlang { .. }
            | Distribution::Hyperexponential { .. }
            | Distribution::PhaseType { .. } => None,
        }
    }

    /// Refuses parameters outside their range; a mean of 0 is allowed (no think time).
    pub fn validate(&self) -> Result<(), DistError> {
        match self {
            Distribution::Exponential { mean } | Distribution::Deterministic { mean } => {
                not_negative("mean", *mean)
            }
            Distribution::Erlang { mean, shape } => {
                let shape = f64::from(*shape);
                not_negative("mean", *mean)?;
                in_range("shape", shape, (1.0..=1e4).contains(&shape), "a whole number from 1 to 10000")
            }
            Distribution::Hyperexponential { probabilities, means } => validate_mix(probabilities, means),
            Distribution::Uniform { low, high } => {
                not_negative("low", *low)?;
                in_range("high", *high, high >= low, "a finite number, at least low")
            }
            Distribution::Lognormal { mean, scv } => {
                positive("mean", *mean)?;
                not_negative("scv", *scv)
            }
            Distribution::Weibull { mean, shape } => {
                positive("mean", *mean)?;
                in_range("shape", *shape, *shape >= 0.01, "a finite number, at least 0.01")
            }
            Distribution::Pareto { mean, shape } => {
                positive("mean", *mean)?;
                in_range(
                    "shape",
                    *shape,
                    *shape > 1.0,
                    "a finite number above 1, below which there is no mean",
                )
            }
            Distribution::PhaseType { start, rates } => moments::validate_phases(start, rates),
            Distribution::Empirical { values } => moments::validate_values(values),
        }
    }
}

fn lognormal_quantile(mean: f64, scv: f64, u: f64) -> f64 {
    let variance = scv.ln_1p();
    if variance == 0.0 {
        return mean;
    }
    mean * (variance.sqrt() * normal_quantile::quantile(u) - variance / 2.0).exp()
}

fn validate_mix(probabilities: &[f64], means: &[f64]) -> Result<(), DistError> {
    let wrong = |what, remedy| Err(DistError::List { parameter: "probabilities", what, remedy });
    if probabilities.is_empty() || probabilities.len() != means.len() {
        let what = format!("{} probabilities for {} means", probabilities.len(), means.len());
        return wrong(what, "give as many of each, at least one");
    }
    for (index, p) in probabilities.iter().enumerate() {
        let allowed = "a probability in [0, 1]";
        in_range(&format!("probabilities[{index}]"), *p, (0.0..=1.0).contains(p), allowed)?;
    }
    for (index, mean) in means.iter().enumerate() {
        not_negative(&format!("means[{index}]"), *mean)?;
    }
    let sum: f64 = probabilities.iter().sum();
    if (sum - 1.0).abs() > 1e-9 {
        return wrong(format!("their sum is {sum}"), "make them add up to 1");
    }
    Ok(())
}
