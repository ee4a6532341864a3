//! Operations that wait together: one statement for puts, one for takes, one commit for both.

use postgres_protocol::types::{array_to_sql, ArrayDimension};
use postgres_protocol::IsNull;

use super::execute::text;
use super::operation_result::{Message, OperationResult};
use super::statements as sql;
use crate::operation::Operation;
use sojourn_pgsession::BoundStatement;
use sojourn_pgsession::PooledSession;
use sojourn_pgsession::Row;
use sojourn_pgsession::{DatabaseError, StatementFate};

/// Types of array elements, as `pg_type` numbers them.
const BYTEA: u32 = 17;
const INT8: u32 = 20;
const TEXT: u32 = 25;

/// How operations can share a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatementGroup {
    Put,
    Take,
    Alone,
}

pub(crate) fn group(operation: &Operation<'_>) -> StatementGroup {
    match operation {
        Operation::Put { .. } => StatementGroup::Put,
        Operation::Take { sender: None, .. } => StatementGroup::Take,
        _ => StatementGroup::Alone,
    }
}

/// All puts and all takes with one commit: done all or none. Where there are fewer messages than takers, the last of
/// them get none. An answer for each. `meanwhile` as for `Session::run_all`.
pub(crate) fn execute_many(
    session: &mut PooledSession<'_>,
    puts: &[&Operation<'_>],
    takes: &[&Operation<'_>],
    redelivery_s: Option<f64>,
    meanwhile: &mut dyn FnMut(),
) -> Result<(Vec<OperationResult>, Vec<OperationResult>), DatabaseError> {
    let stored = put_arrays(puts)?;
    let mut queues = takers(takes);
    let (names, counts) = take_arrays(&queues)?;
    let time = redelivery_s.unwrap_or(0.0).to_be_bytes();
    let mut put_answers = vec![OperationResult::NoQueue; puts.len()];
    let mut take_answers = vec![OperationResult::NoQueue; takes.len()];
    let mut each_put = |row: Row| {
        let place = row.int(0).and_then(|n| put_answers.get_mut((n as usize).wrapping_sub(1)));
        if let (Some(answer), Some(id)) = (place, row.int(1)) {
            *answer = OperationResult::Stored(id);
        }
    };
    let mut each_take = |row: Row| {
        if let Some(takers) = row.int(0).and_then(|n| queues.get_mut((n as usize).wrapping_sub(1))) {
            takers.give(Message::new(&row, 1), &mut take_answers);
        }
    };
    let stored = stored.each_ref().map(|bytes| Some(&bytes[..]));
    let lent = [Some(&names[..]), Some(&counts), Some(&time)];
    let (statement, taken) =
        if redelivery_s.is_some() { (sql::LEND_MANY, &lent[..]) } else { (sql::TAKE_MANY, &lent[..2]) };
    let mut statements = Vec::with_capacity(2);
    if !puts.is_empty() {
        statements.push(BoundStatement { statement: sql::PUT_MANY, params: &stored, each: &mut each_put });
    }
    if !takes.is_empty() {
        statements.push(BoundStatement { statement, params: taken, each: &mut each_take });
    }
    session.run_all(&mut statements, meanwhile)?;
    for takers in queues.iter().filter(|takers| takers.exists) {
        for index in &takers.indexes[takers.served..] {
            take_answers[*index] = OperationResult::Empty;
        }
    }
    Ok((put_answers, take_answers))
}

/// Queues, senders and bodies.
fn put_arrays(puts: &[&Operation<'_>]) -> Result<[Vec<u8>; 3], DatabaseError> {
    let (mut names, mut senders, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
    for put in puts {
        if let Operation::Put { queue, sender, body } = put {
            names.push(text(queue));
            senders.push(sender.as_deref().map(str::as_bytes));
            bodies.push(Some(*body));
        }
    }
    Ok([array(TEXT, &names)?, array(TEXT, &senders)?, array(BYTEA, &bodies)?])
}

/// Who takes from one queue, first come first served.
struct QueueTakers<'a> {
    queue: &'a str,
    indexes: Vec<usize>,
    served: usize,
    exists: bool,
}

impl QueueTakers<'_> {
    /// A row of this queue: its next message, or that it has none.
    fn give(&mut self, message: Option<Message>, answers: &mut [OperationResult]) {
        self.exists = true;
        if let (Some(message), Some(index)) = (message, self.indexes.get(self.served)) {
            answers[*index] = OperationResult::Message(message);
            self.served += 1;
        }
    }
}

fn takers<'a>(takes: &[&'a Operation<'_>]) -> Vec<QueueTakers<'a>> {
    let mut queues: Vec<QueueTakers<'a>> = Vec::new();
    for (index, take) in takes.iter().enumerate() {
        let Operation::Take { queue, .. } = take else { continue };
        match queues.iter_mut().find(|known| known.queue == queue) {
            Some(known) => known.indexes.push(index),
            None => queues.push(QueueTakers { queue, indexes: vec![index], served: 0, exists: false }),
        }
    }
    queues
}

/// Queues, and how many are wanted of each.
fn take_arrays(queues: &[QueueTakers<'_>]) -> Result<(Vec<u8>, Vec<u8>), DatabaseError> {
    let names: Vec<_> = queues.iter().map(|takers| text(takers.queue)).collect();
    let counts: Vec<_> = queues.iter().map(|takers| (takers.indexes.len() as i64).to_be_bytes()).collect();
    let counts: Vec<_> = counts.iter().map(|bytes| Some(&bytes[..])).collect();
    Ok((array(TEXT, &names)?, array(INT8, &counts)?))
}

/// A one-dimensional array in the database's binary format.
fn array(kind: u32, elements: &[Option<&[u8]>]) -> Result<Vec<u8>, DatabaseError> {
    let mut out = bytes::BytesMut::new();
    let dimension = ArrayDimension { len: elements.len() as i32, lower_bound: 1 };
    let one = |value: &Option<&[u8]>, out: &mut bytes::BytesMut| {
        let Some(value) = value else { return Ok(IsNull::Yes) };
        out.extend_from_slice(value);
        Ok(IsNull::No)
    };
    array_to_sql([dimension], kind, elements.iter(), one, &mut out)
        .map_err(|error| DatabaseError::new(StatementFate::RolledBack, error))?;
    Ok(out.to_vec())
}
