//! The system calls that the standard library does not have, and all `unsafe` of this crate.
//!
//! `unsafe` is needed because the event loop is our own: epoll with nanosecond timeouts, the kernel's receive
//! stamps (control messages of recvmsg), core pinning, real-time priority and thread clocks have no safe
//! interface in std. Each block is one call with buffers that outlive it.
#![allow(unsafe_code)]

mod poll;
mod socket;

use std::io;
use std::mem::{size_of, zeroed, MaybeUninit};
use std::os::fd::AsRawFd;

pub use poll::Poller;
pub use socket::{Peer, Socket};

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

/// Nanoseconds of a clock.
pub fn clock_ns(clock: libc::clockid_t) -> i64 {
    // SAFETY: a valid pointer to a timespec; the clocks used here exist on every Linux.
    let time = unsafe {
        let mut time = MaybeUninit::<libc::timespec>::zeroed();
        libc::clock_gettime(clock, time.as_mut_ptr());
        time.assume_init()
    };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// (voluntary, involuntary) context switches of the calling thread.
pub fn context_switches() -> (u64, u64) {
    // SAFETY: getrusage fills the zeroed struct it is given.
    let usage = unsafe {
        let mut usage: libc::rusage = zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
        usage
    };
    (usage.ru_nvcsw as u64, usage.ru_nivcsw as u64)
}

/// Pins the calling thread.
pub fn pin(cpu: usize) -> io::Result<()> {
    if cpu >= libc::CPU_SETSIZE as usize {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: `cpu` is inside the set; the set outlives the call.
    check(unsafe {
        let mut set: libc::cpu_set_t = zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)
    })
    .map(|_| ())
}

/// The kernel's number of the calling thread.
pub fn thread_id() -> u64 {
    // SAFETY: no arguments; it cannot fail.
    unsafe { libc::gettid() as u64 }
}

/// The cores that a thread of this process may use; none where the kernel does not say.
pub fn allowed_cores(thread: u64) -> Vec<usize> {
    affinity(thread).map_or_else(Vec::new, |set| {
        // SAFETY: `core` is inside the set.
        (0..libc::CPU_SETSIZE as usize).filter(|core| unsafe { libc::CPU_ISSET(*core, &set) }).collect()
    })
}

fn affinity(thread: u64) -> Option<libc::cpu_set_t> {
    // SAFETY: a valid set to write to.
    unsafe {
        let mut set: libc::cpu_set_t = zeroed();
        let got = libc::sched_getaffinity(thread as libc::pid_t, size_of::<libc::cpu_set_t>(), &mut set);
        (got == 0).then_some(set)
    }
}

/// Moves a thread of this process to a core, and leaves it all that it may use. A refusal leaves it where it is.
pub fn move_to(thread: u64, core: usize) {
    let Some(before) = affinity(thread).filter(|_| core < libc::CPU_SETSIZE as usize) else { return };
    // SAFETY: `core` is inside the set; both sets outlive the calls.
    unsafe {
        let mut set: libc::cpu_set_t = zeroed();
        libc::CPU_SET(core, &mut set);
        for set in [&set, &before] {
            libc::sched_setaffinity(thread as libc::pid_t, size_of::<libc::cpu_set_t>(), set);
        }
    }
}

/// SCHED_FIFO for the calling thread.
pub fn realtime(priority: i32) -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: a valid pointer for the length of the call.
    check(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameters) }).map(|_| ())
}

/// The calling thread, and what it starts from now on, gives way to others that want its core.
pub fn give_way(niceness: i32) {
    // SAFETY: plain arguments; 0 is the calling thread. Giving way needs no rights.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, niceness) };
}

/// Timers of the calling thread end on time: the default lets them be 50 µs late.
pub fn precise_timers() {
    // SAFETY: plain arguments. A refusal leaves the default, which lateness shows.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

/// Sleeps, unless the time is 0; a signal ends it early.
pub fn sleep_s(duration_s: f64) {
    if duration_s > 0.0 {
        let ns = (duration_s * 1e9) as i64;
        let time = libc::timespec { tv_sec: ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 };
        // SAFETY: a valid timespec that outlives the call; what is left of the time is not asked for.
        unsafe { libc::nanosleep(&raw const time, std::ptr::null_mut()) };
    }
}

/// Lifts the limit of open files of this process, soft and hard, to `wanted`, which needs rights; else the soft one to the
/// hard one.
pub fn raise_file_limit(wanted: u64) {
    let Some(limit) = file_limit() else { return };
    let most = limit.rlim_max.max(wanted);
    for max in [most, limit.rlim_max] {
        let raised = libc::rlimit { rlim_cur: max, rlim_max: max };
        // SAFETY: a valid rlimit. A refusal shows as EMFILE later.
        if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raised) } == 0 {
            return;
        }
    }
}

/// Of open files of this process, soft and hard.
fn file_limit() -> Option<libc::rlimit> {
    // SAFETY: a valid rlimit to write to.
    unsafe {
        let mut limit: libc::rlimit = zeroed();
        (libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0).then_some(limit)
    }
}

/// Files that this process may have open.
pub fn files_max() -> u64 {
    file_limit().map_or(u64::MAX, |limit| limit.rlim_cur)
}

/// Writes once. By a bare system call: that of the C library is a point at which threads can be cancelled, which costs.
pub fn send(socket: &Socket, bytes: &[u8]) -> io::Result<usize> {
    let (fd, none) = (socket.as_raw_fd(), std::ptr::null::<libc::sockaddr>());
    // SAFETY: the bytes outlive the call; there is no address.
    let count = unsafe {
        let flags = libc::MSG_NOSIGNAL;
        libc::syscall(libc::SYS_sendto, fd, bytes.as_ptr(), bytes.len(), flags, none, 0)
    };
    if count < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(count as usize)
}

/// Reads once. The stamp is CLOCK_REALTIME in ns: when the kernel got the last segment of what was read.
pub fn receive(socket: &Socket, buffer: &mut [u8]) -> io::Result<(usize, Option<i64>)> {
    // u64s, for the alignment that a control message wants.
    let mut control = [0u64; 16];
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: the header points to `part` and `control`, which outlive the call and the walk over them.
    unsafe {
        let mut header: libc::msghdr = zeroed();
        header.msg_iov = &mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = size_of::<[u64; 16]>() as _;
        let count = libc::syscall(libc::SYS_recvmsg, socket.as_raw_fd(), &raw mut header, 0);
        if count < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((count as usize, stamp(&header)))
    }
}

/// SAFETY: `header` was filled by recvmsg and its control buffer still lives.
unsafe fn stamp(header: &libc::msghdr) -> Option<i64> {
    let mut message = libc::CMSG_FIRSTHDR(header);
    while !message.is_null() {
        if (*message).cmsg_level == libc::SOL_SOCKET && (*message).cmsg_type == libc::SCM_TIMESTAMPNS {
            let time: libc::timespec = libc::CMSG_DATA(message).cast::<libc::timespec>().read_unaligned();
            return Some(time.tv_sec * 1_000_000_000 + time.tv_nsec);
        }
        message = libc::CMSG_NXTHDR(header, message);
    }
    None
}
