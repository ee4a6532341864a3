//! Where a thread runs and what it sees.

use std::fmt;
use std::fs::File;
use std::hint::black_box;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// A placement the kernel refused.
#[derive(Debug)]
pub enum PlacementError {
    /// A core that does not exist or is not ours to use.
    Core { core: usize, cause: std::io::Error },
    /// A network namespace that cannot be entered.
    Network { path: String, cause: std::io::Error },
    /// A thread whose run time cannot be read.
    Thread { thread: u32, cause: std::io::Error },
    /// A scheduling class that was refused.
    Policy { cause: std::io::Error },
}

impl fmt::Display for PlacementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core { core, cause } => {
                write!(f, "core {core}: {cause}; choose one of the cores that nproc and taskset show")
            }
            Self::Network { path, cause } => {
                write!(f, "network namespace {path}: {cause}; it needs root, and must exist")
            }
            Self::Thread { thread, cause } => {
                write!(
                    f,
                    "/proc/{thread}/schedstat: {cause}; it needs a thread that runs, and CONFIG_SCHED_INFO"
                )
            }
            Self::Policy { cause } => write!(f, "SCHED_IDLE: {cause}"),
        }
    }
}

impl std::error::Error for PlacementError {}

/// Pins the calling thread to one core.
///
/// # Errors
/// `PlacementError::Core` where the core does not exist or is not allowed.
pub fn pin(core: usize) -> Result<(), PlacementError> {
    if core >= libc::CPU_SETSIZE as usize {
        return Err(PlacementError::Core { core, cause: std::io::Error::from_raw_os_error(libc::EINVAL) });
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
    Err(PlacementError::Core { core, cause: std::io::Error::last_os_error() })
}

/// Moves the calling thread, and threads it starts later, into the network namespace at `path`.
///
/// # Errors
/// `PlacementError::Network` without permission or where nothing is at `path`.
pub fn enter_network(path: &str) -> Result<(), PlacementError> {
    let refuse = |cause| PlacementError::Network { path: path.to_owned(), cause };
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

/// Whoever wakes the calling thread is not interrupted by it (`SCHED_BATCH`): for threads of a service that hand a
/// request on to each other, where each interruption is two switches more. A refusal leaves the default.
pub fn set_batch_scheduling() {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: a valid pointer for the length of the call; 0 means this thread.
    unsafe {
        libc::sched_setscheduler(0, libc::SCHED_BATCH, &parameters);
    }
}

/// A thread new to a core has run more than its share after its first slice (EEVDF, from kernel 6.6), and even an idle
/// group then gets one or two ticks, once: as long as that takes, nothing is counted.
const ARRIVAL: Duration = Duration::from_millis(30);

/// The share of `core` that `thread` (a kernel thread id) takes from an ordinary busy thread during `length`: its own
/// run time by the kernel's account, so that neither steal nor anything else that runs there looks like its cost.
///
/// # Errors
/// `PlacementError::Core` where the core cannot be used, `PlacementError::Thread` where the thread has no account.
pub fn share_taken(core: usize, thread: u32, length: Duration) -> Result<f64, PlacementError> {
    std::thread::spawn(move || {
        pin(core)?;
        busy(ARRIVAL);
        // Read while this thread runs: the account of a thread that runs is up to a tick old.
        let (start, before) = (Instant::now(), run_time(thread)?);
        busy(length);
        Ok((run_time(thread)? - before).as_secs_f64() / start.elapsed().as_secs_f64())
    })
    .join()
    .unwrap_or(Ok(0.0))
}

fn busy(length: Duration) {
    let start = Instant::now();
    let mut x = 1_u64;
    while start.elapsed() < length {
        x = black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
}

/// Run time of a thread since it began: the first field of its `schedstat`, nanoseconds.
fn run_time(thread: u32) -> Result<Duration, PlacementError> {
    let refuse = |cause| PlacementError::Thread { thread, cause };
    let text = std::fs::read_to_string(format!("/proc/{thread}/schedstat")).map_err(refuse)?;
    let first = text.split_whitespace().next().and_then(|field| field.parse().ok());
    first.map(Duration::from_nanos).ok_or_else(|| refuse(std::io::ErrorKind::InvalidData.into()))
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
    fn a_sleeping_thread_takes_nothing_and_one_that_ended_is_named() {
        let sleeping = std::process::id();
        let share = share_taken(0, sleeping, Duration::from_millis(20)).unwrap();
        assert!((0.0..1.0).contains(&share), "{share}");
        let message = share_taken(0, u32::MAX, Duration::from_millis(1)).unwrap_err().to_string();
        assert!(message.contains("4294967295"), "{message}");
    }

    #[test]
    fn a_namespace_that_does_not_exist_is_named() {
        let message = enter_network("/run/netns/no-such").unwrap_err().to_string();
        assert!(message.contains("no-such"), "{message}");
    }
}
