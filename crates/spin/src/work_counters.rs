//! How much work each busy loop has done, where another process can read it.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters are this far apart: cores that write to one cache line would slow each other.
pub const STRIDE_BYTES: usize = 128;

/// A counter a loop in a file that is shared by mapping: 8 bytes, of this machine's order, every `STRIDE_BYTES`.
#[derive(Debug)]
pub struct WorkCounters {
    at: NonNull<u8>,
    count: usize,
}

// SAFETY: all access to the mapping goes through atomics.
unsafe impl Send for WorkCounters {}
// SAFETY: as above.
unsafe impl Sync for WorkCounters {}

impl WorkCounters {
    /// Maps the first `count` counters of the file, which is made long enough.
    ///
    /// # Errors
    /// The file cannot be opened, made longer or mapped.
    pub fn map(path: &Path, count: usize) -> io::Result<Self> {
        let file = File::options().read(true).write(true).open(path)?;
        let length = count.max(1) * STRIDE_BYTES;
        file.set_len(length as u64)?;
        // SAFETY: a new shared mapping of a file that is at least that long; its address is checked below.
        let at = unsafe {
            let both = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(std::ptr::null_mut(), length, both, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let at = NonNull::new(at.cast()).ok_or_else(io::Error::last_os_error)?;
        Ok(Self { at, count })
    }

    /// Adds to a counter that only one loop adds to.
    pub(crate) fn add(&self, counter: usize, work: u64) {
        assert!(counter < self.count, "{} counters, no number {counter}", self.count);
        // SAFETY: inside the mapping, aligned to 8 bytes as pages and the stride are, and only touched as an atomic.
        let own = unsafe { self.at.add(counter * STRIDE_BYTES).cast::<AtomicU64>().as_ref() };
        own.store(own.load(Ordering::Relaxed) + work, Ordering::Relaxed);
    }
}

impl Drop for WorkCounters {
    fn drop(&mut self) {
        // SAFETY: the mapping of `map`, which nobody refers to any more.
        unsafe { libc::munmap(self.at.as_ptr().cast(), self.count.max(1) * STRIDE_BYTES) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_counter_stands_where_another_process_finds_it() {
        let path = std::env::temp_dir().join(format!("sojourn-work-{}", std::process::id()));
        std::fs::write(&path, []).unwrap();
        let counters = WorkCounters::map(&path, 2).unwrap();
        (0..3).for_each(|_| counters.add(1, 7));
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!((bytes.len(), word(0), word(STRIDE_BYTES)), (2 * STRIDE_BYTES, 0, 21));
        assert!(WorkCounters::map(Path::new("/no/such/file"), 1).is_err());
    }
}
