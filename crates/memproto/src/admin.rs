//! `flush_all [DELAY] [noreply]`, `verbosity LEVEL [noreply]`, `version`, `stats [ARGUMENTS]`, `quit`.

use crate::request::{Refusal, Request};
use crate::tokens::{c_int, c_unsigned, Tokens};

pub fn parse<'a>(command: &[u8], words: Tokens<'a>, noreply: bool) -> Result<Request<'a>, Refusal> {
    match command {
        b"flush_all" => flush_all(words, noreply),
        b"verbosity" => {
            let ([level, _], _) = words.between(1).ok_or(Refusal::Unknown)?;
            let level = c_unsigned(level).ok_or(Refusal::Format)? as u32;
            Ok(Request::Verbosity { level, noreply })
        }
        // Whatever follows these two, memcached takes no notice of it.
        b"version" => Ok(Request::Version),
        b"quit" => Ok(Request::Quit),
        b"stats" => {
            let start = words.0.iter().position(|&b| b != b' ').unwrap_or(words.0.len());
            Ok(Request::Stats { arguments: words.0[start..].trim_ascii_end() })
        }
        _ => Err(Refusal::Unknown),
    }
}

fn flush_all(words: Tokens<'_>, noreply: bool) -> Result<Request<'_>, Refusal> {
    let ([delay, _], count) = words.between(0).ok_or(Refusal::Unknown)?;
    let delay_s = match count - usize::from(noreply) {
        0 => None,
        _ => Some(i64::from(c_int(delay).ok_or(Refusal::Expiry)?)),
    };
    Ok(Request::FlushAll { delay_s, noreply })
}
