//! What a stream of bytes must be answered with, by the parser that the proxy has too.

use sojourn_memproto::{parse, ParseStep, Refusal, Reply, ReplyKind, Request, RequestLimits, Values};

/// Incomplete requests are made whole if so many bytes are enough, else left as they are.
const PADDED_BYTES: usize = 4096;

/// One answer that is due.
pub enum ExpectedReply {
    /// These bytes.
    Line(&'static [u8]),
    /// One of this shape, that says one of what such a request can be told.
    Shape(ReplyKind, fn(&Reply) -> bool),
    /// Values of some of these keys, in their order.
    Values(Vec<Vec<u8>>),
}

impl ExpectedReply {
    pub fn kind(&self) -> ReplyKind {
        match self {
            Self::Line(_) => ReplyKind::Line,
            Self::Shape(kind, _) => *kind,
            Self::Values(_) => ReplyKind::Values,
        }
    }

    /// Whether this is that answer.
    pub fn is(&self, reply: &Reply, bytes: &[u8]) -> bool {
        match self {
            Self::Line(line) => bytes == *line,
            Self::Shape(_, can) => can(reply),
            Self::Values(keys) => {
                let mut asked = keys.iter();
                let ordered = Values(bytes).all(|(key, _)| asked.any(|one| one == key));
                ordered && matches!(reply, Reply::Values(_))
            }
        }
    }
}

/// A stream as it is sent, and its answers in order.
pub struct Script {
    pub bytes: Vec<u8>,
    pub due: Vec<ExpectedReply>,
    /// Whether a request behind it would be read as one.
    pub goes_on: bool,
}

impl Script {
    /// Of mutated bytes: made whole, or cut off behind what ends a connection.
    pub fn new(mut bytes: Vec<u8>) -> Self {
        let (limits, mut due, mut start) = (RequestLimits::default(), Vec::new(), 0);
        while start < bytes.len() {
            match parse(&bytes[start..], &limits) {
                ParseStep::Need(more) => {
                    if !pad(&mut bytes, start, more) {
                        return Self { bytes, due, goes_on: false };
                    }
                }
                ParseStep::Done { request: Request::Quit, used } => {
                    bytes.truncate(start + used);
                    return Self { bytes, due, goes_on: false };
                }
                ParseStep::Done { request, used } => {
                    due.extend(answer(&request));
                    start += used;
                }
                // How much the proxy has read when it closes is its own affair.
                ParseStep::Refuse { close: true, .. } => {
                    bytes.truncate(start);
                    return Self { bytes, due, goes_on: true };
                }
                step @ (ParseStep::Refuse { skip, silent, .. } | ParseStep::Forget { skip, silent, .. }) => {
                    let refusal = match step {
                        ParseStep::Refuse { refusal, .. } => refusal,
                        _ => Refusal::TooLarge,
                    };
                    let reply = match refusal {
                        Refusal::NoKeys => ExpectedReply::Values(Vec::new()),
                        _ => ExpectedReply::Line(refusal.reply()),
                    };
                    due.extend((!silent).then_some(reply));
                    let end = start.saturating_add(skip);
                    if end > bytes.len() && !pad(&mut bytes, start, skip) {
                        return Self { bytes, due, goes_on: false };
                    }
                    start = end;
                }
            }
        }
        Self { bytes, due, goes_on: true }
    }
}

/// Adds what is missing of `whole` bytes from `start` on: data, and an end.
fn pad(bytes: &mut Vec<u8>, start: usize, whole: usize) -> bool {
    let missing = whole.saturating_sub(bytes.len() - start);
    if missing > PADDED_BYTES {
        return false;
    }
    let data = missing.saturating_sub(2);
    bytes.resize(bytes.len() + data, b'x');
    bytes.extend_from_slice(&b"\r\n"[2 - (missing - data)..]);
    true
}

fn answer(request: &Request<'_>) -> Option<ExpectedReply> {
    let shape =
        |kind, can: fn(&Reply) -> bool| request.is_answered().then_some(ExpectedReply::Shape(kind, can));
    match request {
        Request::Get { keys, .. } => Some(ExpectedReply::Values(keys.iter().map(<[u8]>::to_vec).collect())),
        Request::Store { .. } => shape(ReplyKind::Line, |reply| {
            matches!(reply, Reply::Stored | Reply::NotStored | Reply::Exists | Reply::NotFound | Reply::Error)
        }),
        Request::Delete { .. } => {
            shape(ReplyKind::Line, |reply| matches!(reply, Reply::Deleted | Reply::NotFound | Reply::Error))
        }
        Request::Arithmetic { .. } => {
            shape(ReplyKind::Line, |reply| matches!(reply, Reply::Number(_) | Reply::NotFound | Reply::Error))
        }
        Request::Touch { .. } => {
            shape(ReplyKind::Line, |reply| matches!(reply, Reply::Touched | Reply::NotFound | Reply::Error))
        }
        Request::FlushAll { .. } | Request::Verbosity { .. } => {
            shape(ReplyKind::Line, |reply| matches!(reply, Reply::Ok | Reply::Error))
        }
        Request::Version => shape(ReplyKind::Line, |reply| *reply == Reply::Version),
        Request::Stats { .. } => {
            shape(ReplyKind::Stats, |reply| matches!(reply, Reply::Stats | Reply::Error))
        }
        Request::Quit => None,
    }
}
