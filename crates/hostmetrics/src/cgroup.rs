//! CPU time of a control group with all below it: `cpu.stat` (version 2), or `cpuacct.usage` (version 1).

use std::path::Path;

use serde::Serialize;

use crate::kernel_file::{FileText, OpenKernelFile};
use crate::ReadError;

/// CPU time since the group was made; user and system only where the kernel tells them here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cgroup {
    pub usage_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_s: Option<f64>,
}

/// Below `/sys`, where the group's name stands for `*`.
const STAT: [&str; 2] = ["fs/cgroup/*/cpu.stat", "fs/cgroup/unified/*/cpu.stat"];
const USAGE: [&str; 2] = ["fs/cgroup/cpuacct/*/cpuacct.usage", "fs/cgroup/cpu,cpuacct/*/cpuacct.usage"];

/// Watches one group.
#[derive(Debug)]
pub struct CgroupReader {
    source: OpenKernelFile,
    stat: bool,
    now: Cgroup,
}

impl CgroupReader {
    /// Opens group `name` (a path below the root of the groups) of `sys_root`; `None` without such a group, or without
    /// its CPU time.
    pub fn open(sys_root: &Path, name: &str) -> Result<Option<Self>, ReadError> {
        let name = name.trim_matches('/');
        for (paths, stat) in [(STAT, true), (USAGE, false)] {
            for path in paths {
                let Some(source) = OpenKernelFile::open(sys_root.join(path.replace('*', name)))? else {
                    continue;
                };
                let mut reader = Self { source, stat, now: Cgroup::default() };
                // Without the cpu controller `cpu.stat` may be there and say nothing.
                if reader.read()?.is_some() {
                    return Ok(Some(reader));
                }
            }
        }
        Ok(None)
    }

    /// Reads again; `None` once the group is gone.
    pub fn read(&mut self) -> Result<Option<Cgroup>, ReadError> {
        let Ok(text) = self.source.read() else { return Ok(None) };
        let found =
            if self.stat { parse_stat(text, &mut self.now)? } else { parse_usage(text, &mut self.now)? };
        Ok(found.then_some(self.now))
    }
}

// usage_usec 1234567
// user_usec 1000000
// system_usec 234567
fn parse_stat(text: FileText<'_>, into: &mut Cgroup) -> Result<bool, ReadError> {
    let mut found = false;
    for mut line in text.lines() {
        let key = line.next_text();
        if !matches!(key, Some("usage_usec" | "user_usec" | "system_usec")) {
            continue;
        }
        let value_s = line.number("the time")? as f64 * 1e-6;
        match key {
            Some("usage_usec") => (into.usage_s, found) = (value_s, true),
            Some("user_usec") => into.user_s = Some(value_s),
            _ => into.system_s = Some(value_s),
        }
    }
    Ok(found)
}

// 1234567890        ns
fn parse_usage(text: FileText<'_>, into: &mut Cgroup) -> Result<bool, ReadError> {
    into.usage_s = text.first().number("the time")? as f64 * 1e-9;
    Ok(true)
}
