//! How a loop is given connections, and woken.

use std::io;
use std::sync::{Mutex, PoisonError};

use mio::net::TcpStream;
use mio::{Poll, Token, Waker};

pub(super) const WAKE: Token = Token(usize::MAX);

/// The epoll is taken by the loop when it is made.
#[derive(Debug)]
pub(crate) struct Mailbox {
    pub poll: Mutex<Option<Poll>>,
    waker: Waker,
    connections: Mutex<Vec<TcpStream>>,
}

impl Mailbox {
    pub fn new() -> io::Result<Self> {
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), WAKE)?;
        Ok(Self { poll: Mutex::new(Some(poll)), waker, connections: Mutex::default() })
    }

    pub fn give(&self, stream: TcpStream) -> io::Result<()> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner).push(stream);
        self.waker.wake()
    }

    pub fn take(&self) -> Vec<TcpStream> {
        std::mem::take(&mut self.connections.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
