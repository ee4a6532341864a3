//! One generator of several that put a load on a service together.

use serde::{Deserialize, Serialize};

use super::Config;
use crate::config_error::{check, ConfigError};
use crate::url::Scheme;

/// More have nothing to do even at the highest rate.
const AGENTS_MAX: u64 = 10_000;

/// This generator is `index` (from 0) of `count`: each arrival of the schedule belongs to one of them, by a draw that all
/// make alike from the seed. Everything else that is drawn (targets, templates, connections) it draws for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentConfig {
    pub index: u64,
    pub count: u64,
}

impl Config {
    /// The name of a random stream of this generator's own.
    pub(crate) fn own_stream(&self, name: &str) -> String {
        self.agent.map_or_else(|| name.to_string(), |agent| format!("{name} agent {}", agent.index))
    }

    pub(super) fn validate_agent(&self) -> Result<(), ConfigError> {
        let Some(AgentConfig { index, count }) = self.agent else {
            return Ok(());
        };
        check((1..=AGENTS_MAX).contains(&count), "agent.count", count, "give 1 to 10000 agents")?;
        check(index < count, "agent.index", index, "give a number below that of the agents, from 0")?;
        let open = self.lanes.iter().all(|lane| lane.closed.is_none());
        check(open, "agent", "given with users", "give a rate: users are not shared")?;
        let plain = self.scheme() == Scheme::Http;
        check(plain, "agent", "given with other targets", "give http:// or https:// targets")
    }
}
