//! Bytes of a connection: those that arrived and were not used yet, and those that are to be written.

use std::io::{self, ErrorKind, Read};

const SMALL: usize = 16 * 1024;
const KEPT: usize = 256 * 1024;
const LEAST_READ: usize = 4096;

/// What one reading brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOutcome {
    /// The other side will send nothing more.
    Closed,
    /// Nothing is there now.
    Empty,
    /// So many bytes, and with `more` perhaps not all.
    Some { count: usize, more: bool },
}

/// The start of `bytes` up to `end` has arrived, up to `start` it has been used.
#[derive(Debug, Default)]
pub struct ReadBuffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl ReadBuffer {
    /// What arrived and was not used yet.
    #[inline]
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Memory held.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The first `count` bytes have been used.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        self.start += count.min(self.end - self.start);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.bytes.len() > KEPT {
                self.bytes = Vec::new();
            }
        }
    }

    /// Makes room so that `data` can grow to `whole` bytes and at least a few further ones can be read.
    pub fn make_room(&mut self, whole: usize) {
        let whole = whole.max(self.end - self.start + LEAST_READ);
        if self.start + whole <= self.bytes.len() {
            return;
        }
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if whole > self.bytes.len() {
            let size = if whole <= SMALL { SMALL } else { (whole + LEAST_READ).max(self.bytes.len() * 2) };
            self.bytes.resize(size, 0);
        }
    }

    /// Reads once, at most so many bytes.
    ///
    /// # Errors
    /// As `read`, but for what `ReadOutcome` says.
    pub fn fill(&mut self, source: &mut impl Read, most: usize) -> io::Result<ReadOutcome> {
        self.make_room(0);
        let space = most.min(self.bytes.len() - self.end);
        loop {
            return match source.read(&mut self.bytes[self.end..self.end + space]) {
                Ok(0) => Ok(ReadOutcome::Closed),
                Ok(count) => {
                    self.end += count;
                    Ok(ReadOutcome::Some { count, more: count == space })
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(ReadOutcome::Empty),
                Err(e) => Err(e),
            };
        }
    }
}

/// Writes as much of `bytes` as is taken now; how many that were.
///
/// # Errors
/// As `write`, but for a target that takes nothing now.
pub fn write_some(target: &mut impl io::Write, bytes: &[u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < bytes.len() {
        match target.write(&bytes[count..]) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(more) => count += more,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) if e.kind() == ErrorKind::WouldBlock => break,
            Err(e) => return Err(e),
        }
    }
    Ok(count)
}

/// Bytes to be written, from `at` on; those before it have been.
#[derive(Debug, Default)]
pub struct WriteBuffer {
    bytes: Vec<u8>,
    at: usize,
    /// Bytes written since the connection began.
    written: u64,
}

impl WriteBuffer {
    /// Bytes that are to be written.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() - self.at
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory held.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes.capacity()
    }

    /// Where to append.
    #[inline]
    pub fn tail(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Bytes written since the connection began.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// What [`WriteBuffer::written`] is when all that is in it now has been.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.written + self.len() as u64
    }

    /// Forgets what was not written.
    pub fn clear(&mut self) {
        self.at = 0;
        self.bytes.clear();
        if self.bytes.capacity() > KEPT {
            self.bytes = Vec::new();
        }
    }

    /// Writes as much as is taken; whether that was all.
    ///
    /// # Errors
    /// As `write`, but for a target that takes nothing now.
    pub fn flush(&mut self, target: &mut impl io::Write) -> io::Result<bool> {
        let count = write_some(target, &self.bytes[self.at..])?;
        (self.at, self.written) = (self.at + count, self.written + count as u64);
        if self.is_empty() {
            self.clear();
        } else {
            self.drop_written();
        }
        Ok(self.is_empty())
    }

    /// Not at each writing: every byte is moved once at most for each that was written.
    fn drop_written(&mut self) {
        if self.at >= KEPT && self.at >= self.len() {
            self.bytes.drain(..self.at);
            self.at = 0;
            if self.bytes.capacity() / 4 > self.bytes.len().max(KEPT) {
                self.bytes.shrink_to(2 * self.bytes.len());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so many bytes, then no more.
    struct LimitedWriter(usize);

    impl io::Write for LimitedWriter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = self.0.min(bytes.len());
            self.0 -= count;
            if count == 0 && !bytes.is_empty() {
                return Err(ErrorKind::WouldBlock.into());
            }
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_outbox_that_is_never_empty_stays_small() {
        let (mut out, piece) = (WriteBuffer::default(), [7; 10_000]);
        out.tail().extend_from_slice(&[7; 500_000]);
        for round in 1..=10_000 {
            out.tail().extend_from_slice(&piece);
            assert!(!out.flush(&mut LimitedWriter(piece.len())).expect("it writes"));
            assert_eq!((out.len(), out.written()), (500_000, round * 10_000));
        }
        assert!(out.size() < 4 << 20, "{}", out.size());
    }
}
