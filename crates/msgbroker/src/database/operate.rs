//! An operation of a client as a statement.

use super::fault::Fault;
use super::link::Row;
use super::pool::Lease;
use super::statements as sql;
use crate::answer::{Answer, Message};
use crate::refusal::Refusal;
use crate::request::Operation;

/// Queues in one answer to a list.
const LISTED: i64 = 10_000;

/// Carries it out; with `redelivery_s` a take has to be acknowledged.
pub(crate) fn operate(
    lease: &mut Lease<'_>,
    operation: &Operation<'_>,
    redelivery_s: Option<f64>,
) -> Result<Answer, Fault> {
    match operation {
        Operation::Create { queue } => {
            let is_new = first(lease, sql::CREATE, &[text(queue)])?.is_some();
            Ok(if is_new { Answer::Created } else { Answer::Exists })
        }
        Operation::Drop { queue } => {
            let was = first(lease, sql::DROP, &[text(queue)])?.is_some();
            Ok(if was { Answer::Dropped } else { Answer::Refused(Refusal::NoQueue) })
        }
        Operation::List { after } => list(lease, after),
        Operation::Put { queue, sender, body } => {
            let sender = sender.as_deref().map(str::as_bytes);
            let row = first(lease, sql::PUT, &[text(queue), sender, Some(body)])?;
            let id = row.and_then(|row| row.int(0));
            Ok(id.map_or(Answer::Refused(Refusal::NoQueue), Answer::Stored))
        }
        Operation::Take { queue, sender } => match (redelivery_s, sender) {
            (None, None) => message(first(lease, sql::TAKE, &[text(queue)])?),
            (None, Some(sender)) => message(first(lease, sql::TAKE_FROM, &[text(queue), text(sender)])?),
            (Some(s), None) => message(first(lease, sql::LEND, &[text(queue), Some(&s.to_be_bytes())])?),
            (Some(s), Some(sender)) => {
                let params = [text(queue), Some(&s.to_be_bytes()), text(sender)];
                message(first(lease, sql::LEND_FROM, &params)?)
            }
        },
        Operation::Peek { queue, sender: None } => message(first(lease, sql::PEEK, &[text(queue)])?),
        Operation::Peek { queue, sender: Some(sender) } => {
            message(first(lease, sql::PEEK_FROM, &[text(queue), text(sender)])?)
        }
        Operation::Acknowledge { queue, id, receipt } => {
            let params = [text(queue), Some(&id.to_be_bytes()[..]), Some(&receipt.to_be_bytes())];
            let row = first(lease, sql::ACKNOWLEDGE, &params)?;
            Ok(match row.map(|row| row.int(0).is_some()) {
                Some(true) => Answer::Acknowledged,
                Some(false) => Answer::Refused(Refusal::NoMessage),
                None => Answer::Refused(Refusal::NoQueue),
            })
        }
    }
}

pub(super) fn text(value: &str) -> Option<&[u8]> {
    Some(value.as_bytes())
}

fn first(
    lease: &mut Lease<'_>,
    statement: &'static str,
    params: &[Option<&[u8]>],
) -> Result<Option<Row>, Fault> {
    let mut found = None;
    lease.run(statement, params, &mut |row| found = Some(row))?;
    Ok(found)
}

fn list(lease: &mut Lease<'_>, after: &str) -> Result<Answer, Fault> {
    let mut queues = Vec::new();
    lease.run(sql::LIST, &[text(after), Some(&LISTED.to_be_bytes())], &mut |row| {
        queues.push((row.text(0).unwrap_or("").to_string(), row.int(1).unwrap_or(0)));
    })?;
    Ok(Answer::Queues(queues))
}

/// No row: no such queue. A row of NULLs: nothing in it.
fn message(row: Option<Row>) -> Result<Answer, Fault> {
    Ok(match row {
        None => Answer::Refused(Refusal::NoQueue),
        Some(row) => as_message(&row, 0).map_or(Answer::Nothing, Answer::Message),
    })
}

/// id, sender, body and perhaps receipt, from a column on.
pub(super) fn as_message(row: &Row, from: usize) -> Option<Message> {
    Some(Message {
        id: row.int(from)?,
        sender: row.text(from + 1).map(str::to_string),
        body: row.bytes(from + 2).unwrap_or(&[]).to_vec(),
        receipt: row.int(from + 3),
    })
}
