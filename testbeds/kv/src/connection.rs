//! A client: bytes in, requests, bytes out, in the order of the requests.

use mio::net::TcpStream;
use sojourn_memproto::{parse, Step};
use sojourn_serving::{Budget, Intake, Outbox, Reading};

use crate::answer::CommandHandler;

/// Answers that a client does not read: above this its requests are left where they are.
const OUT_MAX_BYTES: usize = 4 << 20;

pub struct Connection {
    pub stream: TcpStream,
    pub intake: Intake,
    out: Outbox,
    /// Ends when all is written.
    closing: bool,
}

/// What is to become of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Its socket has nothing, or takes nothing.
    Wait,
    /// Its turn is over, and it has more.
    Again,
    End,
}

impl Connection {
    pub fn new(stream: TcpStream) -> Connection {
        Connection { stream, intake: Intake::new(0), out: Outbox::default(), closing: false }
    }

    /// Reads, answers and writes as far as it goes without waiting, and as far as its turn does.
    pub fn advance(&mut self, handler: &mut CommandHandler) -> Next {
        let mut budget = Budget::default();
        loop {
            let pause = self.process(handler, &mut budget);
            if self.out.flush(&mut self.stream).is_err() || (self.closing && self.out.is_empty()) {
                return Next::End;
            }
            // A client that does not take its answers gets no more: it becomes writable when it does.
            if self.closing || self.out.len() > OUT_MAX_BYTES {
                return Next::Wait;
            }
            let Some(need) = pause else { return Next::Again };
            self.intake.inbox.make_room(need);
            match self.intake.read(&mut self.stream, &mut budget, 0) {
                Ok(Reading::Some) => {}
                Ok(Reading::Nothing) if self.intake.has_ended() => return Next::End,
                Ok(Reading::Nothing) => return Next::Wait,
                Ok(Reading::TurnOver) => return Next::Again,
                Err(_) => return Next::End,
            }
        }
    }

    /// Answers the whole requests that are there: how many bytes the next one has, `None` where the turn is over.
    fn process(&mut self, handler: &mut CommandHandler, budget: &mut Budget) -> Option<usize> {
        while !self.closing && self.out.len() <= OUT_MAX_BYTES && !self.intake.data().is_empty() {
            if !budget.request() {
                return None;
            }
            match parse(self.intake.inbox.data(), &handler.limits) {
                Step::Need(bytes) => return Some(bytes),
                Step::Done { request, used } => {
                    self.closing = !handler.answer(&request, self.out.tail());
                    self.intake.inbox.consume(used);
                }
                Step::Refuse { refusal, skip, silent, close } => {
                    if !silent {
                        self.out.tail().extend_from_slice(refusal.reply());
                    }
                    self.intake.pass_over(skip);
                    self.closing = close;
                }
            }
        }
        Some(0)
    }
}
