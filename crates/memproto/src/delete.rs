//! `delete KEY [0] [noreply]`: the zero is from an old protocol, and clients still send it.

use crate::request::{Refusal, Request, RequestLimits};
use crate::tokens::Tokens;

pub fn parse<'a>(words: Tokens<'a>, noreply: bool, limits: &RequestLimits) -> Result<Request<'a>, Refusal> {
    let ([key, hold, _], count) = words.between(1).ok_or(Refusal::Unknown)?;
    // With one word, that is the key, whatever it is called.
    let noreply = noreply && count > 1;
    let known = match count {
        1 => true,
        2 => hold == b"0" || noreply,
        _ => hold == b"0" && noreply,
    };
    if !known {
        return Err(Refusal::DeleteUsage);
    }
    limits.check(key)?;
    Ok(Request::Delete { key, noreply })
}
