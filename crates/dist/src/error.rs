//! A parameter outside its range.

use std::fmt;

/// Which parameter, its value, and what is allowed.
#[derive(Debug, Clone, PartialEq)]
pub enum DistError {
    /// A number outside its range.
    Range { parameter: String, value: f64, allowed: &'static str },
    /// A list that does not fit its meaning.
    List { parameter: &'static str, what: String, remedy: &'static str },
}

impl fmt::Display for DistError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DistError::Range { parameter, value, allowed } => {
                write!(f, "{parameter} is {value}; give {allowed}")
            }
            DistError::List { parameter, what, remedy } => write!(f, "{parameter}: {what}; {remedy}"),
        }
    }
}

impl std::error::Error for DistError {}

pub(crate) fn positive(parameter: &str, value: f64) -> Result<(), DistError> {
    in_range(parameter, value, value > 0.0, "a finite number above 0")
}

pub(crate) fn not_negative(parameter: &str, value: f64) -> Result<(), DistError> {
    in_range(parameter, value, value >= 0.0, "a finite number, 0 or more")
}

pub(crate) fn in_range(
    parameter: &str,
    value: f64,
    holds: bool,
    allowed: &'static str,
) -> Result<(), DistError> {
    if holds && value.is_finite() {
        return Ok(());
    }
    Err(DistError::Range { parameter: parameter.to_string(), value, allowed })
}
