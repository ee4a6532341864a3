//! One limit over what all clients together make a service hold.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes held, of those that may be.
#[derive(Debug)]
pub struct Memory {
    used: AtomicUsize,
    most: usize,
    free: usize,
}

impl Memory {
    /// At most `most` bytes; up to `free` of them a holder has without asking ([`Memory::change`]).
    #[must_use]
    pub fn new(most: usize, free: usize) -> Self {
        Self { used: AtomicUsize::new(0), most, free }
    }

    /// Whether so many more may be held.
    #[inline]
    pub fn take(&self, bytes: usize) -> bool {
        let fits = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes <= self.most;
        if !fits {
            self.give(bytes);
        }
        fits
    }

    #[inline]
    pub fn give(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Changes what somebody `holds` to `wants`; whether that was possible.
    #[inline]
    pub fn change(&self, holds: &mut usize, wants: usize) -> bool {
        let wants = if wants <= self.free { 0 } else { wants };
        if wants <= *holds {
            self.give(*holds - wants);
        } else if !self.take(wants - *holds) {
            return false;
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
        let memory = Memory::new(100, 0);
        assert!(memory.take(60) && !memory.take(50) && memory.take(40));
        memory.give(60);
        assert!(memory.take(50));
        assert_eq!(memory.used.load(Ordering::Relaxed), 90);
    }

    #[test]
    fn holders_change_what_they_hold() {
        const FREE: usize = 64 * 1024;
        let memory = Memory::new(1 << 20, FREE);
        let (mut one, mut two) = (0, 0);
        assert!(memory.change(&mut one, FREE) && one == 0, "small buffers are free");
        assert!(memory.change(&mut one, 1 << 20));
        assert!(!memory.change(&mut two, 1 << 17) && two == 0);
        assert!(memory.change(&mut one, 0) && memory.change(&mut two, 1 << 17));
        assert_eq!(memory.used.load(Ordering::Relaxed), 1 << 17);
    }
}
