//! A number of bytes, or of keys, that a load draws.

use serde::{Deserialize, Serialize};

use crate::config_error::check;
use crate::config_error::ConfigError;

/// A number of bytes or of keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "snake_case")]
pub enum SizeDistribution {
    Fixed {
        value: u32,
    },
    /// Each whole number from `low` to `high`, both included.
    Uniform {
        low: u32,
        high: u32,
    },
    List {
        values: Vec<u32>,
        weights: Vec<f64>,
    },
}

impl SizeDistribution {
    /// The size at `u` in [0, 1): equal shares of `u` for equal probabilities.
    #[must_use]
    pub fn at(&self, u: f64) -> u32 {
        match self {
            SizeDistribution::Fixed { value } => *value,
            SizeDistribution::Uniform { low, high } => {
                let count = f64::from(high - low) + 1.0;
                (low + (u * count) as u32).min(*high)
            }
            SizeDistribution::List { values, weights } => {
                let mut left = u * weights.iter().sum::<f64>();
                let chosen = weights.iter().position(|weight| {
                    left -= weight;
                    left < 0.0
                });
                values[chosen.unwrap_or(values.len() - 1)]
            }
        }
    }

    #[must_use]
    pub fn low(&self) -> u32 {
        match self {
            SizeDistribution::Fixed { value } => *value,
            SizeDistribution::Uniform { low, .. } => *low,
            SizeDistribution::List { values, .. } => values.iter().copied().min().unwrap_or(0),
        }
    }

    #[must_use]
    pub fn high(&self) -> u32 {
        match self {
            SizeDistribution::Fixed { value } => *value,
            SizeDistribution::Uniform { high, .. } => *high,
            SizeDistribution::List { values, .. } => values.iter().copied().max().unwrap_or(0),
        }
    }

    /// # Errors
    /// `ConfigError::Value` at `place` for weights that are none, or sizes that are not from `least` to `most`.
    pub fn validate(
        &self,
        place: &str,
        least: u32,
        most: u32,
        remedy: &'static str,
    ) -> Result<(), ConfigError> {
        let whole = match self {
            SizeDistribution::Fixed { .. } => true,
            SizeDistribution::Uniform { low, high } => low <= high,
            SizeDistribution::List { values, weights } => {
                let usable = weights.iter().all(|w| *w >= 0.0 && w.is_finite());
                values.len() == weights.len() && usable && weights.iter().sum::<f64>() > 0.0
            }
        };
        check(
            whole,
            place,
            format!("{self:?}"),
            "give low <= high, or one weight of at least 0 for each value",
        )?;
        let within = self.low() >= least && self.high() <= most;
        check(within, place, format!("{} to {}", self.low(), self.high()), remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_by_share() {
        let list = SizeDistribution::List { values: vec![5, 9], weights: vec![1.0, 3.0] };
        assert_eq!([0.0, 0.2499, 0.25, 0.999_999].map(|u| list.at(u)), [5, 5, 9, 9]);
        let uniform = SizeDistribution::Uniform { low: 1, high: 4 };
        assert_eq!([0.0, 0.25, 0.5, 0.9999].map(|u| uniform.at(u)), [1, 2, 3, 4]);
        assert_eq!((list.low(), list.high(), uniform.low(), uniform.high()), (5, 9, 1, 4));
    }
}
