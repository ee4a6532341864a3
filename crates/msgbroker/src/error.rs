//! What can go wrong before and while serving.

use std::fmt;
use std::io;

use sojourn_record::WriteError;

/// Why a service did not start or had to end.
#[derive(Debug)]
pub enum ServeError {
    Value { name: &'static str, value: f64, least: f64, most: f64 },
    Token,
    Address { address: String, source: io::Error },
    Database { what: String },
    Version { found: i32, known: i32 },
    System { what: &'static str, source: io::Error },
    Record(WriteError),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value { name, value, least, most } => {
                write!(f, "{name} = {value}: give {least} to {most}")
            }
            Self::Token => {
                write!(f, "token: not printable ASCII without spaces; give one that a header can carry")
            }
            Self::Address { address, source } => {
                write!(
                    f,
                    "{address}: {source}; give an address of this host as ip:port that nobody listens on"
                )
            }
            Self::Database { what } => {
                write!(f, "database: {what}; start PostgreSQL first, or check --database")
            }
            Self::Version { found, known } => write!(
                f,
                "database: its tables have version {found}, this program knows {known}; use the newer program"
            ),
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
