//! `touch KEY EXPTIME [noreply]`.

use crate::request::{Limits, Refusal, Request};
use crate::words::{noreply_or_end, signed, valid_key, Words};

pub fn parse<'a>(mut words: Words<'a>, limits: &Limits) -> Result<Request<'a>, Refusal> {
    let key = words.next().ok_or(Refusal::Unknown)?;
    let until = words.next().ok_or(Refusal::Unknown)?;
    let noreply = noreply_or_end(&mut words).ok_or(Refusal::Unknown)?;
    if key.len() > limits.key_bytes || !valid_key(key) {
        return Err(Refusal::Key);
    }
    Ok(Request::Touch { key, exptime_s: signed(until).ok_or(Refusal::Expiry)?, noreply })
}
