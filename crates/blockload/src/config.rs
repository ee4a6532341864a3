//! What the user wants: the JSON of a run, its defaults and its limits.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sojourn_dist::Arrivals;
use sojourn_loadgen::SizeDistribution;

use crate::error::{check, BlockLoadError};
use crate::sys;
use crate::target::Target;

/// Sectors are this long; blocks, offsets and spans are multiples of it.
pub const SECTOR_BYTES: u64 = 512;
const BLOCK_BYTES_MAX: u32 = 16 << 20;
const DEPTH_MAX: u32 = 4096;
/// Units that `verify` keeps the generation of, 8 bytes each.
const VERIFIED_UNITS_MAX: u64 = 1 << 26;
/// A beat between load and tick that is slower than this share of the run is no beat to it.
const TICK_BEATS: f64 = 20.0;
/// Ratios of small numbers between rate and tick are harmonics.
const HARMONIC_MAX: u32 = 4;

/// A load of one lane on one target, in the form of all loads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub lanes: Vec<LaneConfig>,
    pub duration_s: f64,
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// From when an I/O is due to its end.
    #[serde(default = "default_timeout_s")]
    pub timeout_s: f64,
    #[serde(default = "default_record_limit")]
    pub record_limit: u64,
    /// Start at this CLOCK_MONOTONIC time; otherwise as soon as everything is open.
    #[serde(default)]
    pub start_at_s: Option<f64>,
    pub block: BlockConfig,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaneConfig {
    pub targets: Vec<TargetConfig>,
    pub arrivals: Arrivals,
    #[serde(default)]
    pub cpu: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetConfig {
    /// `file:PATH`, `blk:DEVICE`, `nbd://HOST:PORT/EXPORT` or `nbd+unix:///EXPORT?socket=PATH`.
    pub url: String,
}

/// How I/O on files and devices is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// `io_uring`, or `psync` where the system refuses it.
    Auto,
    IoUring,
    /// Threads that call pread and pwrite.
    Psync,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockConfig {
    /// Shares in [0, 1]: of I/Os that read; of I/Os at a random offset, the others follow the one before.
    pub read_share: f64,
    pub random_share: f64,
    pub sizes: SizeDistribution,
    /// I/O stays below it; the whole target where none is given. A file that is not there is made so long.
    #[serde(default)]
    pub span_bytes: Option<u64>,
    /// Of random offsets; an I/O's own size where none is given.
    #[serde(default)]
    pub align_bytes: Option<u32>,
    #[serde(default)]
    pub direct: bool,
    #[serde(default = "default_engine")]
    pub engine: Engine,
    /// In flight at most.
    #[serde(default = "default_depth")]
    pub depth: u32,
    /// I/Os that are due and wait; a further one is refused.
    #[serde(default = "default_queue")]
    pub queue: u32,
    /// After so many writes a flush, which is no I/O of the rate; 0: never.
    #[serde(default)]
    pub fsync_every: u32,
    /// Each so-many-th write is on stable storage before it ends; 0: none.
    #[serde(default)]
    pub fua_every: u32,
    #[serde(default)]
    pub verify: bool,
    /// NBD: acknowledge each answer at once, and not with the next request.
    #[serde(default = "default_quick_ack")]
    pub quick_ack: bool,
    /// The device again: it may be written to.
    #[serde(default)]
    pub yes_destroy: Option<PathBuf>,
    /// NBD: the file behind the server, whose share in the page cache is read.
    #[serde(default)]
    pub cache_of: Option<PathBuf>,
    /// CPU time is read by ticks: a constant rate must not be a harmonic of them.
    #[serde(default = "default_ticks_read")]
    pub ticks_read: bool,
}

fn default_seed() -> u64 {
    1
}
fn default_timeout_s() -> f64 {
    10.0
}
fn default_record_limit() -> u64 {
    2_000_000
}
fn default_engine() -> Engine {
    Engine::Auto
}
fn default_depth() -> u32 {
    128
}
fn default_queue() -> u32 {
    1024
}
fn default_quick_ack() -> bool {
    true
}
fn default_ticks_read() -> bool {
    true
}

impl Config {
    /// # Errors
    /// A key that is not known or missing, a value out of range.
    pub fn from_json(text: &str) -> Result<Config, BlockLoadError> {
        let config: Config = serde_json::from_str(text).map_err(|error| BlockLoadError::Value {
            place: "block load".to_string(),
            value: error.to_string(),
            remedy: "correct or remove this key".to_string(),
        })?;
        config.validate()?;
        Ok(config)
    }

    /// The one lane.
    #[must_use]
    pub fn lane(&self) -> &LaneConfig {
        &self.lanes[0]
    }

    /// I/Os a second that were asked for.
    #[must_use]
    pub fn asked_iops(&self) -> f64 {
        self.lane().arrivals.expected(self.duration_s) / self.duration_s
    }

    pub(crate) fn target(&self) -> Result<Target, BlockLoadError> {
        Target::parse(&self.lane().targets[0].url)
    }

    /// What generations are kept of: each block and each offset is a multiple of it.
    pub(crate) fn unit_bytes(&self) -> u64 {
        let sizes = self.block.block_sizes().into_iter().chain(self.block.align_bytes);
        sizes.map(u64::from).reduce(greatest_common_divisor).unwrap_or(SECTOR_BYTES)
    }

    fn validate(&self) -> Result<(), BlockLoadError> {
        let one = self.lanes.len() == 1 && self.lanes[0].targets.len() == 1;
        check(one, "lanes", self.lanes.len(), "give one target")?;
        self.target()?;
        let arrivals = &self.lane().arrivals;
        let told = |error: sojourn_dist::DistError| BlockLoadError::Value {
            place: "arrivals".to_string(),
            value: error.to_string(),
            remedy: "give a rate above 0".to_string(),
        };
        arrivals.validate().map_err(told)?;
        let finite = |value: f64, most: f64| value.is_finite() && value > 0.0 && value <= most;
        check(finite(self.duration_s, 86_400.0), "duration_s", self.duration_s, "give up to 86400 s")?;
        check(finite(self.timeout_s, 3_600.0), "timeout_s", self.timeout_s, "give up to 3600 s")?;
        self.block.validate()?;
        self.off_beat()
    }

    /// Refuses a constant rate that keeps its place between two ticks of the kernel where CPU time is read by ticks.
    fn off_beat(&self) -> Result<(), BlockLoadError> {
        let Arrivals::Constant { rate_per_s } = self.lane().arrivals else {
            return Ok(());
        };
        let ticks_per_s = sys::ticks_per_s();
        let beats = locked(rate_per_s, ticks_per_s, TICK_BEATS / self.duration_s);
        let remedy = format!(
            "the kernel's tick is {ticks_per_s:.0}/s, and CPU time that is read by ticks sees all of this load or nothing; take \
             Poisson arrivals, or a rate that is no harmonic"
        );
        check(!(beats && self.block.ticks_read), "the constant rate", rate_per_s, remedy)
    }
}

impl BlockConfig {
    /// Whether anything is written.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.read_share < 1.0
    }

    fn block_sizes(&self) -> Vec<u32> {
        match &self.sizes {
            SizeDistribution::List { values, .. } => values.clone(),
            one => vec![one.low(), one.high()],
        }
    }

    fn validate(&self) -> Result<(), BlockLoadError> {
        let share = |value: f64| (0.0..=1.0).contains(&value);
        check(share(self.read_share), "--read-fraction", self.read_share, "give a share, 0 to 1")?;
        check(share(self.random_share), "--random-fraction", self.random_share, "give a share, 0 to 1")?;
        let told = |error: sojourn_loadgen::ConfigError| BlockLoadError::of_text(&error.to_string());
        let remedy = "give blocks of 512 bytes to 16 MiB";
        self.sizes.validate("--block-size", SECTOR_BYTES as u32, BLOCK_BYTES_MAX, remedy).map_err(told)?;
        let fixed = !matches!(self.sizes, SizeDistribution::Uniform { .. });
        check(fixed, "--block-size", "a range", "give a size, or SIZE:WEIGHT,SIZE:WEIGHT")?;
        let whole = |bytes: u64| bytes > 0 && bytes.is_multiple_of(SECTOR_BYTES);
        for bytes in self.block_sizes() {
            check(whole(bytes.into()), "--block-size", bytes, "give a multiple of 512")?;
        }
        if let Some(bytes) = self.align_bytes {
            check(whole(bytes.into()), "--align", bytes, "give a multiple of 512")?;
        }
        if let Some(bytes) = self.span_bytes {
            check(whole(bytes), "--region-size", bytes, "give a multiple of 512")?;
        }
        check((1..=DEPTH_MAX).contains(&self.depth), "--queue-depth", self.depth, "give 1 to 4096")?;
        let room = u64::from(self.depth) * u64::from(self.sizes.high());
        check(room <= 4 << 30, "--queue-depth", self.depth, "buffers take depth x block, at most 4 GiB")?;
        check(self.queue <= 1 << 20, "--max-waiting-ios", self.queue, "give up to 1048576")
    }

    /// # Errors
    /// More than `verify` can keep in memory.
    pub(crate) fn verifiable(&self, span_bytes: u64, unit_bytes: u64) -> Result<(), BlockLoadError> {
        let fits = !self.verify || span_bytes / unit_bytes <= VERIFIED_UNITS_MAX;
        check(
            fits,
            "--verify",
            format!("{span_bytes} bytes"),
            "it keeps 8 bytes a block, for 67108864 blocks: give --region-size",
        )
    }
}

/// Whether a constant rate keeps its place between two ticks: they are as small numbers, to `beat_per_s`.
fn locked(rate_per_s: f64, ticks_per_s: f64, beat_per_s: f64) -> bool {
    (1..=HARMONIC_MAX).any(|q| {
        // `q` I/Os or ticks later both are where they were.
        let ratio =
            if rate_per_s > ticks_per_s { rate_per_s / ticks_per_s } else { ticks_per_s / rate_per_s };
        let p = (ratio * f64::from(q)).round();
        let slip = (ratio * f64::from(q) - p).abs() * rate_per_s.min(ticks_per_s) / f64::from(q);
        slip < beat_per_s
    })
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmonics_of_the_tick_are_locked_to_it() {
        for rate in [250.0, 4000.0, 500.0, 125.0, 50.0, 375.0, 1000.01] {
            assert!(locked(rate, 250.0, 2.0), "{rate}");
        }
        for rate in [4011.3, 987.0, 283.0, 73.0] {
            assert!(!locked(rate, 250.0, 2.0), "{rate}");
        }
    }
}
