//! What to collect.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::CollectError;

/// What to collect, how often, where to.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    #[serde(default = "default_proc")]
    pub proc_root: PathBuf,
    #[serde(default = "default_sys")]
    pub sys_root: PathBuf,
    /// Time between samples, 0.01..=10 s.
    #[serde(default = "default_interval")]
    pub interval_s: f64,
    /// The NDJSON file; made anew.
    pub out: PathBuf,
    /// Processes to watch.
    #[serde(default)]
    pub pids: Vec<u32>,
    /// Control groups to watch, as paths below `/sys/fs/cgroup`.
    #[serde(default)]
    pub cgroups: Vec<String>,
    /// The core that the collector stays on.
    #[serde(default)]
    pub cpu: Option<usize>,
    #[serde(default = "yes")]
    pub disks: bool,
    #[serde(default = "yes")]
    pub nics: bool,
    /// Also how fast each core is: a piece of work on each every 25 ms, one percent of it.
    #[serde(default)]
    pub core_speed: bool,
    /// Whose NICs are seen, in words for the header.
    #[serde(default)]
    pub netns_note: Option<String>,
}

fn default_proc() -> PathBuf {
    "/proc".into()
}

fn default_sys() -> PathBuf {
    "/sys".into()
}

fn default_interval() -> f64 {
    0.1
}

fn yes() -> bool {
    true
}

impl Config {
    /// A configuration with all defaults.
    pub fn new(out: PathBuf) -> Self {
        Self {
            proc_root: default_proc(),
            sys_root: default_sys(),
            interval_s: default_interval(),
            out,
            pids: Vec::new(),
            cgroups: Vec::new(),
            cpu: None,
            disks: true,
            nics: true,
            core_speed: false,
            netns_note: None,
        }
    }

    pub(crate) fn check(&self) -> Result<(), CollectError> {
        if (0.01..=10.0).contains(&self.interval_s) {
            return Ok(());
        }
        let (key, value) = ("interval_s", self.interval_s.to_string());
        Err(CollectError::Config { key, value, remedy: "choose 0.01 to 10 s" })
    }
}
