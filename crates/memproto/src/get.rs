//! `get KEY…`, `gets KEY…`, `gat EXPTIME KEY…`, `gats EXPTIME KEY…`.

use crate::request::{end, Refusal, Request, RequestLimits};
use crate::tokens::{c_int, push_number, valid_key, Tokens};

/// The keys of a get, in the order of the request: at least one, each a valid key.
#[derive(Debug, Clone, Copy)]
pub struct Keys<'a>(Tokens<'a>);

impl<'a> Keys<'a> {
    /// From a line of keys divided by spaces; `None` if there is none, or one that is no valid key.
    #[must_use]
    pub fn new(line: &'a [u8]) -> Option<Self> {
        let words = Tokens(line);
        (words.clone().next().is_some() && words.clone().all(valid_key)).then_some(Self(words))
    }

    /// Each key.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> {
        self.0
    }
}

impl PartialEq for Keys<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Keys<'_> {}

pub fn parse<'a>(words: Tokens<'a>, cas: bool, limits: &RequestLimits) -> Result<Request<'a>, Refusal> {
    Ok(Request::Get { cas, touch: None, keys: keys(words, limits)? })
}

pub fn parse_touch<'a>(
    mut words: Tokens<'a>,
    cas: bool,
    limits: &RequestLimits,
) -> Result<Request<'a>, Refusal> {
    let Some(first) = words.next() else { return Err(Refusal::Unknown) };
    let until = i64::from(c_int(first).ok_or(Refusal::Expiry)?);
    // memcached finds none of no keys.
    let keys =
        keys(words, limits).map_err(|why| if why == Refusal::Unknown { Refusal::NoKeys } else { why })?;
    Ok(Request::Get { cas, touch: Some(until), keys })
}

fn keys<'a>(words: Tokens<'a>, limits: &RequestLimits) -> Result<Keys<'a>, Refusal> {
    let mut any = false;
    for key in words {
        any = true;
        limits.check(key)?;
    }
    any.then_some(Keys(words)).ok_or(Refusal::Unknown)
}

pub fn compose(out: &mut Vec<u8>, cas: bool, touch: Option<i64>, keys: &Keys<'_>) {
    out.extend_from_slice(match (touch.is_some(), cas) {
        (false, false) => b"get",
        (false, true) => b"gets",
        (true, false) => b"gat",
        (true, true) => b"gats",
    });
    if let Some(until) = touch {
        out.push(b' ');
        push_number(out, until);
    }
    for key in keys.iter() {
        out.push(b' ');
        out.extend_from_slice(key);
    }
    end(out, false);
}
