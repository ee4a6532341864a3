//! One request and its answer on a connection. The buffer is kept from one request to the next.

use super::PUT;
use crate::http::Response;
use crate::request_outcome::NO_MESSAGE;

/// The headers of an answer that matter: which message, and the receipt by which it is acknowledged.
const KEPT: [&str; 2] = ["x-message-id", "x-receipt"];

/// What a connection is doing; `begin` before the next request.
#[derive(Debug)]
pub struct Exchange {
    /// The bytes of the request.
    pub out: Vec<u8>,
    pub class: u16,
    pub queue: u32,
    /// The message that is put or was taken, by number.
    pub message: u64,
    /// Its length, once the service has it or gave it.
    pub message_bytes: u64,
    /// The length that the request has.
    pub put_bytes: u64,
}

impl Exchange {
    pub fn new() -> Exchange {
        Exchange {
            out: Vec::new(),
            class: PUT,
            queue: 0,
            message: NO_MESSAGE,
            message_bytes: 0,
            put_bytes: 0,
        }
    }

    pub(super) fn begin(&mut self, class: u16) {
        self.out.clear();
        (self.class, self.queue, self.message) = (class, 0, NO_MESSAGE);
        (self.message_bytes, self.put_bytes) = (0, 0);
    }

    /// A response that keeps what an exchange is judged by.
    pub fn response() -> Response {
        Response::keeping(&KEPT)
    }
}
