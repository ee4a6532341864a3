//! A load on the message service: which operation comes next, on which queue, with which message; whether what was
//! taken is right.
//!
//! - `message_content`  a message, derived from its number, so that whoever takes it can check it
//! - `exchange` one request and its answer on a connection
//! - `create_queues`   the queues, made before the start
//! - `tally`    put, taken, empty; what was taken twice; what is left; the times of each class

mod create_queues;
mod exchange;
mod message_content;
mod tally;

use std::collections::{HashMap, VecDeque};
use std::io::Write;

use sojourn_dist::Stream;

use crate::config::MessagesConfig;
use crate::http::Response;
use crate::request_outcome::{Failure, RequestInFlight, RequestOutcome, NO_MESSAGE};
use crate::request_source::PauseBeforeNext;
use message_content::{MessageContent, MessageOrigin};

pub use create_queues::{make, CreateQueueError};
pub use exchange::Exchange;
pub use message_content::run_number;
pub use tally::{MessagesSummary, MessagesTally};

/// The classes of a load on messages, in the order of their numbers. A take is `empty` by its answer.
pub const CLASSES: [&str; 4] = ["put", "take", "empty", "acknowledge"];
const PUT: u16 = 0;
const TAKE: u16 = 1;
const EMPTY: u16 = 2;
const ACKNOWLEDGE: u16 = 3;

/// A lane's messages have numbers of their own: lane · 2^48 + count.
const LANE_SHIFT: u32 = 48;

/// What must be said of a message that was taken, where the service wants to hear it.
#[derive(Debug)]
struct Receipt {
    queue: u32,
    /// As the service gave them.
    message: Vec<u8>,
    receipt: Vec<u8>,
}

/// What one lane asks for: draws operations, queues and sizes, writes requests, judges answers.
pub struct RequestGenerator {
    config: MessagesConfig,
    content: MessageContent,
    operations: Stream,
    /// Queues and sizes: drawn when a request is sent, which may be later than when it was due.
    details: Stream,
    /// The weight of put as a share of both.
    put_up_to: f64,
    next_message: u64,
    /// By user; of an open loop all under one.
    receipts: HashMap<u32, VecDeque<Receipt>>,
}

impl RequestGenerator {
    /// For lane `lane` of the run with the number `run`.
    pub fn new(config: &MessagesConfig, seed: u64, run: u32, lane: usize) -> RequestGenerator {
        RequestGenerator {
            content: MessageContent::new(run, config.message_bytes.high()),
            operations: Stream::new(seed, &format!("lane {lane} operations")),
            details: Stream::new(seed, &format!("lane {lane} messages")),
            put_up_to: config.put / (config.put + config.take),
            next_message: (lane as u64) << LANE_SHIFT,
            receipts: HashMap::new(),
            config: config.clone(),
        }
    }

    /// The class of the next request: what is to be acknowledged comes first.
    pub fn choose(&mut self, user: u32) -> u16 {
        if self.owes(user) {
            return ACKNOWLEDGE;
        }
        if self.operations.uniform() < self.put_up_to {
            PUT
        } else {
            TAKE
        }
    }

    fn owes(&self, user: u32) -> bool {
        self.receipts.get(&user).is_some_and(|waiting| !waiting.is_empty())
    }

    /// Writes the request into `exchange`; `head` is what stands behind each path.
    pub fn compose(&mut self, request: &RequestInFlight, head: &[u8], exchange: &mut Exchange) {
        let receipt = match request.class {
            ACKNOWLEDGE => self.receipts.get_mut(&request.user).and_then(VecDeque::pop_front),
            _ => None,
        };
        exchange.begin(request.class);
        if let Some(receipt) = receipt {
            return self.write_acknowledge(&receipt, head, exchange);
        }
        exchange.queue = self.details.below(u64::from(self.config.queues)) as u32;
        if request.class == PUT {
            self.write_put(head, exchange);
        } else {
            exchange.class = TAKE;
            self.write_start("POST", exchange.queue, b"/take", head, &mut exchange.out);
            exchange.out.extend_from_slice(b"Content-Length: 0\r\n\r\n");
        }
    }

