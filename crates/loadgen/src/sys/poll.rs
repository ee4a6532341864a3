//! Waiting for sockets and for a time, whichever comes first.

use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use super::check;
use crate::clock::now_s;

const EVENTS: usize = 256;
const TIMER_KEY: u64 = u64::MAX;

/// epoll with nanosecond timeouts: epoll_pwait2 (Linux 5.11), or a timerfd beside epoll_wait.
pub struct Poller {
    epoll: OwnedFd,
    timer: Option<OwnedFd>,
    events: [libc::epoll_event; EVENTS],
}

impl Poller {
    /// `with_timer` takes the way of older kernels from the start.
    pub fn new(with_timer: bool) -> io::Result<Poller> {
        // SAFETY: the descriptor is new and owned by nobody else.
        let epoll = unsafe { OwnedFd::from_raw_fd(check(libc::epoll_create1(libc::EPOLL_CLOEXEC))?) };
        let events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
        let mut poller = Poller { epoll, timer: None, events };
        if with_timer {
            poller.make_timer()?;
        }
        Ok(poller)
    }

    fn make_timer(&mut self) -> io::Result<()> {
        let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
        // SAFETY: the descriptor is new and owned by nobody else.
        let timer =
            unsafe { OwnedFd::from_raw_fd(check(libc::timerfd_create(libc::CLOCK_MONOTONIC, flags))?) };
        self.add_raw(timer.as_raw_fd(), TIMER_KEY, libc::EPOLLIN | libc::EPOLLET)?;
        self.timer = Some(timer);
        Ok(())
    }

    /// Watches a socket, edge-triggered, for as long as it is open.
    pub fn add(&self, socket: &impl AsRawFd, key: u64) -> io::Result<()> {
        let interest = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET;
        self.add_raw(socket.as_raw_fd(), key, interest)
    }

    fn add_raw(&self, fd: RawFd, key: u64, interest: libc::c_int) -> io::Result<()> {
        let mut event = libc::epoll_event { events: interest as u32, u64: key };
        // SAFETY: the event outlives the call; a descriptor that is closed leaves the set by itself.
        check(unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), libc::EPOLL_CTL_ADD, fd, &mut event) })
            .map(|_| ())
    }

    /// Waits for events until the given CLOCK_MONOTONIC time; returns how many there are.
    pub fn wait(&mut self, until_s: f64) -> io::Result<usize> {
        let left_ns = ((until_s - now_s()).max(0.0) * 1e9).min(1e18) as i64;
        let left = libc::timespec { tv_sec: left_ns / 1_000_000_000, tv_nsec: left_ns % 1_000_000_000 };
        let epoll = self.epoll.as_raw_fd();
        let count = match &self.timer {
            None => wait_precise(epoll, &mut self.events, &left),
            Some(timer) => wait_with_timer(epoll, &mut self.events, timer.as_raw_fd(), left),
        };
        match count {
            Err(e) if e.raw_os_error() == Some(libc::ENOSYS) && self.timer.is_none() => {
                self.make_timer()?;
                self.wait(until_s)
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(0),
            other => other,
        }
    }

    /// The i-th event of the last wait: its key and flags; `None` for the timer.
    pub fn event(&self, index: usize) -> Option<(u64, i32)> {
        let event = self.events.get(index)?;
        let (key, flags) = (event.u64, event.events);
        (key != TIMER_KEY).then_some((key, flags as i32))
    }
}

fn wait_precise(epoll: RawFd, events: &mut [libc::epoll_event], left: &libc::timespec) -> io::Result<usize> {
    let (room, mask) = (events.len(), std::ptr::null::<u8>());
    // SAFETY: the kernel writes at most `room` events, into memory that is borrowed for it alone; no signal mask is given.
    let count = unsafe {
        libc::syscall(libc::SYS_epoll_pwait2, epoll, events.as_mut_ptr(), room, &raw const *left, mask, 0)
    };
    check(count as libc::c_int).map(|count| count as usize)
}

fn wait_with_timer(
    epoll: RawFd,
    events: &mut [libc::epoll_event],
    timer: RawFd,
    left: libc::timespec,
) -> io::Result<usize> {
    let now = left.tv_sec == 0 && left.tv_nsec == 0;
    let (room, timeout) = (events.len() as libc::c_int, if now { 0 } else { -1 });
    // SAFETY: as above; the timer's setting outlives the call that reads it.
    let count = unsafe {
        let mut setting: libc::itimerspec = zeroed();
        setting.it_value = left;
        check(libc::timerfd_settime(timer, 0, &setting, std::ptr::null_mut()))?;
        libc::epoll_wait(epoll, events.as_mut_ptr(), room, timeout)
    };
    check(count).map(|count| count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_writes_only_into_what_is_borrowed_for_it_alone() {
        type Events<'a> = &'a mut [libc::epoll_event];
        // A function that takes a shared borrow has another type: this would not compile.
        let _: fn(RawFd, Events, &libc::timespec) -> io::Result<usize> = wait_precise;
        let _: fn(RawFd, Events, RawFd, libc::timespec) -> io::Result<usize> = wait_with_timer;
        let _: fn(&mut Poller, f64) -> io::Result<usize> = Poller::wait;
    }

    #[test]
    fn both_ways_of_waiting_do_not_end_early() {
        for with_timer in [false, true] {
            let mut poller = Poller::new(with_timer).unwrap();
            for ahead_s in [0.0, 0.0005, 0.02] {
                let until_s = now_s() + ahead_s;
                poller.wait(until_s).unwrap();
                // A nanosecond is cut off when seconds become a timespec.
                assert!(now_s() >= until_s - 1e-8);
            }
        }
    }
}
