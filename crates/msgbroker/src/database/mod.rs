//! PostgreSQL as the service uses it.
//!
//! - `conninfo`     where it is, and the settings of every session
//! - `wire`         statements to bytes, bytes to rows; `session` a socket and what goes over it
//! - `startup`      how a session begins: names, passwords; `fault` what can go wrong
//! - `pool`         sessions that any worker may use; `connector` opens them for a loop; `health` whether it lets us in
//! - `statements`   the SQL; `schema` the tables, by version
//! - `execute`      an operation of a client as a statement; `execute_many` those that wait as one; `reply` what is said
//! - `maintenance`  overdue takes, dropped queues, dead rows; `clock` sees jumps of the database's clock
//!
//! The wire format, passwords and connection strings are those of the rust-postgres crates. Its synchronous client is
//! not used: beside a runtime for each connection it cannot give up waiting for a database that is frozen.

mod clock;
mod connector;
mod conninfo;
mod execute;
mod execute_many;
mod fault;
mod health;
mod maintenance;
mod pool;
mod reply;
mod schema;
mod session;
mod startup;
mod statements;
mod wire;

pub(crate) use connector::Connector;
pub(crate) use conninfo::ConnInfo;
pub use conninfo::SETTINGS;
pub(crate) use execute::{execute, with_statement};
pub(crate) use execute_many::{execute_many, group, Group};
pub(crate) use fault::{Effect, Fault};
pub(crate) use maintenance::Maintenance;
pub(crate) use pool::{Pool, PooledSession};
pub(crate) use reply::{Message, Reply};
pub(crate) use schema::prepare;
pub use schema::About;
pub(crate) use session::Session;
pub use statements::{PUT, TAKE};
pub(crate) use wire::Row;
