//! `touch KEY EXPTIME [noreply]`.

use crate::request::{Refusal, Request, RequestLimits};
use crate::tokens::{c_int, Tokens};

pub fn parse<'a>(words: Tokens<'a>, noreply: bool, limits: &RequestLimits) -> Result<Request<'a>, Refusal> {
    let ([key, until, _], _) = words.between(2).ok_or(Refusal::Unknown)?;
    limits.check(key)?;
    let exptime_s = i64::from(c_int(until).ok_or(Refusal::Expiry)?);
    Ok(Request::Touch { key, exptime_s, noreply })
}
