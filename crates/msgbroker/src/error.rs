//! What can go wrong before and while serving.

use std::fmt;

use sojourn_record::WriteError;
use sojourn_serving::Error;

/// Why a service did not start or had to end.
#[derive(Debug)]
pub enum ServeError {
    Token,
    Database {
        what: String,
    },
    Version {
        found: i32,
        known: i32,
    },
    /// What every service can meet.
    Service(Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token => {
                write!(f, "token: not printable ASCII without spaces; give one that a header can carry")
            }
            Self::Database { what } => {
                write!(f, "database: {what}; start PostgreSQL first, or check --database")
            }
            Self::Version { found, known } => write!(
                f,
                "database: its tables have version {found}, this program knows {known}; use the newer program"
            ),
            Self::Service(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ServeError {}

impl From<Error> for ServeError {
    fn from(error: Error) -> Self {
        Self::Service(error)
    }
}

impl From<WriteError> for ServeError {
    fn from(source: WriteError) -> Self {
        Self::Service(source.into())
    }
}
