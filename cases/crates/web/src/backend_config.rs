//! What `/wait` waits for, and which settings there can be.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sojourn_dist::Distribution;

use crate::backend_pool::BackendSettings;
use crate::ServeError;

/// Most servers, and most requests present.
pub(crate) const MOST_WORKERS: usize = 1024;
pub(crate) const MOST_CAP: usize = 1_000_000;
/// What `/wait` waits for.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BackendConfig {
    /// Time of a service, mean in s; it takes no CPU.
    pub service: Distribution,
    /// What holds while nobody's lease does.
    pub safe: BackendSettings,
    /// The Unix socket at which settings are changed; they stay as they are if null.
    #[serde(default)]
    pub control: Option<PathBuf>,
}

impl BackendConfig {
    pub(crate) fn check(&self) -> Result<(), ServeError> {
        let refuse = |key, value, remedy: String| Err(ServeError::Config { key, value, remedy });
        if let Err(error) = self.service.validate() {
            return refuse(
                "backend.service",
                serde_json::to_string(&self.service).unwrap_or_default(),
                error.to_string(),
            );
        }
        if self.service.mean() > 60.0 {
            return refuse(
                "backend.service",
                self.service.mean().to_string(),
                "its mean is in s and at most 60".into(),
            );
        }
        check_settings(self.safe).or_else(|remedy| refuse("backend.safe", format!("{:?}", self.safe), remedy))
    }
}

/// Why these settings cannot be.
pub(crate) fn check_settings(settings: BackendSettings) -> Result<(), String> {
    let BackendSettings { workers, cap } = settings;
    if (1..=MOST_WORKERS).contains(&workers) && (1..=MOST_CAP).contains(&cap) {
        return Ok(());
    }
    Err(format!(
        "workers {workers}, cap {cap}: give 1 to {MOST_WORKERS} workers and a cap of 1 to {MOST_CAP}"
    ))
}
