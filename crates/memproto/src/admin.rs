//! `flush_all [DELAY] [noreply]`, `verbosity LEVEL [noreply]`, `version`, `stats [ARGUMENTS]`, `quit`.

use crate::request::{Refusal, Request};
use crate::tokens::{has_nul, noreply_or_end, signed, unsigned, Tokens};

pub fn parse<'a>(command: &[u8], mut words: Tokens<'a>) -> Result<Request<'a>, Refusal> {
    match command {
        b"flush_all" => flush_all(words),
        b"verbosity" => {
            let level = words.next().ok_or(Refusal::Unknown)?;
            let noreply = noreply_or_end(&mut words).ok_or(Refusal::Unknown)?;
            Ok(Request::Verbosity { level: unsigned(level).ok_or(Refusal::Format)?, noreply })
        }
        // Whatever follows these two, memcached takes no notice of it.
        b"version" if !has_nul(words.0) => Ok(Request::Version),
        b"quit" => Ok(Request::Quit),
        b"stats" => {
            if has_nul(words.0) {
                return Err(Refusal::Unknown);
            }
            let start = words.0.iter().position(|&b| b != b' ').unwrap_or(words.0.len());
            Ok(Request::Stats { arguments: words.0[start..].trim_ascii_end() })
        }
        _ => Err(Refusal::Unknown),
    }
}

fn flush_all(mut words: Tokens<'_>) -> Result<Request<'_>, Refusal> {
    let mut rest = words;
    let delay_s = match words.next() {
        None | Some(b"noreply") => None,
        Some(word) => {
            rest = words;
            Some(signed(word).ok_or(Refusal::Expiry)?)
        }
    };
    Ok(Request::FlushAll { delay_s, noreply: noreply_or_end(&mut rest).ok_or(Refusal::Unknown)? })
}
