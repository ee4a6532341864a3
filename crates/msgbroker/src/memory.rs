//! One limit over the requests that all clients together have under way.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes held, of those that may be.
#[derive(Debug)]
pub(crate) struct Memory {
    used: AtomicUsize,
    most: usize,
}

impl Memory {
    pub fn new(most: usize) -> Self {
        Self { used: AtomicUsize::new(0), most }
    }

    /// Whether so many more may be held.
    pub fn take(&self, bytes: usize) -> bool {
        let fits = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes <= self.most;
        if !fits {
            self.give(bytes);
        }
        fits
    }

    pub fn give(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_up_to_the_limit_and_takes_back() {
        let memory = Memory::new(100);
        assert!(memory.take(60) && !memory.take(50) && memory.take(40));
        memory.give(60);
        assert!(memory.take(50));
        assert_eq!(memory.used.load(Ordering::Relaxed), 90);
    }
}
