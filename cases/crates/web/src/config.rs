//! What to serve, where, with which threads.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sojourn_dist::Distribution;

use crate::backend_config::BackendConfig;
use crate::ServeError;

/// What to serve, where, with which threads.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// One address a NIC, `ip:port`; port 0 takes a free one.
    pub listen: Vec<String>,
    /// The cores that serve.
    pub cores: Vec<usize>,
    /// Whether a thread stays on its core.
    #[serde(default = "yes")]
    pub pinned: bool,
    #[serde(default = "one")]
    pub threads_per_core: usize,
    /// For each address, the core that takes its NIC's interrupts (it need not serve).
    pub leading: Vec<usize>,
    /// Size of each page's body, 1024..=204800.
    #[serde(default = "default_page_bytes")]
    pub page_bytes: usize,
    /// CPU work of a page beside making it, mean in s; none if null.
    #[serde(default)]
    pub demand: Option<Distribution>,
    #[serde(default)]
    pub seed: u64,
    /// The folder of `app.rec`; nothing is recorded if null.
    #[serde(default)]
    pub out: Option<PathBuf>,
    /// Requests recorded in full; beyond it ever fewer, each with its weight.
    #[serde(default = "default_record_limit")]
    pub record_limit: u64,
    #[serde(default = "default_max_connections")]
    pub max_connections: usize,
    /// A connection without a request for so long is closed.
    #[serde(default = "default_idle_timeout")]
    pub idle_timeout_s: f64,
    #[serde(default = "default_items")]
    pub catalogue_items: usize,
    /// What the page `/wait` waits for; there is no such page if null.
    #[serde(default)]
    pub backend: Option<BackendConfig>,
}

fn yes() -> bool {
    true
}

fn one() -> usize {
    1
}

fn default_page_bytes() -> usize {
    8192
}

fn default_record_limit() -> u64 {
    2_000_000
}

fn default_max_connections() -> usize {
    4096
}

fn default_idle_timeout() -> f64 {
    60.0
}

fn default_items() -> usize {
    1000
}

const LONGEST_DEMAND_S: f64 = 1.0;

impl Config {
    /// The core of a thread.
    pub(crate) fn core_of(&self, thread: usize) -> usize {
        self.cores[thread / self.threads_per_core]
    }

    pub(crate) fn check(&self) -> Result<(), ServeError> {
        let nics = self.listen.len();
        within("listen", nics, 1, 64, "give 1 to 64 addresses, one a NIC")?;
        within("leading", self.leading.len(), nics, nics, "give one core for each address of listen")?;
        within("cores", self.cores.len(), 1, 1024, "give the cores that serve, 1 to 1024")?;
        let distinct = self.cores.iter().collect::<BTreeSet<_>>().len();
        if distinct != self.cores.len() {
            let value = format!("{:?}", self.cores);
            return Err(ServeError::Config { key: "cores", value, remedy: "name each core once".into() });
        }
        within("threads_per_core", self.threads_per_core, 1, 64, "choose 1 to 64")?;
        within("page_bytes", self.page_bytes, 1024, 204_800, "choose 1024 to 204800")?;
        within("catalogue_items", self.catalogue_items, 1, 100_000, "choose 1 to 100000")?;
        within("max_connections", self.max_connections, 1, 1_000_000, "choose 1 to 1000000")?;
        if !(0.1..=86_400.0).contains(&self.idle_timeout_s) {
            let value = self.idle_timeout_s.to_string();
            let remedy = "choose 0.1 to 86400 s".into();
            return Err(ServeError::Config { key: "idle_timeout_s", value, remedy });
        }
        if let Some(backend) = &self.backend {
            backend.check()?;
        }
        self.check_demand()
    }

    fn check_demand(&self) -> Result<(), ServeError> {
        let Some(demand) = &self.demand else { return Ok(()) };
        let refuse = |remedy: String| {
            let value = serde_json::to_string(demand).unwrap_or_default();
            Err(ServeError::Config { key: "demand", value, remedy })
        };
        if let Err(error) = demand.validate() {
            return refuse(error.to_string());
        }
        if demand.mean() > LONGEST_DEMAND_S {
            return refuse(format!("its mean is in s and at most {LONGEST_DEMAND_S}"));
        }
        Ok(())
    }
}

fn within(
    key: &'static str,
    value: usize,
    low: usize,
    high: usize,
    remedy: &'static str,
) -> Result<(), ServeError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    let counted = if matches!(key, "listen" | "leading" | "cores") { " entries" } else { "" };
    Err(ServeError::Config { key, value: format!("{value}{counted}"), remedy: remedy.into() })
}
