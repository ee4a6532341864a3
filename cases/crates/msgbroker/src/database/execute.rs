//! An operation of a client as a statement.

use super::operation_result::OperationResult;
use super::statements as sql;
use crate::operation::Operation;
use sojourn_pgsession::BoundStatement;
use sojourn_pgsession::DatabaseError;
use sojourn_pgsession::PooledSession;
use sojourn_pgsession::{Params, Statement};

/// Queues in one answer to a list.
const LISTED: i64 = 10_000;

/// Calls `act` with the statement and its parameters; with `redelivery_s` a take has to be acknowledged.
pub(crate) fn with_statement<T>(
    operation: &Operation<'_>,
    redelivery_s: Option<f64>,
    act: impl FnOnce(Statement, Params<'_>) -> T,
) -> T {
    match operation {
        Operation::Create { queue } => act(sql::CREATE, &[text(queue)]),
        Operation::Drop { queue } => act(sql::DROP, &[text(queue)]),
        Operation::List { after } => act(sql::LIST, &[text(after), Some(&LISTED.to_be_bytes())]),
        Operation::Put { queue, sender, body } => {
            act(sql::PUT, &[text(queue), sender.as_deref().map(str::as_bytes), Some(body)])
        }
        Operation::Take { queue, sender } => match (redelivery_s, sender) {
            (None, None) => act(sql::TAKE, &[text(queue)]),
            (None, Some(sender)) => act(sql::TAKE_FROM, &[text(queue), text(sender)]),
            (Some(s), None) => act(sql::LEND, &[text(queue), Some(&s.to_be_bytes())]),
            (Some(s), Some(sender)) => {
                act(sql::LEND_FROM, &[text(queue), Some(&s.to_be_bytes()), text(sender)])
            }
        },
        Operation::Peek { queue, sender: None } => act(sql::PEEK, &[text(queue)]),
        Operation::Peek { queue, sender: Some(sender) } => act(sql::PEEK_FROM, &[text(queue), text(sender)]),
        Operation::Acknowledge { queue, id, receipt } => {
            act(sql::ACKNOWLEDGE, &[text(queue), Some(&id.to_be_bytes()), Some(&receipt.to_be_bytes())])
        }
    }
}

/// Carries it out.
pub(crate) fn execute(
    session: &mut PooledSession<'_>,
    operation: &Operation<'_>,
    redelivery_s: Option<f64>,
) -> Result<OperationResult, DatabaseError> {
    let mut rows = Vec::new();
    with_statement(operation, redelivery_s, |statement, params| {
        let each = &mut |row| rows.push(row);
        session.run_all(&mut [BoundStatement { statement, params, each }], &mut || ())
    })?;
    Ok(OperationResult::new(operation.kind(), &rows))
}

pub(super) fn text(value: &str) -> Option<&[u8]> {
    Some(value.as_bytes())
}
