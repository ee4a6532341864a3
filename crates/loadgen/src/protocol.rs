//! What is asked and how it is answered where requests are drawn: of memcached, of the message service, or by users in
//! sessions. Other requests of HTTP are not: they stand in the plan.

use crate::config::Config;
use crate::http::{Response, ResponseError};
use crate::request_outcome::{Failure, RequestInFlight, RequestOutcome, ResponseFacts};
use crate::request_source::PauseBeforeNext;
use crate::url::Scheme;
use crate::{kv, messages, sessions};

/// The classes of a load, where its protocol gives them.
pub fn classes(config: &Config) -> Vec<String> {
    let known: &[&str] = match config.scheme() {
        Scheme::Http => return config.sessions.as_ref().map_or_else(Vec::new, |it| it.pages.clone()),
        Scheme::Memcached => &kv::CLASSES,
        Scheme::Messages => &messages::CLASSES,
    };
    known.iter().map(ToString::to_string).collect()
}

/// What one lane asks for.
pub enum RequestGenerator {
    Kv(Box<kv::RequestGenerator>),
    Messages(Box<messages::RequestGenerator>),
    Sessions(Box<sessions::RequestGenerator>),
}

/// What a connection is doing; of the kind of its generator.
#[derive(Debug)]
pub enum Exchange {
    Kv(kv::Exchange),
    Messages(messages::Exchange),
    Sessions(sessions::Exchange),
}

impl RequestGenerator {
    /// For lane `lane` of a run that starts at `start_s`; `None` for HTTP without sessions.
    pub fn new(config: &Config, lane: usize, start_s: f64) -> Option<RequestGenerator> {
        let (seed, lanes) = (config.seed, config.lanes.len());
        if let Some(kv) = config.kv() {
            return Some(RequestGenerator::Kv(Box::new(kv::RequestGenerator::new(&kv, seed, lane, lanes))));
        }
        if let Some(wanted) = &config.sessions {
            let users = config.lanes[lane].closed.as_ref().map_or(0, |closed| closed.users);
            let generator = sessions::RequestGenerator::new(wanted, seed, lane, users);
            return Some(RequestGenerator::Sessions(Box::new(generator)));
        }
        let run = messages::run_number(seed, start_s);
        let wanted = config.messages()?;
        Some(RequestGenerator::Messages(Box::new(messages::RequestGenerator::new(&wanted, seed, run, lane))))
    }

    /// For a new connection.
    pub fn exchange(&self) -> Exchange {
        match self {
            RequestGenerator::Kv(_) => Exchange::Kv(kv::Exchange::new()),
            RequestGenerator::Messages(_) => Exchange::Messages(messages::Exchange::new()),
            RequestGenerator::Sessions(_) => Exchange::Sessions(sessions::Exchange::new()),
        }
    }

    /// The class of the next request.
    pub fn choose(&mut self, user: u32) -> u16 {
        match self {
            RequestGenerator::Kv(generator) => generator.choose(),
            RequestGenerator::Messages(generator) => generator.choose(user),
            RequestGenerator::Sessions(generator) => generator.choose(user),
        }
    }

    /// Writes the request into `exchange`; `head` as `Url::message_head` says.
    pub fn compose(&mut self, request: &RequestInFlight, head: &[u8], exchange: &mut Exchange) {
        match (self, exchange) {
            (RequestGenerator::Kv(generator), Exchange::Kv(exchange)) => {
                generator.compose(request.class, exchange)
            }
            (RequestGenerator::Messages(generator), Exchange::Messages(exchange)) => {
                generator.compose(request, head, exchange);
            }
            (RequestGenerator::Sessions(generator), Exchange::Sessions(exchange)) => {
                generator.compose(request, head, exchange);
            }
            _ => {}
        }
    }

    /// Takes the next bytes of an answer. `Some(n)`: complete after n of them; `None`: all taken, more must come.
    pub fn feed(
        &self,
        bytes: &[u8],
        exchange: &mut Exchange,
        response: &mut Response,
    ) -> Result<Option<usize>, ResponseError> {
        match (self, exchange) {
            (RequestGenerator::Kv(generator), Exchange::Kv(exchange)) => exchange.feed(bytes, generator),
            _ => response.feed(bytes),
        }
    }

    /// Is this complete answer right?
    pub fn judge(&mut self, exchange: &mut Exchange, response: &mut Response, user: u32) -> Failure {
        match (self, exchange) {
            (_, Exchange::Kv(exchange)) => exchange.failure,
            (RequestGenerator::Messages(generator), Exchange::Messages(exchange)) => {
                generator.judge(exchange, response, user)
            }
            (RequestGenerator::Sessions(generator), Exchange::Sessions(exchange)) => {
                generator.judge(exchange, response, user)
            }
            _ => Failure::Protocol,
        }
    }

    /// What the user of this outcome does next.
    pub fn pause(&mut self, outcome: &RequestOutcome) -> PauseBeforeNext {
        match self {
            RequestGenerator::Kv(_) => PauseBeforeNext::after(outcome.failure),
            RequestGenerator::Messages(generator) => generator.pause(outcome),
            RequestGenerator::Sessions(generator) => {
                if outcome.failure != Failure::Ok {
                    generator.abandon(outcome.request.user);
                }
                PauseBeforeNext::after(outcome.failure)
            }
        }
    }
}

impl Exchange {
    /// The bytes of the request.
    pub fn out(&self) -> &[u8] {
        match self {
            Exchange::Kv(exchange) => &exchange.out,
            Exchange::Messages(exchange) => &exchange.out,
            Exchange::Sessions(exchange) => &exchange.out,
        }
    }

    /// A response that keeps what the answer is judged by.
    pub fn response(&self) -> Response {
        match self {
            Exchange::Kv(_) => Response::new(),
            Exchange::Messages(_) => messages::Exchange::response(),
            Exchange::Sessions(_) => sessions::Exchange::response(),
        }
    }

    /// What the record says of the answer, as far as it came.
    pub fn answer(&self, response: &Response, class: u16) -> ResponseFacts {
        match self {
            Exchange::Kv(exchange) => ResponseFacts {
                status: exchange.found,
                asked: exchange.asked.len() as u16,
                bytes: exchange.value_bytes,
                ..ResponseFacts::none(class)
            },
            Exchange::Sessions(exchange) => ResponseFacts {
                status: response.status,
                bytes: response.body.bytes,
                step: exchange.step,
                ..ResponseFacts::none(class)
            },
            Exchange::Messages(exchange) => ResponseFacts {
                class: exchange.class,
                status: response.status,
                asked: 0,
                bytes: exchange.message_bytes,
                message: exchange.message,
                step: None,
            },
        }
    }
}
