//! Operations that wait together as one statement: one for puts, one for takes.

use postgres_protocol::types::{array_to_sql, ArrayDimension};
use postgres_protocol::IsNull;

use super::link::{Fault, Row};
use super::operate::{as_message, text};
use super::pool::Lease;
use super::statements as sql;
use crate::answer::Answer;
use crate::refusal::Refusal;
use crate::request::Operation;

/// Types of array elements, as `pg_type` numbers them.
const BYTEA: u32 = 17;
const INT8: u32 = 20;
const TEXT: u32 = 25;

/// How operations can share a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Put,
    Take,
    Alone,
}

pub(crate) fn group(operation: &Operation<'_>) -> Group {
    match operation {
        Operation::Put { .. } => Group::Put,
        Operation::Take { sender: None, .. } => Group::Take,
        _ => Group::Alone,
    }
}

/// Stores all or none; an answer for each.
pub(crate) fn put_many(lease: &mut Lease<'_>, puts: &[&Operation<'_>]) -> Result<Vec<Answer>, Fault> {
    let fields = puts.iter().filter_map(|put| match put {
        Operation::Put { queue, sender, body } => {
            Some((text(queue), sender.as_deref().map(str::as_bytes), Some(*body)))
        }
        _ => None,
    });
    let (mut names, mut senders, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
    for (name, sender, body) in fields {
        names.push(name);
        senders.push(sender);
        bodies.push(body);
    }
    let arrays = [array(TEXT, &names)?, array(TEXT, &senders)?, array(BYTEA, &bodies)?];
    let mut answers = vec![Answer::Refused(Refusal::NoQueue); puts.len()];
    lease.run(sql::PUT_MANY, &arrays.each_ref().map(|bytes| Some(&bytes[..])), &mut |row| {
        let place = row.int(0).and_then(|n| answers.get_mut(n as usize - 1));
        if let (Some(answer), Some(id)) = (place, row.int(1)) {
            *answer = Answer::Stored(id);
        }
    })?;
    Ok(answers)
}

/// Takes for all; where there are fewer messages than takers, the last of them get none.
pub(crate) fn take_many(
    lease: &mut Lease<'_>,
    takes: &[&Operation<'_>],
    redelivery_s: Option<f64>,
) -> Result<Vec<Answer>, Fault> {
    let mut queues: Vec<Takers<'_>> = Vec::new();
    for (index, take) in takes.iter().enumerate() {
        let Operation::Take { queue, .. } = take else { continue };
        match queues.iter_mut().find(|known| known.queue == queue) {
            Some(known) => known.indexes.push(index),
            None => queues.push(Takers { queue, indexes: vec![index], served: 0, exists: false }),
        }
    }
    let names: Vec<_> = queues.iter().map(|takers| text(takers.queue)).collect();
    let counts: Vec<_> = queues.iter().map(|takers| (takers.indexes.len() as i64).to_be_bytes()).collect();
    let counts: Vec<_> = counts.iter().map(|bytes| Some(&bytes[..])).collect();
    let (names, counts) = (array(TEXT, &names)?, array(INT8, &counts)?);
    let time = redelivery_s.unwrap_or(0.0).to_be_bytes();
    let params = [Some(&names[..]), Some(&counts), Some(&time)];
    let mut answers = vec![Answer::Refused(Refusal::NoQueue); takes.len()];
    let mut each = |row: Row| {
        let Some(takers) = row.int(0).and_then(|n| queues.get_mut(n as usize - 1)) else { return };
        takers.exists = true;
        let next = takers.indexes.get(takers.served);
        if let (Some(message), Some(index)) = (as_message(&row, 1), next) {
            answers[*index] = Answer::Message(message);
            takers.served += 1;
        }
    };
    match redelivery_s {
        None => lease.run(sql::TAKE_MANY, &params[..2], &mut each)?,
        Some(_) => lease.run(sql::LEND_MANY, &params, &mut each)?,
    }
    for takers in queues.iter().filter(|takers| takers.exists) {
        for index in &takers.indexes[takers.served..] {
            answers[*index] = Answer::Nothing;
        }
    }
    Ok(answers)
}

/// Who takes from one queue, first come first served.
struct Takers<'a> {
    queue: &'a str,
    indexes: Vec<usize>,
    served: usize,
    exists: bool,
}

/// A one-dimensional array in the database's binary format.
fn array(kind: u32, elements: &[Option<&[u8]>]) -> Result<Vec<u8>, Fault> {
    let mut out = bytes::BytesMut::new();
    let dimension = ArrayDimension { len: elements.len() as i32, lower_bound: 1 };
    let one = |value: &Option<&[u8]>, out: &mut bytes::BytesMut| {
        let Some(value) = value else { return Ok(IsNull::Yes) };
        out.extend_from_slice(value);
        Ok(IsNull::No)
    };
    array_to_sql([dimension], kind, elements.iter(), one, &mut out)
        .map_err(|error| Fault::Refused(error.to_string()))?;
    Ok(out.to_vec())
}
