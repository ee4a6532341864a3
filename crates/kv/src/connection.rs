//! A client: bytes in, requests, bytes out, in the order of the requests.

use mio::net::TcpStream;
use sojourn_memproto::{parse, ParseStep, Refusal};
use sojourn_serving::{ReadHalf, ReadProgress, TurnBudget, WriteBuffer};

use crate::command_handler::CommandHandler;

/// Answers that a client does not read: above this its requests are left where they are.
const OUT_MAX_BYTES: usize = 4 << 20;

pub struct Connection {
    pub stream: TcpStream,
    pub intake: ReadHalf,
    out: WriteBuffer,
    /// Ends when all is written.
    closing: bool,
}

/// What is to become of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionProgress {
    /// Its socket has nothing, or takes nothing.
    Wait,
    /// Its turn is over, and it has more.
    Again,
    End,
}

impl Connection {
    pub fn new(stream: TcpStream) -> Connection {
        Connection { stream, intake: ReadHalf::new(0), out: WriteBuffer::default(), closing: false }
    }

    /// Reads, answers and writes as far as it goes without waiting, and as far as its turn does.
    pub fn advance(&mut self, handler: &mut CommandHandler) -> ConnectionProgress {
        let mut budget = TurnBudget::default();
        loop {
            let pause = self.process(handler, &mut budget);
            if self.out.flush(&mut self.stream).is_err() || (self.closing && self.out.is_empty()) {
                return ConnectionProgress::End;
            }
            // A client that does not take its answers gets no more: it becomes writable when it does.
            if self.closing || self.out.len() > OUT_MAX_BYTES {
                return ConnectionProgress::Wait;
            }
            let Some(need) = pause else { return ConnectionProgress::Again };
            self.intake.input.make_room(need);
            match self.intake.read(&mut self.stream, &mut budget, 0) {
                Ok(ReadProgress::Some) => {}
                Ok(ReadProgress::Nothing) if self.intake.has_ended() => return ConnectionProgress::End,
                Ok(ReadProgress::Nothing) => return ConnectionProgress::Wait,
                Ok(ReadProgress::TurnOver) => return ConnectionProgress::Again,
                Err(_) => return ConnectionProgress::End,
            }
        }
    }

    /// Answers the whole requests that are there: how many bytes the next one has, `None` where the turn is over.
    fn process(&mut self, handler: &mut CommandHandler, budget: &mut TurnBudget) -> Option<usize> {
        while !self.closing && self.out.len() <= OUT_MAX_BYTES && !self.intake.data().is_empty() {
            if !budget.request() {
                return None;
            }
            match parse(self.intake.input.data(), &handler.limits) {
                ParseStep::Need(bytes) => return Some(bytes),
                ParseStep::Done { request, used } => {
                    self.closing = !handler.answer(&request, self.out.tail());
                    self.intake.input.consume(used);
                }
                ParseStep::Forget { key, skip, silent } => {
                    handler.store.remove(key);
                    if !silent {
                        self.out.tail().extend_from_slice(Refusal::TooLarge.reply());
                    }
                    self.intake.pass_over(skip);
                }
                ParseStep::Refuse { refusal, skip, silent, close } => {
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
