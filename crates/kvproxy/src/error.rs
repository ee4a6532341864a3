//! What can go wrong before and while serving.

use std::fmt;
use std::io;

use sojourn_record::WriteError;

/// Why a proxy did not start or had to end.
#[derive(Debug)]
pub enum ServeError {
    Value { name: &'static str, value: f64, least: f64, most: f64 },
    Address { address: String, source: io::Error },
    Server { address: String, source: io::Error },
    System { what: &'static str, source: io::Error },
    Record(WriteError),
}

impl fmt::Display for ServeError {
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
            Self::Server { address, source } => {
                write!(f, "server {address}: {source}; start the memcached first, or check --server")
            }
            Self::System { what, source } => write!(f, "{what}: {source}; check the limits of this process"),
            Self::Record(source) => source.fmt(f),
        }
    }
}

impl std::error::Error for ServeError {}

impl From<WriteError> for ServeError {
    fn from(source: WriteError) -> Self {
        Self::Record(source)
    }
}

pub(crate) fn system(what: &'static str) -> impl Fn(io::Error) -> ServeError {
    move |source| ServeError::System { what, source }
}
