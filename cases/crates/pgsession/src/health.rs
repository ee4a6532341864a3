//! Whether the database lets us in, as operators are told it: a line in the log when that changes.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::database_error::DatabaseError;
use sojourn_record::clock::{now, s};
use sojourn_serving::{log, LogLevel};

#[derive(Debug, Default)]
pub struct DatabaseHealth {
    /// Since when it is away, ns; 0 while it is not.
    down_since: AtomicU64,
}

impl DatabaseHealth {
    pub fn is_up(&self) -> bool {
        self.down_since.load(Ordering::Relaxed) == 0
    }

    /// A new session could not be had.
    pub fn down(&self, fault: &DatabaseError) {
        let first = self.down_since.compare_exchange(0, now(), Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if first {
            log(LogLevel::Error, "database_down", &[("reason", &fault.text()), ("remedy", &fault.remedy())]);
        }
    }

    /// A new session was had.
    pub fn up(&self) {
        let since = self.down_since.swap(0, Ordering::Relaxed);
        if since > 0 {
            log(LogLevel::Info, "database_up", &[("after_s", &format!("{:.3}", s(now() - since)))]);
        }
    }
}
