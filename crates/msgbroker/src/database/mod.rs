//! PostgreSQL as the service uses it.
//!
//! - `conninfo`     where it is, and the settings of every session
//! - `wire`         statements to bytes, bytes to rows; `session` a socket and what goes over it
//! - `startup`      how a session begins: names, passwords; `database_error` what can go wrong
//! - `session_pool`         sessions that any worker may use; `connector` opens them for a loop; `health` whether it lets us in
//! - `statements`   the SQL; `schema` the tables, by version
//! - `execute`      an operation of a client as a statement; `execute_many` those that wait as one; `operation_result` what is said
//! - `maintenance`  overdue takes, dropped queues, dead rows; `database_clock` sees jumps of the database's clock
//!
//! The wire format, passwords and connection strings are those of the rust-postgres crates. Its synchronous client is
//! not used: beside a runtime for each connection it cannot give up waiting for a database that is frozen.

mod connector;
mod conninfo;
mod database_clock;
mod database_error;
mod execute;
mod execute_many;
mod health;
mod maintenance;
mod operation_result;
mod schema;
mod session;
mod session_pool;
mod startup;
mod statements;
mod wire;

pub(crate) use connector::SessionConnector;
pub(crate) use conninfo::ConnInfo;
pub use conninfo::SETTINGS;
pub(crate) use database_error::{DatabaseError, StatementFate};
pub(crate) use execute::{execute, with_statement};
pub(crate) use execute_many::{execute_many, group, StatementGroup};
pub(crate) use maintenance::Maintenance;
pub(crate) use operation_result::{Message, OperationResult};
pub(crate) use schema::prepare;
pub use schema::DatabaseInfo;
pub(crate) use session::Session;
pub(crate) use session_pool::{PooledSession, SessionPool};
pub use statements::{PUT, TAKE};
pub(crate) use wire::Row;
