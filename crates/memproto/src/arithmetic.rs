//! `incr KEY DELTA [noreply]`, `decr KEY DELTA [noreply]`.

use crate::request::{Limits, Refusal, Request};
use crate::words::{noreply_or_end, unsigned, valid_key, Words};

/// Up or down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Up,
    Down,
}

impl Direction {
    pub(crate) fn word(self) -> &'static [u8] {
        match self {
            Self::Up => b"incr",
            Self::Down => b"decr",
        }
    }
}

pub fn parse<'a>(
    mut words: Words<'a>,
    direction: Direction,
    limits: &Limits,
) -> Result<Request<'a>, Refusal> {
    let key = words.next().ok_or(Refusal::Unknown)?;
    let delta = words.next().ok_or(Refusal::Unknown)?;
    let noreply = noreply_or_end(&mut words).ok_or(Refusal::Unknown)?;
    if key.len() > limits.key_bytes || !valid_key(key) {
        return Err(Refusal::Key);
    }
    Ok(Request::Arithmetic { direction, key, delta: unsigned(delta).ok_or(Refusal::Delta)?, noreply })
}
