//! What is wrong with a configuration.

use std::fmt;

use sojourn_dist::DistError;

/// The configuration is refused.
#[derive(Debug)]
pub enum ConfigError {
    Parse { what: String },
    Value { place: String, value: String, remedy: &'static str },
    Process { place: String, source: DistError },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Parse { what } => {
                write!(f, "load configuration: {what}; correct or remove this key")
            }
            ConfigError::Value { place, value, remedy } => write!(f, "{place} is {value}; {remedy}"),
            ConfigError::Process { place, source } => write!(f, "{place}: {source}"),
        }
    }
}

impl std::error::Error for ConfigError {}

/// # Errors
/// `ConfigError::Value` where `holds` is false.
pub(crate) fn check(
    holds: bool,
    place: &str,
    value: impl std::fmt::Display,
    remedy: &'static str,
) -> Result<(), ConfigError> {
    if holds {
        return Ok(());
    }
    Err(ConfigError::Value { place: place.to_string(), value: value.to_string(), remedy })
}
