//! What can go wrong before and while a load runs.

use std::fmt;
use std::io;

use sojourn_loadgen::LoadError;
use sojourn_nbdproto::ProtocolError;

/// Why a load did not start or had to end.
#[derive(Debug)]
pub enum BlockLoadError {
    /// What somebody gave is wrong.
    Value { place: String, value: String, remedy: String },
    /// The target cannot be used.
    Target { target: String, cause: io::Error, remedy: &'static str },
    /// What answers is no NBD server that we can use.
    Nbd { url: String, cause: ProtocolError },
    /// A call of the system that the load cannot do without.
    System { call: &'static str, cause: io::Error },
    /// The run's record.
    Load(LoadError),
}

impl BlockLoadError {
    /// An error of a part that says itself `value; remedy`.
    pub(crate) fn of_text(text: &str) -> BlockLoadError {
        let (value, remedy) = text.rsplit_once("; ").unwrap_or((text, "change it"));
        let (place, value) = value.split_once(" is ").unwrap_or(("block load", value));
        BlockLoadError::Value {
            place: place.to_string(),
            value: value.to_string(),
            remedy: remedy.to_string(),
        }
    }
}

impl fmt::Display for BlockLoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value { place, value, remedy } => write!(f, "{place} is {value}; {remedy}"),
            Self::Target { target, cause, remedy } => write!(f, "{target}: {cause}; {remedy}"),
            Self::Nbd { url, cause } => write!(f, "{url}: {cause}; check the server and the export's name"),
            Self::System { call, cause } => {
                write!(f, "{call}: {cause}; check the limits of this process (ulimit -a)")
            }
            Self::Load(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BlockLoadError {}

impl From<LoadError> for BlockLoadError {
    fn from(error: LoadError) -> BlockLoadError {
        BlockLoadError::Load(error)
    }
}

/// # Errors
/// `BlockLoadError::Value` where `holds` is false.
pub(crate) fn check(
    holds: bool,
    place: &str,
    value: impl fmt::Display,
    remedy: impl Into<String>,
) -> Result<(), BlockLoadError> {
    if holds {
        return Ok(());
    }
    Err(BlockLoadError::Value { place: place.to_string(), value: value.to_string(), remedy: remedy.into() })
}
