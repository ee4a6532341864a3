//! `touch KEY EXPTIME [noreply]`.

use crate::request::{Refusal, Request, RequestLimits};
use crate::tokens::{noreply_or_end, signed, valid_key, Tokens};

pub fn parse<'a>(mut words: Tokens<'a>, limits: &RequestLimits) -> Result<Request<'a>, Refusal> {
    let key = words.next().ok_or(Refusal::Unknown)?;
    let until = words.next().ok_or(Refusal::Unknown)?;
    let noreply = noreply_or_end(&mut words).ok_or(Refusal::Unknown)?;
    if key.len() > limits.key_bytes || !valid_key(key) {
        return Err(Refusal::Key);
    }
    Ok(Request::Touch { key, exptime_s: signed(until).ok_or(Refusal::Expiry)?, noreply })
}
