//! Messages as bytes: which run put it, its number and its length, then bytes that follow from these three. So a
//! message that was taken is checked by itself, whichever client put it.

use crate::config::HEADER_BYTES;
use crate::verifiable_bytes::{scramble, RandomBlock};

const HEADER: usize = HEADER_BYTES as usize;

pub struct MessageContent {
    run: u32,
    block: RandomBlock,
}

/// What a message that was taken is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageOrigin {
    /// One of this run, with its number.
    Own(u64),
    /// One of another run, or of another program.
    Foreign,
    /// One of this run, but not as it was put.
    Wrong,
}

/// Tells the messages of this run from those of any other.
pub fn run_number(seed: u64, start_s: f64) -> u32 {
    let process = u64::from(std::process::id()) << 32;
    scramble(scramble(seed) ^ start_s.to_bits() ^ process) as u32
}

impl MessageContent {
    /// `most`: bytes of the longest message.
    pub fn new(run: u32, most: u32) -> MessageContent {
        MessageContent { run, block: RandomBlock::new("messages", most as usize) }
    }

    /// `length` is at least that of the header.
    pub fn push(&self, number: u64, length: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.run.to_le_bytes());
        out.extend_from_slice(&number.to_le_bytes());
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(self.rest(number, length));
    }

    fn rest(&self, number: u64, length: u32) -> &[u8] {
        let hash = scramble(number ^ scramble(u64::from(self.run) << 32 | u64::from(length)));
        self.block.cut(hash, length as usize - HEADER)
    }

    /// Which message this is; its bytes are compared if `verify`.
    pub fn find(&self, data: &[u8], verify: bool) -> MessageOrigin {
        let Some((run, number, length)) = header(data).filter(|(run, ..)| *run == self.run) else {
            return MessageOrigin::Foreign;
        };
        debug_assert_eq!(run, self.run);
        let possible = data.len() == length as usize && data.len() - HEADER <= self.block.longest();
        if possible && (!verify || data[HEADER..] == *self.rest(number, length)) {
            MessageOrigin::Own(number)
        } else {
            MessageOrigin::Wrong
        }
    }
}

fn header(data: &[u8]) -> Option<(u32, u64, u32)> {
    let (header, _) = data.split_first_chunk::<HEADER>()?;
    let [run @ .., _, _, _, _, _, _, _, _, _, _, _, _] = *header;
    let [_, _, _, _, number @ .., _, _, _, _] = *header;
    let [_, _, _, _, _, _, _, _, _, _, _, _, length @ ..] = *header;
    Some((u32::from_le_bytes(run), u64::from_le_bytes(number), u32::from_le_bytes(length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_which_it_is() {
        let content = MessageContent::new(7, 3000);
        for (number, length) in [(0, 16), (1, 17), (5 << 48 | 3, 200), (u64::MAX - 1, 3000)] {
            let mut message = Vec::new();
            content.push(number, length, &mut message);
            assert_eq!(message.len(), length as usize);
            assert_eq!(content.find(&message, true), MessageOrigin::Own(number));
            assert_eq!(MessageContent::new(8, 3000).find(&message, true), MessageOrigin::Foreign);
        }
    }

    #[test]
    fn a_changed_message_is_told() {
        let content = MessageContent::new(7, 100);
        let mut message = Vec::new();
        content.push(42, 100, &mut message);
        // Behind the run's own number: from there on every bit counts.
        for byte in 4..100 {
            let mut changed = message.clone();
            changed[byte] ^= 1;
            assert_eq!(content.find(&changed, true), MessageOrigin::Wrong, "byte {byte}");
        }
        assert_eq!(content.find(&message[..99], true), MessageOrigin::Wrong);
        assert_eq!(content.find(&message[..15], true), MessageOrigin::Foreign);
        assert_eq!(content.find(b"", true), MessageOrigin::Foreign);
        message[50] ^= 1;
        assert_eq!(content.find(&message, false), MessageOrigin::Own(42), "not compared");
    }

    #[test]
    fn runs_have_different_numbers() {
        let numbers = [run_number(1, 10.0), run_number(2, 10.0), run_number(1, 10.000_001)];
        assert!(numbers[0] != numbers[1] && numbers[0] != numbers[2] && numbers[1] != numbers[2]);
    }
}
