//! `delete KEY [0] [noreply]`: the zero is from an old protocol, and clients still send it.

use crate::request::{Refusal, Request, RequestLimits};
use crate::tokens::{valid_key, Tokens};

pub fn parse<'a>(mut words: Tokens<'a>, limits: &RequestLimits) -> Result<Request<'a>, Refusal> {
    let key = words.next().ok_or(Refusal::Unknown)?;
    if key.len() > limits.key_bytes || !valid_key(key) {
        return Err(Refusal::Key);
    }
    match [words.next(), words.next(), words.next()] {
        [None | Some(b"0"), None, _] => Ok(Request::Delete { key, noreply: false }),
        [Some(b"noreply"), None, _] | [Some(b"0"), Some(b"noreply"), None] => {
            Ok(Request::Delete { key, noreply: true })
        }
        [.., None] => Err(Refusal::Format),
        _ => Err(Refusal::Unknown),
    }
}
