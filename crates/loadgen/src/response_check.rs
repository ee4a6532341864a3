//! Is a complete answer a success?

use crate::config::ExpectedResponse;
use crate::request_outcome::Failure;

pub fn check(expect: &ExpectedResponse, status: u16, bytes: u64) -> Failure {
    let status_ok = match &expect.status {
        Some(wanted) => wanted.has(status),
        None => (200..400).contains(&status),
    };
    if !status_ok {
        return Failure::Status;
    }
    let (least, most) = (expect.min_bytes.unwrap_or(0), expect.max_bytes.unwrap_or(u64::MAX));
    if (least..=most).contains(&bytes) {
        Failure::Ok
    } else {
        Failure::Length
    }
}
