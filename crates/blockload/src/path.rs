//! What the generator asks of a path to storage.

use std::io;

use crate::operation::Operation;

/// How an I/O ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IoEnd {
    /// All of it was done.
    Done,
    /// The system or the server said that it failed: the error's name.
    Error(&'static str),
    /// Less than all of it was done.
    Short,
    /// The connection broke off before the answer; a write may have been done.
    Lost,
}

/// The end of the I/O in a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    pub slot: u32,
    pub end: IoEnd,
}

/// A path to storage with a fixed number of slots; each has a buffer of its own, which is the path's until the I/O has ended.
pub trait BlockPath {
    /// The buffer of a slot without an I/O.
    fn buffer(&mut self, slot: u32) -> &mut [u8];

    /// Whether I/Os can begin now.
    fn is_up(&self) -> bool {
        true
    }

    /// Begins an I/O in a slot without one.
    ///
    /// # Errors
    /// The path itself fails; an I/O that fails is a completion.
    fn begin(&mut self, slot: u32, operation: &Operation) -> io::Result<()>;

    /// Adds what has ended to `ended`, as soon as anything has; else returns at `until_s` (CLOCK_MONOTONIC).
    ///
    /// # Errors
    /// The path itself fails.
    fn wait(&mut self, until_s: f64, ended: &mut Vec<Completion>) -> io::Result<()>;

    /// How often it connected again, and how many answers stalled half-way.
    fn network(&self) -> NetworkCounts {
        NetworkCounts::default()
    }
}

/// What only a path over a network has.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct NetworkCounts {
    pub reconnects: u64,
    /// Answers with data whose first bytes came more than half a millisecond before their last.
    pub stalled: u64,
    pub answers_with_data: u64,
}

/// The name of a system error, as errno(3) has it.
pub fn error_name(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EIO) => "EIO",
        Some(libc::ENOSPC) => "ENOSPC",
        Some(libc::EINVAL) => "EINVAL",
        Some(libc::EROFS) => "EROFS",
        Some(libc::EPERM) => "EPERM",
        Some(libc::EFBIG) => "EFBIG",
        Some(libc::EDQUOT) => "EDQUOT",
        Some(libc::ENOMEM) => "ENOMEM",
        Some(libc::ENODEV) => "ENODEV",
        Some(libc::ENXIO) => "ENXIO",
        Some(libc::EAGAIN) => "EAGAIN",
        Some(libc::EOPNOTSUPP) => "EOPNOTSUPP",
        _ => "another error",
    }
}
