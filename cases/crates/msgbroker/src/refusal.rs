//! Requests that are not carried out: why, and what to do.

/// A status with the two sentences of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Not HTTP/1.1 as RFC 9112 has it.
    Malformed,
    Head,
    /// Longer than a message may be.
    Body,
    /// No Content-Length where one is needed.
    Length,
    Token,
    Path,
    Method,
    /// A queue's or a sender's name.
    Name,
    /// A message's number, a receipt, a limit.
    Number,
    Query,
    NoQueue,
    NoMessage,
    /// Too much waits already.
    Full,
    Memory,
    /// No connection to the database became free.
    Busy,
    /// The database cannot be reached: surely nothing was done.
    Away,
    /// The database's answer was lost: done or not.
    Unknown,
    /// The database refused: nothing was done.
    Refused,
    /// The service itself: done or not.
    Failed,
}

impl Refusal {
    pub fn status(self) -> u16 {
        match self {
            Self::Malformed | Self::Name | Self::Number | Self::Query => 400,
            Self::Token => 401,
            Self::Path | Self::NoQueue | Self::NoMessage => 404,
            Self::Method => 405,
            Self::Length => 411,
            Self::Body => 413,
            Self::Head => 431,
            Self::Failed => 500,
            Self::Full | Self::Memory | Self::Busy | Self::Away | Self::Unknown | Self::Refused => 503,
        }
    }

    /// Whether the connection ends: where its next request would begin is not known, or the client is not to go on.
    pub fn closes(self) -> bool {
        matches!(self, Self::Malformed | Self::Head | Self::Body | Self::Length | Self::Memory | Self::Failed)
    }

    pub fn error(self) -> &'static str {
        match self {
            Self::Malformed => "not an HTTP/1.1 request",
            Self::Head => "the request line and headers are longer than 16 KiB",
            Self::Body => "the message is longer than this service takes",
            Self::Length => "the request has no Content-Length",
            Self::Token => "no token, or not the one of this service",
            Self::Path => "nothing has this path",
            Self::Method => "this path does not take this method",
            Self::Name => "a name needs 1 to 200 bytes of UTF-8 without control characters",
            Self::Number => "not a number, or out of range",
            Self::Query => "a query that this path does not take",
            Self::NoQueue => "no queue has this name",
            Self::NoMessage => "no taken message has this number and receipt",
            Self::Full => "too many requests wait already",
            Self::Memory => "too much memory is held by unfinished requests",
            Self::Busy => "no database connection became free in time; nothing was done",
            Self::Away => "the database cannot be reached; nothing was done",
            Self::Unknown => "the database's answer was lost: it is unknown whether this was done",
            Self::Refused => "the database refused; nothing was done",
            Self::Failed => "the service failed: it is unknown whether this was done",
        }
    }

    pub fn remedy(self) -> &'static str {
        match self {
            Self::Malformed => "send requests as RFC 9112 has them, each line ended by CRLF",
            Self::Head => "shorten the path and the headers",
            Self::Body => "send a shorter message, or start the service with a larger --max-message-bytes",
            Self::Length => "send Content-Length; chunked bodies are not taken",
            Self::Token => "send the header Authorization: Bearer TOKEN",
            Self::Path => "use /queues, /queues/Q, /queues/Q/messages, /queues/Q/take or /queues/Q/peek",
            Self::Method => "see the Allow header",
            Self::Name => "percent-encode it, and shorten it",
            Self::Number => "use the X-Message-Id and X-Receipt of the take",
            Self::Query => "take and peek know sender, an acknowledgement receipt, a list after",
            Self::NoQueue => "create it with PUT /queues/Q",
            Self::NoMessage => {
                "it was acknowledged before, or was given to another client after its time: do nothing"
            }
            Self::Full | Self::Busy => "try again later, or give the service more connections",
            Self::Memory => "send requests in one piece, and take their answers",
            Self::Away => "try again in a second",
            Self::Unknown => "look for the effect before trying again: a second put is a second message",
            Self::Refused => {
                "see the service's log; a statement that takes longer than --db-timeout is given up"
            }
            Self::Failed => "look for the effect before trying again, and report what the service's log says",
        }
    }
}
