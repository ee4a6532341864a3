//! `incr KEY DELTA [noreply]`, `decr KEY DELTA [noreply]`.

use crate::request::{Refusal, Request, RequestLimits};
use crate::tokens::{c_unsigned, Tokens};

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
    words: Tokens<'a>,
    direction: IncrOrDecr,
    noreply: bool,
    limits: &RequestLimits,
) -> Result<Request<'a>, Refusal> {
    let ([key, delta, _], _) = words.between(2).ok_or(Refusal::Unknown)?;
    limits.check(key)?;
    Ok(Request::Arithmetic { direction, key, delta: c_unsigned(delta).ok_or(Refusal::Delta)?, noreply })
}
