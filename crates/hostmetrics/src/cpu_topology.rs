//! `/sys/devices/system/cpu`: which cores share a package, a core and a last-level cache.

use std::path::Path;

use serde::Serialize;

/// One logical core and what it shares; a field is `None` where the machine does not say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoreTopology {
    pub core: usize,
    pub package: Option<i64>,
    pub core_id: Option<i64>,
    /// Logical cores on the same physical core, itself included.
    pub thread_siblings: Option<Vec<usize>>,
    /// Logical cores behind the same last-level cache, itself included.
    pub llc_shared_with: Option<Vec<usize>>,
}

/// The topology of `cores` as told below `sys_root`.
pub fn topology(sys_root: &Path, cores: &[usize]) -> Vec<CoreTopology> {
    let root = sys_root.join("devices/system/cpu");
    cores.iter().map(|&core| one(&root.join(format!("cpu{core}")), core)).collect()
}

fn one(folder: &Path, core: usize) -> CoreTopology {
    let topology = folder.join("topology");
    let number = |name: &str| text(&topology.join(name))?.parse().ok();
    CoreTopology {
        core,
        package: number("physical_package_id"),
        core_id: number("core_id"),
        thread_siblings: text(&topology.join("thread_siblings_list")).and_then(|t| core_list(&t)),
        llc_shared_with: last_level_cache(&folder.join("cache")),
    }
}

fn last_level_cache(folder: &Path) -> Option<Vec<usize>> {
    let mut best = None;
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        let level = text(&entry.path().join("level")).and_then(|t| t.parse::<u32>().ok());
        let shared = text(&entry.path().join("shared_cpu_list")).and_then(|t| core_list(&t));
        if let Some(found) = level.zip(shared) {
            best = best.filter(|(at, _)| *at >= found.0).or(Some(found));
        }
    }
    best.map(|(_, shared)| shared)
}

fn text(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|t| t.trim().to_string())
}

// 0-3,8,10-11
fn core_list(text: &str) -> Option<Vec<usize>> {
    let mut cores = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        cores.extend(first.parse().ok()?..=last.parse::<usize>().ok()?);
    }
    Some(cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores() {
        assert_eq!(core_list("0-3,8,10-11"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(core_list("5"), Some(vec![5]));
        assert_eq!(core_list(""), Some(vec![]));
        assert_eq!(core_list("1-x"), None);
    }
}
