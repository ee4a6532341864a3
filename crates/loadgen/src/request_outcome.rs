//! How a request ended.

use std::io::{self, ErrorKind};

use crate::http::ResponseError;

/// The kinds of failure; the number is the `failure` column of `requests.rec`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Failure {
    /// A success.
    Ok = 0,
    /// No connection: refused, or no route.
    Refused = 1,
    /// No connection in time.
    ConnectTimeout = 2,
    /// The peer broke the connection off (RST).
    Reset = 3,
    /// No complete answer in time.
    Timeout = 4,
    /// A status that was not expected.
    Status = 5,
    /// A body of the wrong length, or shorter than announced.
    Length = 6,
    /// Not HTTP/1.1, or memcached's text protocol, as we know it.
    Protocol = 7,
    /// Never sent: all connections were busy until its time was up, or too many waited.
    Unsent = 8,
    /// The service said that it failed: memcached's error line, a set that it did not store, an I/O error.
    Error = 9,
    /// Not the answer to what was asked: another value, another key, another order, a changed message, an older block.
    Wrong = 10,
    /// No TLS in a new connection, or a broken one.
    Tls = 11,
    /// The peer closed its side (FIN) before an answer, or within one whose length it had not said.
    Closed = 12,
    /// A body that is not what its Content-Encoding says, or in a coding that we cannot decode.
    Coding = 13,
}

impl Failure {
    pub const ALL: [Failure; 14] = [
        Failure::Ok,
        Failure::Refused,
        Failure::ConnectTimeout,
        Failure::Reset,
        Failure::Timeout,
        Failure::Status,
        Failure::Length,
        Failure::Protocol,
        Failure::Unsent,
        Failure::Error,
        Failure::Wrong,
        Failure::Tls,
        Failure::Closed,
        Failure::Coding,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Failure::Ok => "ok",
            Failure::Refused => "refused",
            Failure::ConnectTimeout => "connect_timeout",
            Failure::Reset => "reset",
            Failure::Timeout => "timeout",
            Failure::Status => "status",
            Failure::Length => "length",
            Failure::Protocol => "protocol",
            Failure::Unsent => "unsent",
            Failure::Error => "error",
            Failure::Wrong => "wrong",
            Failure::Tls => "tls",
            Failure::Closed => "closed",
            Failure::Coding => "coding",
        }
    }

    /// Of a connection that an error of the system ended: what comes behind the peer's own end is the end of that (EPIPE).
    pub fn of_broken(cause: &io::Error) -> Failure {
        match cause.kind() {
            ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof => Failure::Closed,
            _ => Failure::Reset,
        }
    }
}

impl From<ResponseError> for Failure {
    fn from(error: ResponseError) -> Failure {
        match error {
            ResponseError::Protocol => Failure::Protocol,
            ResponseError::TooLong => Failure::Length,
            ResponseError::Coding => Failure::Coding,
        }
    }
}

/// A request that is on its way.
#[derive(Debug, Clone, Copy)]
pub struct RequestInFlight {
    pub sequence: u64,
    pub target: usize,
    pub class: u16,
    /// The user of a closed loop; `u32::MAX` in an open one.
    pub user: u32,
    pub intended_s: f64,
    /// When the lane took it up: later than intended only by the generator's own fault.
    pub taken_s: f64,
    /// NaN until it is sent.
    pub sent_s: f64,
}

/// The number of an outcome that is about no message.
pub const NO_MESSAGE: u64 = u64::MAX;

/// What the record says of an answer, as far as it came.
#[derive(Debug, Clone, Copy)]
pub struct ResponseFacts {
    pub class: u16,
    /// HTTP's status; of memcached the number of keys found.
    pub status: u16,
    /// Keys that memcached was asked for.
    pub asked: u16,
    pub bytes: u64,
    /// The number of the message that was put or taken.
    pub message: u64,
    /// What a user in a session drew behind this page.
    pub step: Option<SessionStep>,
}

/// A draw from the matrix of a kind of users: the column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionStep {
    pub kind: u16,
    pub column: u16,
}

impl ResponseFacts {
    /// Nothing came.
    pub fn none(class: u16) -> ResponseFacts {
        ResponseFacts { class, status: 0, asked: 0, bytes: 0, message: NO_MESSAGE, step: None }
    }
}

/// What came of a request: one row of the record.
#[derive(Debug, Clone, Copy)]
pub struct RequestOutcome {
    pub request: RequestInFlight,
    pub class: u16,
    pub received_s: f64,
    pub done_s: f64,
    pub status: u16,
    pub asked: u16,
    pub bytes: u64,
    pub message: u64,
    pub step: Option<SessionStep>,
    pub failure: Failure,
    pub connection: u32,
}

impl RequestOutcome {
    /// When the answer was there: the kernel's receive time, or where it has none, when its last bytes were read.
    pub fn end_s(&self) -> f64 {
        if self.received_s.is_nan() {
            self.done_s
        } else {
            self.received_s
        }
    }

    /// `at_s`: received and done.
    pub fn new(
        request: RequestInFlight,
        answer: ResponseFacts,
        at_s: [f64; 2],
        failure: Failure,
        connection: u32,
    ) -> RequestOutcome {
        let ResponseFacts { class, status, asked, bytes, message, step } = answer;
        let [received_s, done_s] = at_s;
        RequestOutcome {
            request,
            class,
            received_s,
            done_s,
            status,
            asked,
            bytes,
            message,
            step,
            failure,
            connection,
        }
    }
}
