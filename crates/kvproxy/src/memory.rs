//! One limit over the large buffers of all connections.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Up to so many bytes a connection has its buffers without asking.
pub(crate) const FREE_BYTES: usize = 64 * 1024;

/// Bytes granted, of those that may be.
#[derive(Debug)]
pub(crate) struct Memory {
    used: AtomicUsize,
    most: usize,
}

impl Memory {
    pub fn new(most: usize) -> Self {
        Self { used: AtomicUsize::new(0), most }
    }

    /// Changes what a connection `holds` to `wants`; whether that was possible.
    pub fn change(&self, holds: &mut usize, wants: usize) -> bool {
        let wants = if wants <= FREE_BYTES { 0 } else { wants };
        if wants <= *holds {
            self.used.fetch_sub(*holds - wants, Ordering::Relaxed);
        } else {
            let more = wants - *holds;
            if self.used.fetch_add(more, Ordering::Relaxed) + more > self.most {
                self.used.fetch_sub(more, Ordering::Relaxed);
                return false;
            }
        }
        *holds = wants;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_up_to_the_limit_and_takes_back() {
        let memory = Memory::new(1 << 20);
        let (mut one, mut two) = (0, 0);
        assert!(memory.change(&mut one, FREE_BYTES) && one == 0, "small buffers are free");
        assert!(memory.change(&mut one, 1 << 20));
        assert!(!memory.change(&mut two, 1 << 17) && two == 0);
        assert!(memory.change(&mut one, 0) && memory.change(&mut two, 1 << 17));
        assert_eq!(memory.used.load(Ordering::Relaxed), 1 << 17);
    }
}
