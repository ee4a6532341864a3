//! The system calls without a safe wrapper in std; all of this crate's `unsafe`.
#![allow(unsafe_code)]

use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

fn check(result: i32) -> io::Result<i32> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

/// The core that the calling thread is on.
pub(crate) fn current_core() -> u16 {
    // SAFETY: takes no pointers.
    let core = unsafe { libc::sched_getcpu() };
    u16::try_from(core).unwrap_or(u16::MAX)
}

/// Raises the soft limit of open files to `needed`; the limit that holds then.
pub(crate) fn allow_files(needed: u64) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointers are to a live rlimit.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        if limit.rlim_cur < needed {
            let raised = libc::rlimit { rlim_cur: needed.min(limit.rlim_max), ..limit };
            if libc::setrlimit(libc::RLIMIT_NOFILE, &raised) == 0 {
                limit = raised;
            }
        }
    }
    limit.rlim_cur
}

fn option(fd: RawFd, name: i32, value: i32) -> io::Result<()> {
    let size = size_of::<i32>() as libc::socklen_t;
    // SAFETY: the pointer is to a live i32 of the size given.
    let result =
        unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, name, std::ptr::from_ref(&value).cast(), size) };
    check(result).map(|_| ())
}

/// A longer queue of connections to be accepted, and kernel time stamps, which connections inherit.
pub(crate) fn prepare(listener: &TcpListener) -> io::Result<()> {
    // SAFETY: takes no pointers; on a listening socket it only changes the length of the queue.
    check(unsafe { libc::listen(listener.as_raw_fd(), 4096) })?;
    option(listener.as_raw_fd(), libc::SO_TIMESTAMPNS, 1)
}

/// Room for `bytes` in the send buffer, so that a page goes out in one call.
pub(crate) fn send_buffer(stream: &TcpStream, bytes: usize) -> io::Result<()> {
    option(stream.as_raw_fd(), libc::SO_SNDBUF, i32::try_from(bytes).unwrap_or(i32::MAX))
}

/// Receives what is there and when the kernel got it (ns of `CLOCK_REALTIME`).
pub(crate) fn receive(stream: &TcpStream, buffer: &mut [u8]) -> io::Result<(usize, Option<i64>)> {
    #[repr(align(8))]
    struct ControlMessageBuffer([u8; 64]);
    let mut control = ControlMessageBuffer([0; 64]);
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: a zeroed msghdr is valid; all pointers in it are to live memory of the lengths given; CMSG_*
    // stay inside the control buffer, of which the kernel filled msg_controllen bytes.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = control.0.len() as _;
        let length = libc::recvmsg(stream.as_raw_fd(), &mut message, libc::MSG_DONTWAIT);
        if length < 0 {
            return Err(io::Error::last_os_error());
        }
        let mut at = libc::CMSG_FIRSTHDR(&message);
        while !at.is_null() {
            if (*at).cmsg_level == libc::SOL_SOCKET && (*at).cmsg_type == libc::SCM_TIMESTAMPNS {
                let time = libc::CMSG_DATA(at).cast::<libc::timespec>().read_unaligned();
                return Ok((length as usize, Some(time.tv_sec * 1_000_000_000 + time.tv_nsec)));
            }
            at = libc::CMSG_NXTHDR(&message, at);
        }
        Ok((length as usize, None))
    }
}

/// An epoll instance.
#[derive(Debug)]
pub(crate) struct Epoll(OwnedFd);

/// Wakes whoever watches it: an eventfd, so that waking never blocks and needs no emptying.
#[derive(Debug)]
pub(crate) struct WakeUp(std::fs::File);

impl WakeUp {
    pub(crate) fn new() -> io::Result<WakeUp> {
        // SAFETY: takes no pointers; the descriptor returned is new and owned by nobody else.
        let fd =
            unsafe { OwnedFd::from_raw_fd(check(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK))?) };
        Ok(WakeUp(fd.into()))
    }

    pub(crate) fn ring(&self) {
        // It fails only after 2^64 - 2 rings.
        std::io::Write::write_all(&mut &self.0, &1u64.to_ne_bytes()).ok();
    }
}

impl AsRawFd for WakeUp {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// An event: whose it is, and whether there is something to receive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct EpollEvent {
    pub token: u64,
    pub readable: bool,
    pub hung_up: bool,
}

/// How a descriptor is watched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TriggerMode {
    /// As long as there is something to read.
    Level,
    /// Once for each change, readable or writable: events come in the order of the changes.
    Edge,
}

impl Epoll {
    pub(crate) fn new() -> io::Result<Epoll> {
        // SAFETY: takes no pointers; the descriptor returned is new and owned by nobody else.
        unsafe { Ok(Epoll(OwnedFd::from_raw_fd(check(libc::epoll_create1(libc::EPOLL_CLOEXEC))?))) }
    }

    pub(crate) fn add(&self, fd: &impl AsRawFd, token: u64, watch: TriggerMode) -> io::Result<()> {
        let edge = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET;
        let events = if watch == TriggerMode::Edge { edge } else { libc::EPOLLIN } as u32;
        let mut event = libc::epoll_event { events, u64: token };
        // SAFETY: the pointer is to a live epoll_event.
        let result =
            unsafe { libc::epoll_ctl(self.0.as_raw_fd(), libc::EPOLL_CTL_ADD, fd.as_raw_fd(), &mut event) };
        check(result).map(|_| ())
    }

    /// Waits up to `timeout_ms` and hands on what happened, in order; an interrupted wait has no events.
    pub(crate) fn wait(&self, timeout_ms: i32, mut each: impl FnMut(EpollEvent)) -> io::Result<()> {
        const MOST: usize = 256;
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; MOST];
        // SAFETY: the pointer is to MOST live epoll_events.
        let count =
            unsafe { libc::epoll_wait(self.0.as_raw_fd(), events.as_mut_ptr(), MOST as i32, timeout_ms) };
        let count = match check(count) {
            Ok(count) => count as usize,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => 0,
            Err(e) => return Err(e),
        };
        for event in &events[..count] {
            let (bits, token) = (event.events, event.u64);
            let has = |mask: i32| bits & mask as u32 != 0;
            let hung_up = has(libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR);
            each(EpollEvent { token, readable: has(libc::EPOLLIN) || hung_up, hung_up });
        }
        Ok(())
    }
}
