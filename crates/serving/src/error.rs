//! What can go wrong before and while any of them serves.

use std::fmt;
use std::io;

use sojourn_record::WriteError;

/// Why a service did not start or had to end; each has more of its own.
#[derive(Debug)]
pub enum ServingError {
    Value { name: &'static str, value: f64, least: f64, most: f64 },
    Address { address: String, source: io::Error },
    System { what: &'static str, source: io::Error },
    Record(WriteError),
}

impl fmt::Display for ServingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value { name, value, least, most } => {
                write!(f, "{name} = {value}: give {least} to {most}")
            }
            Self::Address { address, source } => {
                write!(
                    f,
                    "{address}: {source}; give an address of this host as ip:port that nobody listens on"
                )
            }
            Self::System { what, source } => write!(f, "{what}: {source}; check the limits of this process"),
            Self::Record(source) => source.fmt(f),
        }
    }
}

impl std::error::Error for ServingError {}

impl From<WriteError> for ServingError {
    fn from(source: WriteError) -> Self {
        Self::Record(source)
    }
}

/// A call of the system that failed: which.
pub fn system(what: &'static str) -> impl Fn(io::Error) -> ServingError {
    move |source| ServingError::System { what, source }
}

/// # Errors
/// `ServingError::Value` for a value that is not from `least` to `most`.
pub fn within(name: &'static str, value: f64, least: f64, most: f64) -> Result<(), ServingError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(ServingError::Value { name, value, least, most })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_out_of_range_is_named_with_its_range() {
        assert!(within("workers", 1.0, 1.0, 8.0).is_ok() && within("workers", 8.0, 1.0, 8.0).is_ok());
        for (value, told) in [(9.0, "workers = 9: give 1 to 8"), (f64::NAN, "workers = NaN: give 1 to 8")] {
            assert_eq!(within("workers", value, 1.0, 8.0).expect_err("out of range").to_string(), told);
        }
    }
}
