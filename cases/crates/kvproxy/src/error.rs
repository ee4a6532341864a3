//! What can go wrong before and while serving.

use std::fmt;
use std::io;

use sojourn_record::WriteError;
use sojourn_serving::ServingError;

/// Why a proxy did not start or had to end.
#[derive(Debug)]
pub enum ServeError {
    Server {
        address: String,
        source: io::Error,
    },
    /// What every service can meet.
    Service(ServingError),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server { address, source } => {
                write!(f, "server {address}: {source}; start the memcached first, or check --server")
            }
            Self::Service(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ServeError {}

impl From<ServingError> for ServeError {
    fn from(error: ServingError) -> Self {
        Self::Service(error)
    }
}

impl From<WriteError> for ServeError {
    fn from(source: WriteError) -> Self {
        Self::Service(source.into())
    }
}
