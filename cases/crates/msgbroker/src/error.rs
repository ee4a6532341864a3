//! What can go wrong before and while serving.

use std::fmt;

use sojourn_record::WriteError;
use sojourn_serving::ServingError;

/// Why a service did not start or had to end.
#[derive(Debug)]
pub enum ServeError {
    Token,
    Database {
        what: String,
        remedy: &'static str,
    },
    /// Names of queues and senders can be any UTF-8.
    Encoding {
        encoding: String,
    },
    /// A thread of the service panicked.
    Thread {
        name: String,
    },
    Version {
        found: i32,
        known: i32,
    },
    /// What every service can meet.
    Service(ServingError),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token => {
                write!(f, "token: not printable ASCII without spaces; give one that a header can carry")
            }
            Self::Database { what, remedy } => write!(f, "database: {what}; {remedy}"),
            Self::Encoding { encoding } => write!(
                f,
                "database: its encoding is {encoding}, and names can be any UTF-8; \
                make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
            ),
            Self::Thread { name } => {
                write!(
                    f,
                    "the thread {name} panicked; see the line above, report it, and start the service again"
                )
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