    fn write_put(&mut self, head: &[u8], exchange: &mut Exchange) {
        let length = self.config.message_bytes.at(self.details.uniform());
        (exchange.message, exchange.put_bytes) = (self.next_message, u64::from(length));
        self.next_message += 1;
        self.write_start("POST", exchange.queue, b"/messages", head, &mut exchange.out);
        // Writing to a vector cannot fail.
        let _ = write!(exchange.out, "Content-Length: {length}\r\n\r\n");
        self.content.push(exchange.message, length, &mut exchange.out);
    }

    fn write_acknowledge(&self, receipt: &Receipt, head: &[u8], exchange: &mut Exchange) {
        let mut rest = b"/messages/".to_vec();
        rest.extend_from_slice(&receipt.message);
        rest.extend_from_slice(b"?receipt=");
        rest.extend_from_slice(&receipt.receipt);
        exchange.queue = receipt.queue;
        self.write_start("DELETE", receipt.queue, &rest, head, &mut exchange.out);
        exchange.out.extend_from_slice(b"\r\n");
    }

    /// The request line and the headers that all have.
    fn write_start(&self, method: &str, queue: u32, rest: &[u8], head: &[u8], out: &mut Vec<u8>) {
        let _ = write!(out, "{method} /queues/{}-{queue}", self.config.prefix);
        out.extend_from_slice(rest);
        out.extend_from_slice(head);
        if let Some(token) = &self.config.token {
            let _ = write!(out, "Authorization: Bearer {token}\r\n");
        }
    }

    /// Is this complete answer right? Remembers what is to be acknowledged.
    pub fn judge(&mut self, exchange: &mut Exchange, response: &Response, user: u32) -> Failure {
        match (exchange.class, response.status) {
            (PUT, 201) => {
                exchange.message_bytes = exchange.put_bytes;
                Failure::Ok
            }
            (ACKNOWLEDGE, 204 | 404) => Failure::Ok,
            (TAKE, 204) => {
                exchange.class = EMPTY;
                Failure::Ok
            }
            (TAKE, 200) => self.judge_message(exchange, response, user),
            _ => Failure::Status,
        }
    }

    fn judge_message(&mut self, exchange: &mut Exchange, response: &Response, user: u32) -> Failure {
        let [message, receipt] = &response.values[..] else {
            return Failure::Wrong;
        };
        if !receipt.is_empty() {
            if !is_plain(message) || !is_plain(receipt) {
                return Failure::Wrong;
            }
            let (queue, message, receipt) = (exchange.queue, message.clone(), receipt.clone());
            self.receipts.entry(user).or_default().push_back(Receipt { queue, message, receipt });
        }
        let body = response.body.kept.as_deref().unwrap_or_default();
        exchange.message_bytes = body.len() as u64;
        match self.content.find(body, self.config.verify) {
            MessageOrigin::Own(number) => exchange.message = number,
            MessageOrigin::Foreign => exchange.message = NO_MESSAGE,
            MessageOrigin::Wrong => return Failure::Wrong,
        }
        Failure::Ok
    }

    /// What the user of this outcome does next.
    pub fn pause(&self, outcome: &RequestOutcome) -> PauseBeforeNext {
        match (outcome.failure, outcome.class) {
            (Failure::Ok, EMPTY) => PauseBeforeNext::For(self.config.retry_delay_s),
            (Failure::Ok, TAKE) if self.owes(outcome.request.user) => PauseBeforeNext::For(0.0),
            (Failure::Ok, _) => PauseBeforeNext::Think,
            _ => PauseBeforeNext::Recover,
        }
    }
}

/// Whatever comes from the service goes back into a request line: no blanks, no line ends.
fn is_plain(bytes: &[u8]) -> bool {
    !bytes.is_empty()
        && bytes.len() <= 256
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"-_.~".contains(b))
}

#[cfg(test)]
mod tests;
