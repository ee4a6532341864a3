//! Record logs that a service had to give up: it goes on without them.

use std::fmt::Display;
use std::sync::{Mutex, PoisonError};

use crate::{log, LogLevel};

/// Why each of them was given up.
#[derive(Debug, Default)]
pub struct LostLogs(Mutex<Vec<String>>);

impl LostLogs {
    /// A log could not be written: told to the operator at once, and kept for the summary.
    pub fn add(&self, error: &dyn Display) {
        log(LogLevel::Error, "log_stopped", &[("reason", error)]);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(error.to_string());
    }

    /// All so far.
    #[must_use]
    pub fn list(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
