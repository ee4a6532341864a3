//! What the database's answer means.

use crate::operation::OperationKind;
use sojourn_pgsession::Row;

/// What an operation came to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OperationResult {
    Created,
    /// It was there.
    Existed,
    Dropped,
    /// Names and numbers of messages.
    Queues(Vec<(String, i64)>),
    Stored(i64),
    Message(Message),
    /// Nothing to take or to see.
    Empty,
    Acknowledged,
    NoQueue,
    /// No message that was taken has this number and receipt.
    NoMessage,
}

/// A message as a client gets it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Message {
    pub id: i64,
    pub sender: Option<String>,
    pub body: Vec<u8>,
    /// With which a take is acknowledged.
    pub receipt: Option<i64>,
}

impl OperationResult {
    /// Of an operation of this kind whose statement found these rows. None: no such queue. One of NULLs: nothing in it.
    pub fn new(kind: OperationKind, rows: &[Row]) -> Self {
        let Some(row) = rows.first() else {
            return match kind {
                OperationKind::Create => Self::Existed,
                OperationKind::List => Self::Queues(Vec::new()),
                _ => Self::NoQueue,
            };
        };
        match kind {
            OperationKind::Create => Self::Created,
            OperationKind::Drop => Self::Dropped,
            OperationKind::List => Self::Queues(rows.iter().map(queue).collect()),
            OperationKind::Put => row.int(0).map_or(Self::NoQueue, Self::Stored),
            OperationKind::Acknowledge if row.int(0).is_some() => Self::Acknowledged,
            OperationKind::Acknowledge => Self::NoMessage,
            OperationKind::Take | OperationKind::Empty | OperationKind::Peek | OperationKind::Refused => {
                Message::new(row, 0).map_or(Self::Empty, Self::Message)
            }
        }
    }
}

fn queue(row: &Row) -> (String, i64) {
    (row.text(0).unwrap_or("").to_string(), row.int(1).unwrap_or(0))
}

impl Message {
    /// id, sender, body and perhaps receipt, from a column on.
    pub fn new(row: &Row, from: usize) -> Option<Self> {
        Some(Self {
            id: row.int(from)?,
            sender: row.text(from + 1).map(str::to_string),
            body: row.bytes(from + 2).unwrap_or(&[]).to_vec(),
            receipt: row.int(from + 3),
        })
    }
}
