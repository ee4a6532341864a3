//! How workers tell the network thread that a client's requests may be read again.

use std::io;
use std::sync::{Mutex, PoisonError};

use mio::{Registry, Token, Waker};

pub(super) const RESUME: Token = Token(usize::MAX - 1);

#[derive(Debug)]
pub(super) struct ResumeQueue {
    waker: Waker,
    clients: Mutex<Vec<u32>>,
}

impl ResumeQueue {
    pub fn new(registry: &Registry) -> io::Result<Self> {
        Ok(Self { waker: Waker::new(registry, RESUME)?, clients: Mutex::default() })
    }

    /// Without a wake-up the network thread looks within a tick.
    pub fn tell(&self, client: u32) {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner).push(client);
        let _ = self.waker.wake();
    }

    pub fn take(&self) -> Vec<u32> {
        std::mem::take(&mut self.clients.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
