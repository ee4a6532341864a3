//! The system calls that the standard library does not have, and with `uring_file` all `unsafe` of this crate.
//!
//! `unsafe` is needed for what a page cache holds (mincore), stable writes (pwritev2), direct I/O's alignment (statx), TCP's
//! quick acknowledgements and CPU clocks. Each block is one call with memory that outlives it.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::mem::{size_of, MaybeUninit};
use std::os::fd::AsRawFd;

/// Pages are asked about in pieces of this many bytes.
const PIECE_BYTES: u64 = 1 << 30;

fn clock(clock: libc::clockid_t) -> libc::timespec {
    // SAFETY: a valid pointer to a timespec; the clocks used here exist on every Linux.
    unsafe {
        let mut time = MaybeUninit::<libc::timespec>::zeroed();
        libc::clock_gettime(clock, time.as_mut_ptr());
        time.assume_init()
    }
}

/// CPU time of this process and of its thread that calls, s.
pub fn cpu_s() -> (f64, f64) {
    let s = |time: libc::timespec| time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9;
    (s(clock(libc::CLOCK_PROCESS_CPUTIME_ID)), s(clock(libc::CLOCK_THREAD_CPUTIME_ID)))
}

/// The kernel's ticks a second: its coarse clock moves with them.
pub fn ticks_per_s() -> f64 {
    // SAFETY: a valid pointer to a timespec.
    let resolution = unsafe {
        let mut time = MaybeUninit::<libc::timespec>::zeroed();
        libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, time.as_mut_ptr());
        time.assume_init()
    };
    1e9 / (resolution.tv_nsec as f64).max(1.0)
}

/// Acknowledges what was received now; the kernel falls back to delayed acknowledgements by itself.
pub fn quick_ack(socket: &impl AsRawFd) {
    let on: libc::c_int = 1;
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: `on` outlives the call. A Unix socket refuses, and needs none.
    unsafe {
        let (level, name) = (libc::IPPROTO_TCP, libc::TCP_QUICKACK);
        libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const on).cast(), length);
    }
}

/// What direct I/O on a file wants its offsets and lengths to be multiples of; `None` where the system does not say.
pub fn direct_alignment(file: &File) -> Option<u32> {
    const STATX_DIOALIGN: libc::c_uint = 0x2000;
    // SAFETY: an empty path and a struct, both outlive the call.
    unsafe {
        let mut told = MaybeUninit::<libc::statx>::zeroed();
        let flags = libc::AT_EMPTY_PATH;
        if libc::statx(file.as_raw_fd(), c"".as_ptr(), flags, STATX_DIOALIGN, told.as_mut_ptr()) != 0 {
            return None;
        }
        let told = told.assume_init();
        (told.stx_mask & STATX_DIOALIGN != 0).then_some(told.stx_dio_offset_align)
    }
}

/// Writes at an offset; with `stable` it is on stable storage when this returns.
pub fn write_at(file: &File, bytes: &[u8], offset_bytes: u64, stable: bool) -> io::Result<usize> {
    let part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let flags = if stable { libc::RWF_DSYNC } else { 0 };
    // SAFETY: the kernel only reads from `part`, which outlives the call.
    let count = unsafe { libc::pwritev2(file.as_raw_fd(), &raw const part, 1, offset_bytes as i64, flags) };
    if count < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(count as usize)
}

/// Asks the page cache to give up what it holds of a file and what is on the disk already.
pub fn drop_cache(file: &File) {
    // SAFETY: plain numbers. A refusal shows in the share that is read.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}

/// The share in [0, 1] of the first `span_bytes` of a file or device that the page cache holds.
pub fn cached_share(file: &File, span_bytes: u64) -> io::Result<f64> {
    // SAFETY: a plain number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
    let (mut held, mut pages, mut at) = (0u64, 0u64, 0u64);
    while at < span_bytes {
        let length = PIECE_BYTES.min(span_bytes - at);
        let mut found = vec![0u8; length.div_ceil(page) as usize];
        // SAFETY: the mapping is new, nobody reads through it, and it is unmapped below; `found` has a byte for each page.
        let told = unsafe {
            let (none, fd) = (std::ptr::null_mut(), file.as_raw_fd());
            let map = libc::mmap(none, length as usize, libc::PROT_READ, libc::MAP_SHARED, fd, at as i64);
            if map == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let told = libc::mincore(map, length as usize, found.as_mut_ptr());
            let error = io::Error::last_os_error();
            libc::munmap(map, length as usize);
            if told == 0 {
                Ok(())
            } else {
                Err(error)
            }
        };
        told?;
        held += found.iter().filter(|page| **page & 1 == 1).count() as u64;
        pages += found.len() as u64;
        at += length;
    }
    Ok(held as f64 / pages.max(1) as f64)
}
