//! One limit over what all clients together make a service hold.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// A limit on the bytes that all clients together hold.
#[derive(Debug)]
pub struct MemoryLimit {
    used: AtomicUsize,
    most: usize,
    free: usize,
}

impl MemoryLimit {
    /// At most `most` bytes; up to `free` of them a holder has without asking ([`MemoryLimit::change`]).
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

/// The bytes that one holder has of the limit; given back when it is dropped.
#[derive(Debug)]
pub struct MemoryCharge {
    memory: Arc<MemoryLimit>,
    held: usize,
}

impl MemoryCharge {
    /// Of nothing.
    #[must_use]
    pub fn new(memory: &Arc<MemoryLimit>) -> Self {
        Self { memory: Arc::clone(memory), held: 0 }
    }

    /// Becomes so large; false, and as before, where the limit does not allow it.
    #[inline]
    pub fn resize(&mut self, bytes: usize) -> bool {
        (self.held == 0 && bytes <= self.memory.free) || self.memory.change(&mut self.held, bytes)
    }

    /// For bytes that are there already: counts them even above the limit, so that others get no more.
    #[inline]
    pub fn set(&mut self, bytes: usize) {
        if !self.resize(bytes) {
            self.memory.used.fetch_add(bytes - self.held, Ordering::Relaxed);
            self.held = bytes;
        }
    }
}

impl Drop for MemoryCharge {
    fn drop(&mut self) {
        self.memory.give(self.held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_up_to_the_limit_and_takes_back() {
        let memory = MemoryLimit::new(100, 0);
        assert!(memory.take(60) && !memory.take(50) && memory.take(40));
        memory.give(60);
        assert!(memory.take(50));
        assert_eq!(memory.used.load(Ordering::Relaxed), 90);
    }

    #[test]
    fn holders_change_what_they_hold() {
        const FREE: usize = 64 * 1024;
        let memory = MemoryLimit::new(1 << 20, FREE);
        let (mut one, mut two) = (0, 0);
        assert!(memory.change(&mut one, FREE) && one == 0, "small buffers are free");
        assert!(memory.change(&mut one, 1 << 20));
        assert!(!memory.change(&mut two, 1 << 17) && two == 0);
        assert!(memory.change(&mut one, 0) && memory.change(&mut two, 1 << 17));
        assert_eq!(memory.used.load(Ordering::Relaxed), 1 << 17);
    }

    #[test]
    fn a_charge_is_given_back_when_its_holder_ends() {
        let memory = Arc::new(MemoryLimit::new(100, 10));
        {
            let (mut one, mut two) = (MemoryCharge::new(&memory), MemoryCharge::new(&memory));
            assert!(one.resize(10) && one.held == 0 && one.resize(80) && !two.resize(30) && two.held == 0);
            two.set(30);
            assert_eq!(memory.used.load(Ordering::Relaxed), 110, "it is there, so it counts");
            assert!(!one.resize(81) && one.resize(20) && one.resize(60));
        }
        assert_eq!(memory.used.load(Ordering::Relaxed), 0);
    }
}
