//! Why the shop does not open, or had to close.

use std::fmt;
use std::io;

use sojourn_record::WriteError;
use sojourn_serving::ServingError;
use sojourn_spin::PlacementError;

#[derive(Debug)]
pub enum ServeError {
    Config { key: &'static str, value: String, remedy: String },
    AddressInUse { address: String },
    Address { address: String, source: io::Error },
    Core(PlacementError),
    Files { needed: u64, allowed: u64 },
    Out { path: std::path::PathBuf, source: io::Error },
    Serving(ServingError),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config { key, value, remedy } => write!(f, "web: {key} = {value}: {remedy}"),
            Self::AddressInUse { address } => {
                let port = address.rsplit(':').next().unwrap_or("");
                write!(f, "port {port} is taken (at {address}); choose --port or stop the other")
            }
            Self::Address { address, source } => {
                write!(
                    f,
                    "cannot listen at {address}: {source}; give ip:port of one of this host's addresses"
                )
            }
            Self::Core(error) => error.fmt(f),
            Self::Files { needed, allowed } => {
                write!(
                    f,
                    "{needed} open files needed, {allowed} allowed; raise ulimit -n or lower max_connections"
                )
            }
            Self::Out { path, source } => {
                write!(f, "cannot make {}: {source}; choose another --out", path.display())
            }
            Self::Serving(error) => error.fmt(f),
        }
    }
}

impl From<WriteError> for ServeError {
    fn from(error: WriteError) -> Self {
        Self::Serving(error.into())
    }
}

impl From<ServingError> for ServeError {
    fn from(error: ServingError) -> Self {
        Self::Serving(error)
    }
}

impl std::error::Error for ServeError {}
