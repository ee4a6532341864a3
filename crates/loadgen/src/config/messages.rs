//! What a load on the message service asks for: the `messages` object of the configuration.

use serde::{Deserialize, Serialize};

use super::SizeDistribution;
use crate::config_error::check;
use crate::config_error::ConfigError;

/// Bytes with which each message begins: whose it is, its number and its length.
pub const HEADER_BYTES: u32 = 16;
/// The longest message, bytes: 64 MiB, far above the service's usual limit of 64 KiB.
const MESSAGE_BYTES_MAX: u32 = 64 << 20;
const QUEUES_MAX: u32 = 1_000_000;
const RETRY_DELAY_MAX_S: f64 = 86400.0;

/// Which operations, on which queues, with which messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MessagesConfig {
    /// Weights of the two operations: one is drawn by them, independent of those before it.
    pub put: f64,
    pub take: f64,
    /// How long a client waits after a take that found nothing, s, in place of the think time that the lane has after
    /// everything else.
    pub retry_delay_s: f64,
    /// Queues, each as likely as any other; they are made before the start.
    pub queues: u32,
    /// The name of queue k is PREFIX-k.
    pub prefix: String,
    /// Throw the queues away before they are made: the run begins with empty ones.
    pub fresh: bool,
    /// Length of a message, bytes, at least 16.
    pub message_bytes: SizeDistribution,
    /// Compare every message that is taken with what its number says that it is.
    pub verify: bool,
    /// For `Authorization: Bearer`.
    pub token: Option<String>,
    /// The environment variable that has it instead: a configuration is kept in run folders.
    pub token_env: Option<String>,
}

impl Default for MessagesConfig {
    fn default() -> MessagesConfig {
        MessagesConfig {
            put: 1.0,
            take: 1.5,
            retry_delay_s: 0.1,
            queues: 1,
            prefix: "load".to_string(),
            fresh: false,
            message_bytes: SizeDistribution::Fixed { value: 200 },
            verify: true,
            token: None,
            token_env: None,
        }
    }
}

impl MessagesConfig {
    /// As it is, or from the environment.
    pub(crate) fn token(&self) -> Option<String> {
        self.token.clone().or_else(|| self.token_env.as_ref().and_then(|name| std::env::var(name).ok()))
    }

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let (put, take) = (self.put, self.take);
        let usable = [put, take].iter().all(|w| *w >= 0.0 && w.is_finite()) && put + take > 0.0;
        check(
            usable,
            "messages.put, messages.take",
            format!("{put}, {take}"),
            "give weights of at least 0, not both 0",
        )?;
        let delay_s = self.retry_delay_s;
        let usable = (0.0..=RETRY_DELAY_MAX_S).contains(&delay_s);
        check(usable, "messages.retry_delay_s", delay_s, "give seconds from 0 to 86400")?;
        let usable = (1..=QUEUES_MAX).contains(&self.queues);
        check(usable, "messages.queues", self.queues, "give 1 to 1000000")?;
        let prefix = self.prefix.as_str();
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
        let usable = (1..=100).contains(&prefix.len()) && prefix.bytes().all(plain);
        let remedy = "give 1 to 100 of the characters A-Z a-z 0-9 - _ .";
        check(usable, "messages.prefix", format!("{prefix:?}"), remedy)?;
        let variable = self.token_env.as_deref().unwrap_or_default();
        let known = self.token_env.is_none() || std::env::var(variable).is_ok_and(|token| !token.is_empty());
        check(known, "messages.token_env", format!("{variable}, which is not set"), "export it first")?;
        let usable = self.token().iter().all(|token| token.bytes().all(|b| b.is_ascii_graphic()));
        check(usable, "messages.token", "one with blanks or others", "give printable ASCII characters")?;
        let remedy = "give 16 to 67108864 bytes: a message begins with its number";
        self.message_bytes.validate("messages.message_bytes", HEADER_BYTES, MESSAGE_BYTES_MAX, remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits() {
        let refused = |change: &dyn Fn(&mut MessagesConfig), place: &str| {
            let mut config = MessagesConfig::default();
            config.validate().unwrap();
            change(&mut config);
            assert!(config.validate().unwrap_err().to_string().contains(place), "{place}");
        };
        refused(&|c| (c.put, c.take) = (0.0, 0.0), "messages.put");
        refused(&|c| c.take = f64::NAN, "messages.take");
        refused(&|c| c.retry_delay_s = -1.0, "retry_delay_s");
        refused(&|c| c.queues = 0, "queues");
        refused(&|c| c.prefix = "a b".into(), "prefix");
        refused(&|c| c.prefix = String::new(), "prefix");
        refused(&|c| c.message_bytes = SizeDistribution::Fixed { value: 15 }, "message_bytes");
        refused(&|c| c.token_env = Some("SOJOURN_TEST_UNSET".into()), "SOJOURN_TEST_UNSET, which is not set");
        refused(&|c| c.token = Some("a\r\nX: y".into()), "token");
    }
}
