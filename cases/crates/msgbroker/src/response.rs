//! Response heads and bodies; bytes only.

use std::io::Write;

use crate::database::{Message, OperationResult};
use crate::refusal::Refusal;

/// What a client is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Response {
    Reply(OperationResult),
    Refused(Refusal),
}

impl From<OperationResult> for Response {
    fn from(reply: OperationResult) -> Self {
        match reply {
            OperationResult::NoQueue => Self::Refused(Refusal::NoQueue),
            OperationResult::NoMessage => Self::Refused(Refusal::NoMessage),
            reply => Self::Reply(reply),
        }
    }
}

impl Response {
    pub fn status(&self) -> u16 {
        match self {
            Self::Reply(OperationResult::Created | OperationResult::Stored(_)) => 201,
            Self::Reply(
                OperationResult::Existed | OperationResult::Queues(_) | OperationResult::Message(_),
            ) => 200,
            Self::Reply(
                OperationResult::Dropped | OperationResult::Empty | OperationResult::Acknowledged,
            ) => 204,
            Self::Reply(OperationResult::NoQueue | OperationResult::NoMessage) => 404,
            Self::Refused(refusal) => refusal.status(),
        }
    }

    /// Appends the response. Writing to memory cannot fail.
    pub fn compose(&self, close: bool, out: &mut Vec<u8>) {
        out.extend_from_slice(line(self.status()));
        if close {
            out.extend_from_slice(b"Connection: close\r\n");
        }
        match self {
            Self::Reply(
                OperationResult::Dropped | OperationResult::Empty | OperationResult::Acknowledged,
            ) => out.extend_from_slice(b"\r\n"),
            Self::Reply(
                OperationResult::Created
                | OperationResult::Existed
                | OperationResult::NoQueue
                | OperationResult::NoMessage,
            ) => {
                out.extend_from_slice(b"Content-Length: 0\r\n\r\n");
            }
            Self::Reply(OperationResult::Stored(id)) => {
                let _ = write!(out, "X-Message-Id: {id}\r\nContent-Length: 0\r\n\r\n");
            }
            Self::Reply(OperationResult::Message(found)) => message(found, out),
            Self::Reply(OperationResult::Queues(queues)) => json(&list(queues), out),
            Self::Refused(refusal) => {
                if *refusal == Refusal::Method {
                    out.extend_from_slice(b"Allow: GET, PUT, POST, DELETE\r\n");
                } else if refusal.status() == 401 {
                    out.extend_from_slice(b"WWW-Authenticate: Bearer\r\n");
                } else if refusal.status() == 503 {
                    out.extend_from_slice(b"Retry-After: 1\r\n");
                }
                json(&serde_json::json!({"error": refusal.error(), "remedy": refusal.remedy()}), out);
            }
        }
    }
}

fn message(message: &Message, out: &mut Vec<u8>) {
    let _ = write!(out, "X-Message-Id: {}\r\n", message.id);
    if let Some(sender) = &message.sender {
        let _ = write!(out, "X-Sender: {sender}\r\n");
    }
    if let Some(receipt) = message.receipt {
        let _ = write!(out, "X-Receipt: {receipt}\r\n");
    }
    let kind = "application/octet-stream";
    let _ = write!(out, "Content-Type: {kind}\r\nContent-Length: {}\r\n\r\n", message.body.len());
    out.extend_from_slice(&message.body);
}

fn list(queues: &[(String, i64)]) -> serde_json::Value {
    let one = |(name, messages): &(String, i64)| serde_json::json!({"name": name, "messages": messages});
    queues.iter().map(one).collect()
}

fn json(value: &serde_json::Value, out: &mut Vec<u8>) {
    let text = value.to_string();
    let _ = write!(out, "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{text}", text.len());
}

/// A status line; the words are those of RFC 9110.
fn line(status: u16) -> &'static [u8] {
    match status {
        200 => b"HTTP/1.1 200 OK\r\n",
        201 => b"HTTP/1.1 201 Created\r\n",
        204 => b"HTTP/1.1 204 No Content\r\n",
        400 => b"HTTP/1.1 400 Bad Request\r\n",
        401 => b"HTTP/1.1 401 Unauthorized\r\n",
        404 => b"HTTP/1.1 404 Not Found\r\n",
        405 => b"HTTP/1.1 405 Method Not Allowed\r\n",
        411 => b"HTTP/1.1 411 Length Required\r\n",
        413 => b"HTTP/1.1 413 Content Too Large\r\n",
        431 => b"HTTP/1.1 431 Request Header Fields Too Large\r\n",
        500 => b"HTTP/1.1 500 Internal Server Error\r\n",
        _ => b"HTTP/1.1 503 Service Unavailable\r\n",
    }
}
