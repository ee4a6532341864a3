//! What a load on memcached asks for: the `kv` object of the configuration.

use serde::{Deserialize, Serialize};

use super::SizeDistribution;
use crate::config_error::check;
use crate::config_error::ConfigError;

/// The longest key that memcached takes, bytes.
pub const KEY_BYTES_MAX: u32 = 250;
/// The longest value, bytes: 64 MiB, far above memcached's usual limit of 1 MiB.
const VALUE_BYTES_MAX: u32 = 64 << 20;
const MULTI_GET_MAX: u32 = 1000;

/// Which operations, on which keys, with which values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KvConfig {
    pub mix: OperationMix,
    /// Keys that one multi-get asks for.
    pub multi_get_keys: SizeDistribution,
    /// Different keys.
    pub keys: u64,
    pub key_pattern: KeyPattern,
    pub key_prefix: String,
    /// Length of a key, prefix included, bytes; without it just as long as the largest number needs.
    pub key_bytes: Option<SizeDistribution>,
    /// Length of a value, bytes; each key has its own for ever.
    pub value_bytes: SizeDistribution,
    /// Expiry that a set gives, s; 0 is never.
    pub exptime_s: i64,
    /// Store every key at every target before the start.
    pub populate: bool,
    /// Compare every value that is read with what its key says that it is.
    pub verify: bool,
}

/// Weights of the operations: an operation is drawn by them, independent of those before it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OperationMix {
    pub set: f64,
    pub get: f64,
    pub multi_get: f64,
}

/// How a key is drawn from 0..keys.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "snake_case")]
pub enum KeyPattern {
    Uniform,
    /// Key k with a probability proportional to (k + 1)^-exponent.
    Zipf {
        exponent: f64,
    },
    /// One after the other; each lane begins in its own part.
    Sequential,
}

impl Default for OperationMix {
    fn default() -> OperationMix {
        OperationMix { set: 1.0, get: 10.0, multi_get: 0.0 }
    }
}

impl Default for KvConfig {
    fn default() -> KvConfig {
        KvConfig {
            mix: OperationMix::default(),
            multi_get_keys: SizeDistribution::Fixed { value: 10 },
            keys: 10_000,
            key_pattern: KeyPattern::Uniform,
            key_prefix: "sojourn-".to_string(),
            key_bytes: None,
            value_bytes: SizeDistribution::Fixed { value: 1024 },
            exptime_s: 0,
            populate: true,
            verify: true,
        }
    }
}

impl KvConfig {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let OperationMix { set, get, multi_get } = self.mix;
        let usable = [set, get, multi_get].iter().all(|w| *w >= 0.0 && w.is_finite());
        let some = set + get + multi_get > 0.0;
        check(
            usable && some,
            "kv.mix",
            format!("{set}, {get}, {multi_get}"),
            "give weights of at least 0, not all 0",
        )?;
        check((1..=1 << 40).contains(&self.keys), "kv.keys", self.keys, "give 1 to 2^40")?;
        if let KeyPattern::Zipf { exponent } = self.key_pattern {
            let usable = exponent > 0.0 && exponent <= 10.0;
            check(usable, "kv.key_pattern.exponent", exponent, "give a number above 0, at most 10")?;
        }
        let prefix = self.key_prefix.as_str();
        let printable = prefix.len() <= 200 && prefix.bytes().all(|b| b.is_ascii_graphic());
        check(
            printable,
            "kv.key_prefix",
            format!("{prefix:?}"),
            "give at most 200 printable ASCII characters",
        )?;
        if let Some(sizes) = &self.key_bytes {
            let remedy = "give at most 250, and room for the prefix and the largest key's number";
            sizes.validate("kv.key_bytes", self.shortest_key(), KEY_BYTES_MAX, remedy)?;
        }
        let remedy = "give at most 67108864 bytes";
        self.value_bytes.validate("kv.value_bytes", 0, VALUE_BYTES_MAX, remedy)?;
        self.multi_get_keys.validate("kv.multi_get_keys", 1, MULTI_GET_MAX, "give 1 to 1000 keys")
    }

    /// Bytes of the shortest key in which every number has room.
    pub(crate) fn shortest_key(&self) -> u32 {
        let digits = (self.keys.max(1) - 1).checked_ilog10().unwrap_or(0) + 1;
        self.key_prefix.len() as u32 + digits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits() {
        let refused = |change: &dyn Fn(&mut KvConfig), place: &str| {
            let mut config = KvConfig::default();
            config.validate().unwrap();
            change(&mut config);
            assert!(config.validate().unwrap_err().to_string().contains(place), "{place}");
        };
        refused(&|c| c.mix = OperationMix { set: 0.0, get: 0.0, multi_get: 0.0 }, "kv.mix");
        refused(&|c| c.mix.get = -1.0, "kv.mix");
        refused(&|c| c.keys = 0, "kv.keys");
        refused(&|c| c.key_prefix = "a b".into(), "kv.key_prefix");
        refused(&|c| c.key_bytes = Some(SizeDistribution::Fixed { value: 11 }), "kv.key_bytes");
        refused(&|c| c.key_bytes = Some(SizeDistribution::Fixed { value: 251 }), "kv.key_bytes");
        refused(&|c| c.value_bytes = SizeDistribution::Uniform { low: 2, high: 1 }, "kv.value_bytes");
        refused(&|c| c.multi_get_keys = SizeDistribution::Fixed { value: 0 }, "kv.multi_get_keys");
        refused(&|c| c.key_pattern = KeyPattern::Zipf { exponent: 0.0 }, "exponent");
    }
}
