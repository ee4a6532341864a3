//! Why the service did not start or had to end.

use std::fmt;

use sojourn_pgsession::{ConnInfoError, DatabaseError};
use sojourn_serving::ServingError;

#[derive(Debug)]
pub enum ServeError {
    Serving(ServingError),
    Database { what: String, remedy: &'static str },
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serving(error) => error.fmt(f),
            Self::Database { what, remedy } => write!(f, "database: {what}; {remedy}"),
        }
    }
}

impl std::error::Error for ServeError {}

impl From<ServingError> for ServeError {
    fn from(error: ServingError) -> Self {
        Self::Serving(error)
    }
}

impl From<DatabaseError> for ServeError {
    fn from(fault: DatabaseError) -> Self {
        let remedy = match fault.reason.sqlstate.as_str() {
            "42P01" => {
                "load its tables first: sojourn serve bulletin --postgresql-url auto makes a database of its own"
            }
            _ => fault.remedy(),
        };
        Self::Database { what: fault.text(), remedy }
    }
}

impl From<ConnInfoError> for ServeError {
    fn from(ConnInfoError(what): ConnInfoError) -> Self {
        Self::Database { what, remedy: "check --postgresql-url" }
    }
}
