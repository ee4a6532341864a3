//! A file or device by io_uring: one call submits what is due and waits for what has ended.
//!
//! `unsafe` is needed because the kernel reads and writes buffers after the call that named them: they belong to this path, stay
//! where they are, and are freed only once no I/O is under way; if one still is at the end, they are never freed.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use io_uring::{opcode, squeue, types, IoUring};
use sojourn_record::clock;

use crate::aligned_buffer::AlignedBuffer;
use crate::operation::{Operation, OperationKind};
use crate::path::{error_name, BlockPath, Completion, IoEnd};

/// Marks the end of a timer, which is no slot's.
const TIMER: u64 = u64::MAX;
/// Entries beside those of I/Os, for timers.
const SPARE: u32 = 2;

/// A file and its ring.
pub struct UringFile {
    ring: IoUring,
    file: File,
    buffers: Vec<AlignedBuffer>,
    /// Length of the I/O in each slot.
    lengths: Vec<Option<u32>>,
    under_way: usize,
    /// When timers in the ring end, the last one first. A timer outlives the waits before it: one that was set with each wait would be
    /// set twice for an I/O, and taken back once, each of which leaves a virtual machine.
    timers: Vec<f64>,
    /// Of the timer that goes out with the next call.
    timer: types::Timespec,
    /// The kernel holds file and buffers, and need not look them up and pin them for each I/O.
    registered: bool,
}

/// Whether this system gives a ring to this process.
///
/// # Errors
/// Why not.
pub fn available() -> io::Result<()> {
    ring(2).map(drop)
}

/// Completions are made when this thread waits for them, not in interrupts; older kernels have only the plain ring.
fn ring(entries: u32) -> io::Result<IoUring> {
    let quiet = IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(entries);
    quiet.or_else(|_| IoUring::new(entries))
}

/// Makes file and buffers known to the ring. It may refuse: buffers count as locked memory.
fn register(ring: &IoUring, file: &File, buffers: &mut [AlignedBuffer]) -> io::Result<()> {
    let submitter = ring.submitter();
    submitter.register_files(&[file.as_raw_fd()])?;
    let parts: Vec<libc::iovec> = buffers
        .iter_mut()
        .map(AlignedBuffer::bytes_mut)
        .map(|bytes| libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() })
        .collect();
    // SAFETY: the buffers belong to the path, which lives as long as the ring, and never move; one that an I/O may still write to is
    // never freed.
    unsafe { submitter.register_buffers(&parts) }
}

impl UringFile {
    /// For `depth` I/Os of up to `block_bytes`; called on the thread that will use it.
    ///
    /// # Errors
    /// The system has no ring for this process.
    pub fn new(file: File, depth: u32, block_bytes: u32) -> io::Result<UringFile> {
        let ring = ring((depth + SPARE).next_power_of_two())?;
        let mut buffers: Vec<_> = (0..depth).map(|_| AlignedBuffer::new(block_bytes as usize)).collect();
        let (lengths, timer) = (vec![None; depth as usize], types::Timespec::new());
        let registered = register(&ring, &file, &mut buffers).is_ok();
        Ok(UringFile { ring, file, buffers, lengths, under_way: 0, timers: Vec::new(), timer, registered })
    }

    fn entry(&mut self, slot: u32, operation: &Operation) -> squeue::Entry {
        let buffer = self.buffers[slot as usize].bytes_mut();
        let (length, offset) = (operation.length_bytes, operation.offset_bytes);
        assert!(buffer.len() >= length as usize, "a buffer holds the longest block");
        let (at, fd, held, index) =
            (buffer.as_mut_ptr(), types::Fd(self.file.as_raw_fd()), types::Fixed(0), slot as u16);
        let flags = if operation.stable { libc::RWF_DSYNC } else { 0 };
        let entry = match (operation.kind, self.registered) {
            (OperationKind::Read, true) => {
                opcode::ReadFixed::new(held, at, length, index).offset(offset).build()
            }
            (OperationKind::Read, false) => opcode::Read::new(fd, at, length).offset(offset).build(),
            (OperationKind::Write, true) => {
                opcode::WriteFixed::new(held, at, length, index).offset(offset).rw_flags(flags).build()
            }
            (OperationKind::Write, false) => {
                opcode::Write::new(fd, at, length).offset(offset).rw_flags(flags).build()
            }
            (OperationKind::Flush, _) => opcode::Fsync::new(fd).build(),
        };
        entry.user_data(slot.into())
    }

