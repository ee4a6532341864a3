//! A socket whose reads end when the server is stopped, or when their time is up.

use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How soon a stop is seen.
const LOOK: Duration = Duration::from_millis(50);
/// A peer that does not take its answers is given up after this.
const WRITE_LIMIT: Duration = Duration::from_secs(10);

/// The reading half of a connection.
pub struct StoppableStream<'a> {
    pub stream: TcpStream,
    stop: &'a AtomicBool,
    /// By when the peer must have said what it has to.
    pub until: Option<Instant>,
}

impl<'a> StoppableStream<'a> {
    pub fn new(stream: TcpStream, stop: &'a AtomicBool) -> io::Result<StoppableStream<'a>> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LOOK))?;
        stream.set_write_timeout(Some(WRITE_LIMIT))?;
        Ok(StoppableStream { stream, stop, until: None })
    }

    /// Reads some bytes; 0 at the end of the connection, and when the server is stopped.
    pub fn read_some(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.stream.read(buffer) {
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                other => return other,
            }
            if self.stop.load(Ordering::Relaxed) {
                return Ok(0);
            }
            if self.until.is_some_and(|until| Instant::now() > until) {
                return Err(ErrorKind::TimedOut.into());
            }
        }
    }

    /// Fills the buffer; false where the connection ended before its first byte.
    pub fn read_whole(&mut self, buffer: &mut [u8]) -> io::Result<bool> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read_some(&mut buffer[filled..])? {
                0 if filled == 0 => return Ok(false),
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                count => filled += count,
            }
        }
        Ok(true)
    }
}
