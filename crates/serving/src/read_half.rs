//! The half of a connection that is read.

use std::io::{self, Read};

use crate::{ConnectionDeadline, ReadBuffer, ReadOutcome, TurnBudget};

/// A client that sends less than this within its idle time is idle: a byte now and then keeps no connection.
const LEAST_PROGRESS: usize = 1024;

/// Bytes at hand, and what is known of those that are to come.
#[derive(Debug, Default)]
pub struct ReadHalf {
    pub input: ReadBuffer,
    pub deadline: ConnectionDeadline,
    /// Bytes that belong to a refused request and have not arrived.
    skip: usize,
    /// Whether the socket may have more.
    readable: bool,
    /// The client said that it will send no more, perhaps behind bytes that are still to be read.
    hung_up: bool,
    ended: bool,
    /// Bytes since it last did something that counts.
    progress: usize,
}

/// What a reading brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadProgress {
    /// Bytes.
    Some,
    /// None now.
    Nothing,
    /// None: the turn is over.
    TurnOver,
}

impl ReadHalf {
    /// Of a connection that was opened now.
    #[must_use]
    pub fn new(now: u64) -> Self {
        Self { readable: true, deadline: ConnectionDeadline::new(now), ..Self::default() }
    }

    /// After an event of the socket.
    pub fn event(&mut self, hung_up: bool) {
        self.readable = true;
        self.hung_up |= hung_up;
    }

    /// Bytes are at hand, or the socket may have some.
    #[must_use]
    pub fn has_more(&self) -> bool {
        !self.input.data().is_empty() || (self.readable && !self.ended)
    }

    /// Drops what is at hand.
    pub fn discard(&mut self) {
        self.input.consume(usize::MAX);
    }

    /// All that the client sent has been read.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// The next so many bytes are not looked at, whether they are there or not.
    pub fn pass_over(&mut self, bytes: usize) {
        self.skip += bytes;
    }

    /// The start of the next request; empty where more has to be read.
    #[inline]
    pub fn data(&mut self) -> &[u8] {
        if self.skip > 0 {
            let skipped = self.skip.min(self.input.data().len());
            self.input.consume(skipped);
            self.skip -= skipped;
        }
        self.input.data()
    }

    /// A whole request was taken up, or the client took an answer.
    #[inline]
    pub fn acted(&mut self, now: u64) {
        self.deadline.acted(now);
        self.progress = 0;
    }

    /// Reads once, as far as the turn allows.
    ///
    /// # Errors
    /// As `read`: the connection is of no use any more.
    pub fn read(
        &mut self,
        source: &mut impl Read,
        budget: &mut TurnBudget,
        now: u64,
    ) -> io::Result<ReadProgress> {
        if self.ended || !self.readable {
            return Ok(ReadProgress::Nothing);
        }
        if budget.bytes() == 0 {
            return Ok(ReadProgress::TurnOver);
        }
        match self.input.fill(source, budget.bytes())? {
            ReadOutcome::Some { count, more } => {
                self.readable = more || self.hung_up;
                self.progress += count;
                if self.progress >= LEAST_PROGRESS {
                    self.acted(now);
                }
                budget.read(count);
                return Ok(ReadProgress::Some);
            }
            ReadOutcome::Empty => self.readable = false,
            ReadOutcome::Closed => self.ended = true,
        }
        Ok(ReadProgress::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_passed_over_however_it_comes() {
        let (mut read_half, mut budget) = (ReadHalf::new(0), TurnBudget::default());
        let mut source: &[u8] = b"12345get";
        read_half.pass_over(5);
        assert!(read_half.data().is_empty());
        assert_eq!(read_half.read(&mut source, &mut budget, 1).ok(), Some(ReadProgress::Some));
        assert_eq!(read_half.data(), b"get");
    }

    /// Ten bytes, one each 0.5 s, are nothing; 1 KiB is something.
    #[test]
    fn a_byte_now_and_then_is_no_activity() {
        let mut read_half = ReadHalf::new(7);
        for now in 8..18 {
            read_half.event(false);
            assert!(read_half.read(&mut &b"x"[..], &mut TurnBudget::default(), now).is_ok());
        }
        assert!(read_half.deadline.has_passed(8, 0, true) && !read_half.deadline.has_passed(7, 0, true));
        read_half.event(false);
        assert!(read_half.read(&mut &[0; 1024][..], &mut TurnBudget::default(), 20).is_ok());
        assert!(!read_half.deadline.has_passed(20, 0, true));
    }
}