    /// Sees to it that a wait ends at `until_s`, unless it ends before.
    fn set_timer(&mut self, until_s: f64) -> io::Result<()> {
        if self.timers.last().is_some_and(|ends_s| *ends_s <= until_s) {
            return Ok(());
        }
        self.timer = types::Timespec::from(std::time::Duration::from_secs_f64(until_s.clamp(0.0, 1e9)));
        let entry = opcode::Timeout::new(&raw const self.timer).flags(types::TimeoutFlags::ABS).build();
        // SAFETY: the kernel reads the time in the call that follows in `wait`, before which nothing moves or changes it.
        let pushed = unsafe { self.ring.submission().push(&entry.user_data(TIMER)) };
        pushed.map_err(|_| io::Error::other("the ring is full"))?;
        self.timers.push(until_s);
        Ok(())
    }

    fn reap(&mut self, ended: &mut Vec<Completion>) {
        let (lengths, timers) = (&mut self.lengths, &mut self.timers);
        let before = ended.len();
        ended.extend(self.ring.completion().filter_map(|entry| {
            if entry.user_data() == TIMER {
                timers.pop();
                return None;
            }
            let slot = entry.user_data() as u32;
            let length = lengths.get_mut(slot as usize)?.take()?;
            let end = match entry.result() {
                error if error < 0 => IoEnd::Error(error_name(&io::Error::from_raw_os_error(-error))),
                done if done as u32 == length => IoEnd::Done,
                _ => IoEnd::Short,
            };
            Some(Completion { slot, end })
        }));
        self.under_way -= ended.len() - before;
    }
}

impl BlockPath for UringFile {
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        assert!(self.lengths[slot as usize].is_none(), "the kernel has the buffer of slot {slot}");
        self.buffers[slot as usize].bytes_mut()
    }

    fn begin(&mut self, slot: u32, operation: &Operation) -> io::Result<()> {
        assert!(self.lengths[slot as usize].is_none(), "slot {slot} is taken");
        let entry = self.entry(slot, operation);
        // SAFETY: the buffer is this path's, does not move, and `buffer` gives it to nobody until the I/O has ended; `drop`
        // keeps it where one has not. There are as many entries as slots, so one is free.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        pushed.map_err(|_| io::Error::other("the ring is full"))?;
        self.lengths[slot as usize] = Some(operation.length_bytes);
        self.under_way += 1;
        Ok(())
    }

    fn wait(&mut self, until_s: f64, ended: &mut Vec<Completion>) -> io::Result<()> {
        let called = if until_s <= clock::s(clock::now()) {
            // Nothing to wait for: what has ended is made to appear all the same.
            let at_once = types::Timespec::new();
            self.ring.submitter().submit_with_args(1, &types::SubmitArgs::new().timespec(&at_once))
        } else {
            self.set_timer(until_s)?;
            self.ring.submit_and_wait(1)
        };
        match called {
            Err(error) if !matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR | libc::EBUSY)) => {
                Err(error)
            }
            _ => {
                self.reap(ended);
                Ok(())
            }
        }
    }
}

impl Drop for UringFile {
    fn drop(&mut self) {
        if self.under_way > 0 {
            // The kernel may still write into them.
            std::mem::forget(std::mem::take(&mut self.buffers));
        }
    }
}
