//! `delete KEY [0] [noreply]`: the zero is from an old protocol, and clients still send it.

use crate::request::{Limits, Refusal, Request};
use crate::words::{noreply_or_end, valid_key, Words};

pub fn parse<'a>(mut words: Words<'a>, limits: &Limits) -> Result<Request<'a>, Refusal> {
    let key = words.next().ok_or(Refusal::Unknown)?;
    if key.len() > limits.key_bytes || !valid_key(key) {
        return Err(Refusal::Key);
    }
    let mut rest = words;
    if words.next() == Some(b"0") {
        rest = words;
    }
    let noreply = noreply_or_end(&mut rest).ok_or(Refusal::Format)?;
    Ok(Request::Delete { key, noreply })
}
