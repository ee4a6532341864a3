//! What `fuzz/protocols` does with bytes of a client: frames and requests, whole and with its end missing.

use crate::request::parse;
use crate::request_framing::{frame, FramingStep};

const BODY_BYTES: usize = 4096;

/// All requests at the start of `bytes`.
///
/// # Panics
/// A frame reaches beyond its bytes, or is another one when fewer bytes are there.
pub fn requests(bytes: &[u8]) {
    let mut rest = bytes;
    loop {
        match frame(rest, BODY_BYTES) {
            FramingStep::Need { whole, .. } => {
                assert!(whole > rest.len());
                return;
            }
            FramingStep::Refuse(_) => return,
            FramingStep::Done { start, body, end } => {
                assert!(start < body && body <= end && end <= rest.len() && end - body <= BODY_BYTES);
                assert!(!matches!(frame(&rest[..end - 1], BODY_BYTES), FramingStep::Done { .. }));
                assert_eq!(frame(&rest[..end], BODY_BYTES), FramingStep::Done { start, body, end });
                for token in [None, Some("secret")] {
                    let _ = parse(&rest[start..body], &rest[body..end], token);
                }
                rest = &rest[end..];
            }
        }
    }
}
