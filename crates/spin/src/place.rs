//! Where a thread runs and what it sees.

use std::fmt;
use std::fs::File;
use std::hint::black_box;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// A placement the kernel refused.
#[derive(Debug)]
pub enum PlaceError {
    /// A core that does not exist or is not ours to use.
    Core { core: usize, cause: std::io::Error },
    /// A network namespace that cannot be entered.
    Network { path: String, cause: std::io::Error },
    /// A scheduling class that was refused.
    Policy { cause: std::io::Error },
}

impl fmt::Display for PlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core { core, cause } => {
                write!(f, "core {core}: {cause}; choose one of the cores that nproc and taskset show")
            }
            Self::Network { path, cause } => {
                write!(f, "network namespace {path}: {cause}; it needs root, and must exist")
            }
            Self::Policy { cause } => write!(f, "SCHED_IDLE: {cause}"),
        }
    }
}

impl std::error::Error for PlaceError {}

/// Pins the calling thread to one core.
///
/// # Errors
/// `PlaceError::Core` where the core does not exist or is not allowed.
pub fn pin(core: usize) -> Result<(), PlaceError> {
    if core >= libc::CPU_SETSIZE as usize {
        return Err(PlaceError::Core { core, cause: std::io::Error::from_raw_os_error(libc::EINVAL) });
    }
    // SAFETY: the set is a plain bit array on our stack and `core` is below its size.
    let refused = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, std::mem::size_of_val(&set), &set)
    };
    if refused == 0 {
        return Ok(());
    }
    Err(PlaceError::Core { core, cause: std::io::Error::last_os_error() })
}

/// Moves the calling thread, and threads it starts later, into the network namespace at `path`.
///
/// # Errors
/// `PlaceError::Network` without permission or where nothing is at `path`.
pub fn enter_network(path: &str) -> Result<(), PlaceError> {
    let refuse = |cause| PlaceError::Network { path: path.to_owned(), cause };
    let file = File::open(path).map_err(refuse)?;
    // SAFETY: the descriptor is open for the length of the call.
    match unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(refuse(std::io::Error::last_os_error())),
    }
}

/// Asks the kernel to end this process when its parent ends, however it ends.
pub fn die_with_parent() {
    // SAFETY: plain integers only.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
}

/// The share of `core` that an ordinary busy thread gets during `length` (run time over elapsed time): what a
/// service would get beside whatever else runs there.
///
/// # Errors
/// `PlaceError::Core` where the core cannot be used.
pub fn share_of_core(core: usize, length: Duration) -> Result<f64, PlaceError> {
    std::thread::spawn(move || {
        pin(core)?;
        let (start, run) = (Instant::now(), thread_time());
        let mut x = 1_u64;
        while start.elapsed() < length {
            x = black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
        Ok((thread_time() - run).as_secs_f64() / start.elapsed().as_secs_f64())
    })
    .join()
    .unwrap_or(Ok(0.0))
}

fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a live timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_that_does_not_exist_is_named() {
        let message = pin(1000).unwrap_err().to_string();
        assert!(message.contains("1000"), "{message}");
        assert!(pin(1 << 40).is_err());
    }

    #[test]
    fn a_namespace_that_does_not_exist_is_named() {
        let message = enter_network("/run/netns/no-such").unwrap_err().to_string();
        assert!(message.contains("no-such"), "{message}");
    }
}
