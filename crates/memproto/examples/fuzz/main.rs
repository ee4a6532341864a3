//! A fuzzer of bounded time, by a seed: valid commands and answers, mutated.
//!
//!     fuzz parse --seconds 60 --seed 1                   # the protocol alone
//!     fuzz live 127.0.0.1:11212 --seconds 60 --seed 1    # a proxy, which must answer each request once
//!
//! Prints its counts as one line of JSON. A fault goes to standard error with the bytes that made it, and ends with 1.

mod corpus;
mod expected_replies;
mod fuzz_parser;
mod fuzz_proxy;
mod mutate;
mod random;

use std::process::ExitCode;
use std::time::{Duration, Instant};

/// What was wrong, and with which bytes.
pub struct Fault {
    pub what: String,
    pub bytes: Vec<u8>,
}

pub type Checked<T> = Result<T, Fault>;

/// Returns a fault unless `good`.
pub fn ensure(good: bool, what: impl FnOnce() -> String, bytes: &[u8]) -> Checked<()> {
    if good {
        return Ok(());
    }
    Err(Fault { what: what(), bytes: bytes.to_vec() })
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| {
        let at = words.iter().position(|word| word == name)?;
        words.get(at + 1)?.parse::<u64>().ok()
    };
    let (seconds, seed) = (after("--seconds").unwrap_or(10), after("--seed").unwrap_or(1));
    let until = Instant::now() + Duration::from_secs(seconds);
    let found = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["parse", ..] => fuzz_parser::run(seed, until),
        ["live", address, ..] => fuzz_proxy::run(address, seed, until),
        _ => {
            eprintln!("fuzz parse|live ADDRESS [--seconds S] [--seed N]");
            return ExitCode::from(2);
        }
    };
    match found {
        Ok(counts) => {
            println!("{counts}");
            ExitCode::SUCCESS
        }
        Err(Fault { what, bytes }) => {
            eprintln!("seed {seed}: {what}\nbytes: {}", bytes.escape_ascii());
            ExitCode::FAILURE
        }
    }
}
