//! `incr KEY DELTA [noreply]`, `decr KEY DELTA [noreply]`.

use crate::request::{Refusal, Request, RequestLimits};
use crate::tokens::{noreply_or_end, unsigned, valid_key, Tokens};

/// Up or down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncrOrDecr {
    Up,
    Down,
}

impl IncrOrDecr {
    pub(crate) fn word(self) -> &'static [u8] {
        match self {
            Self::Up => b"incr",
            Self::Down => b"decr",
        }
    }
}

pub fn parse<'a>(
    mut words: Tokens<'a>,
    direction: IncrOrDecr,
    limits: &RequestLimits,
) -> Result<Request<'a>, Refusal> {
    let key = words.next().ok_or(Refusal::Unknown)?;
    let delta = words.next().ok_or(Refusal::Unknown)?;
    let noreply = noreply_or_end(&mut words).ok_or(Refusal::Unknown)?;
    if key.len() > limits.key_bytes || !valid_key(key) {
        return Err(Refusal::Key);
    }
    Ok(Request::Arithmetic { direction, key, delta: unsigned(delta).ok_or(Refusal::Delta)?, noreply })
}
