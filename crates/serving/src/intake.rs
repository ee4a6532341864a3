//! The half of a connection that is read.

use std::io::{self, Read};

use crate::{Budget, Fill, Inbox};

/// A client that sends less than this within its idle time is idle: a byte now and then keeps no connection.
const LEAST_PROGRESS: usize = 1024;

/// Bytes at hand, and what is known of those that are to come.
#[derive(Debug, Default)]
pub struct Intake {
    pub inbox: Inbox,
    /// Bytes that belong to a refused request and have not arrived.
    skip: usize,
    /// Whether the socket may have more.
    readable: bool,
    /// The client said that it will send no more, perhaps behind bytes that are still to be read.
    hung_up: bool,
    ended: bool,
    /// Bytes since `active`.
    progress: usize,
    /// When it last did something that counts.
    active: u64,
}

/// What a reading brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Bytes.
    Some,
    /// None now.
    Nothing,
    /// None: the turn is over.
    TurnOver,
}

impl Intake {
    /// Of a connection that was opened now.
    #[must_use]
    pub fn new(now: u64) -> Self {
        Self { readable: true, active: now, ..Self::default() }
    }

    /// After an event of the socket.
    pub fn event(&mut self, hung_up: bool) {
        self.readable = true;
        self.hung_up |= hung_up;
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
            let skipped = self.skip.min(self.inbox.data().len());
            self.inbox.consume(skipped);
            self.skip -= skipped;
        }
        self.inbox.data()
    }

    /// A whole request was taken up, or the client took an answer.
    #[inline]
    pub fn acted(&mut self, now: u64) {
        (self.active, self.progress) = (now, 0);
    }

    /// When it last did something that counts.
    #[must_use]
    pub fn active(&self) -> u64 {
        self.active
    }

    /// Reads once, as far as the turn allows.
    ///
    /// # Errors
    /// As `read`: the connection is of no use any more.
    pub fn read(&mut self, source: &mut impl Read, budget: &mut Budget, now: u64) -> io::Result<Reading> {
        if self.ended || !self.readable {
            return Ok(Reading::Nothing);
        }
        if budget.bytes() == 0 {
            return Ok(Reading::TurnOver);
        }
        match self.inbox.fill(source, budget.bytes())? {
            Fill::Some { count, more } => {
                self.readable = more || self.hung_up;
                self.progress += count;
                if self.progress >= LEAST_PROGRESS {
                    self.acted(now);
                }
                budget.read(count);
                return Ok(Reading::Some);
            }
            Fill::Empty => self.readable = false,
            Fill::Closed => self.ended = true,
        }
        Ok(Reading::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_passed_over_however_it_comes() {
        let (mut intake, mut budget) = (Intake::new(0), Budget::default());
        let mut source: &[u8] = b"12345get";
        intake.pass_over(5);
        assert!(intake.data().is_empty());
        assert_eq!(intake.read(&mut source, &mut budget, 1).ok(), Some(Reading::Some));
        assert_eq!(intake.data(), b"get");
    }

    /// Ten bytes, one each 0.5 s, are nothing; 1 KiB is something.
    #[test]
    fn a_byte_now_and_then_is_no_activity() {
        let mut intake = Intake::new(7);
        for now in 8..18 {
            intake.event(false);
            assert!(intake.read(&mut &b"x"[..], &mut Budget::default(), now).is_ok());
        }
        assert_eq!(intake.active(), 7);
        intake.event(false);
        assert!(intake.read(&mut &[0; 1024][..], &mut Budget::default(), 20).is_ok());
        assert_eq!(intake.active(), 20);
    }
}
