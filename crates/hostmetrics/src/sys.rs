//! The system calls without a safe wrapper in std; all of this crate's `unsafe`.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::FromRawFd;

/// A clock's time in s.
fn clock_s(clock: libc::clockid_t) -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// `CLOCK_MONOTONIC` in s, the clock of all records of a run.
pub(crate) fn monotonic_s() -> f64 {
    clock_s(libc::CLOCK_MONOTONIC)
}

/// CPU time of the calling thread in s.
pub(crate) fn thread_cpu_s() -> f64 {
    clock_s(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Sleeps until a time of `CLOCK_MONOTONIC`; a signal may end it early.
pub(crate) fn sleep_until(time_s: f64) {
    let seconds = time_s.floor();
    let time = libc::timespec { tv_sec: seconds as i64, tv_nsec: ((time_s - seconds) * 1e9) as i64 };
    // SAFETY: the pointer is to a live timespec, and no remainder is asked for.
    unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &time, std::ptr::null_mut()) };
}

/// `USER_HZ`, the ticks a second of `/proc`.
pub(crate) fn user_hz() -> f64 {
    // SAFETY: sysconf takes no pointers.
    let hz = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    if hz > 0 {
        hz as f64
    } else {
        100.0
    }
}

/// Keeps the calling thread on one core.
pub(crate) fn pin(core: usize) -> io::Result<()> {
    if core >= libc::CPU_SETSIZE as usize {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: a zeroed cpu_set_t is valid and `core` is inside it; pid 0 is the calling thread.
    let result = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// `struct perf_event_attr` of its first published size (`PERF_ATTR_SIZE_VER0`, 64 bytes).
#[repr(C)]
#[derive(Default)]
struct PerfEventAttr {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    bp_type: u32,
    bp_addr: u64,
}

/// One counter of everything that runs on `core`; a read gives value, ns enabled, ns running.
pub(crate) fn perf_event_open(kind: u32, config: u64, core: usize) -> io::Result<File> {
    const TOTAL_TIME_ENABLED_AND_RUNNING: u64 = 1 | 2;
    let size = size_of::<PerfEventAttr>() as u32;
    let read_format = TOTAL_TIME_ENABLED_AND_RUNNING;
    let attr = PerfEventAttr { kind, size, config, read_format, ..Default::default() };
    let core = i32::try_from(core).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    const CLOSE_ON_EXEC: u64 = 8; // PERF_FLAG_FD_CLOEXEC

    // SAFETY: the pointer is to a live attr whose `size` says how much of it the kernel may read.
    let fd = unsafe { libc::syscall(libc::SYS_perf_event_open, &attr, -1, core, -1, CLOSE_ON_EXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call returned a new descriptor that nobody else owns.
    Ok(unsafe { File::from_raw_fd(fd as i32) })
}
