//! Who uses a block device: what is mounted, swapped to, or built on it or on a part of it.

use std::path::{Path, PathBuf};

/// Who uses the device at `path`; `None` if nobody is seen.
pub fn device_user(path: &Path) -> Option<String> {
    let device = path.canonicalize().ok()?;
    let name = device.file_name()?.to_str()?.to_string();
    user_of(Path::new("/proc"), Path::new("/sys"), &device, &name)
}

fn user_of(proc_root: &Path, sys_root: &Path, device: &Path, name: &str) -> Option<String> {
    let own = |text: &str| {
        let used = Path::new(text);
        let used = used.canonicalize().unwrap_or_else(|_| PathBuf::from(text));
        used == device || is_part(device, &used)
    };
    let mounts = std::fs::read_to_string(proc_root.join("self/mounts")).unwrap_or_default();
    let words = |line: &str| -> Vec<String> { line.split_ascii_whitespace().map(str::to_string).collect() };
    let mounted = mounts.lines().map(words).find(|line| line.len() > 1 && own(&line[0]));
    if let Some(line) = mounted {
        return Some(format!("{} is mounted at {}", line[0], line[1]));
    }
    let swaps = std::fs::read_to_string(proc_root.join("swaps")).unwrap_or_default();
    let swapped = swaps.lines().skip(1).map(words).find(|line| !line.is_empty() && own(&line[0]));
    if let Some(line) = swapped {
        return Some(format!("{} is swap", line[0]));
    }
    let held = std::fs::read_dir(sys_root.join("class/block").join(name).join("holders")).ok()?;
    let holder = held.flatten().next()?.file_name();
    Some(format!("{} is built on it", holder.to_string_lossy()))
}

/// Whether `part` is a partition of `device`: sda1 of sda, nvme0n1p1 of nvme0n1.
fn is_part(device: &Path, part: &Path) -> bool {
    let (Some(device), Some(part)) = (device.to_str(), part.to_str()) else {
        return false;
    };
    let Some(rest) = part.strip_prefix(device).filter(|rest| !rest.is_empty()) else {
        return false;
    };
    let digits =
        if device.ends_with(|c: char| c.is_ascii_digit()) { rest.strip_prefix('p') } else { Some(rest) };
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_swaps_and_holders_are_named() {
        let root = std::env::temp_dir().join(format!("sojourn-device-use-{}", std::process::id()));
        let (proc_root, sys_root) = (root.join("proc"), root.join("sys"));
        std::fs::create_dir_all(proc_root.join("self")).unwrap();
        std::fs::create_dir_all(sys_root.join("class/block/sdd/holders/dm-0")).unwrap();
        std::fs::write(proc_root.join("self/mounts"), "/dev/sdb1 /data ext4 rw 0 0\n").unwrap();
        std::fs::write(proc_root.join("swaps"), "Filename Type\n/dev/sdc partition 1 0 -2\n").unwrap();
        let user = |name: &str| user_of(&proc_root, &sys_root, &Path::new("/dev").join(name), name);
        assert_eq!(user("sdb").unwrap(), "/dev/sdb1 is mounted at /data");
        assert_eq!(user("sdb1").unwrap(), "/dev/sdb1 is mounted at /data");
        assert_eq!(user("sdc").unwrap(), "/dev/sdc is swap");
        assert_eq!(user("sdd").unwrap(), "dm-0 is built on it");
        assert_eq!((user("sdbb"), user("sde"), user("sd")), (None, None, None));
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn partitions_belong_to_their_device() {
        let part = |device: &str, part: &str| is_part(Path::new(device), Path::new(part));
        assert!(part("/dev/sda", "/dev/sda12") && part("/dev/nvme0n1", "/dev/nvme0n1p2"));
        assert!(!part("/dev/nvme0n1", "/dev/nvme0n12") && !part("/dev/sda", "/dev/sdab"));
    }
}
