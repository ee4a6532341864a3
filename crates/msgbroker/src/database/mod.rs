//! PostgreSQL as the service uses it.
//!
//! - `target`     where it is, and the settings of every session
//! - `greeting`   how a session begins: names, passwords
//! - `wire`       statements to bytes, bytes to rows; `link` one session; `fault` what can go wrong; `health` whether it lets us in
//! - `pool`       sessions that any worker may use; a database that went away
//! - `statements` the SQL
//! - `schema`     the tables, by version
//! - `operate`    an operation of a client as a statement
//! - `many`       operations that wait together as one statement
//! - `keeper`     what has to be done beside: overdue takes, dropped queues, dead rows; `clock` sees jumps of its clock
//!
//! The wire format, passwords and connection strings are those of the rust-postgres crates. Its synchronous client is
//! not used: beside a runtime for each connection it cannot give up waiting for a database that is frozen.

mod clock;
mod connector;
mod fault;
mod greeting;
mod health;
mod keeper;
mod link;
mod many;
mod operate;
mod pool;
mod reply;
mod schema;
mod statements;
mod target;
mod wire;

pub(crate) use connector::Connector;
pub(crate) use fault::{Effect, Fault};
pub(crate) use keeper::Keeper;
pub(crate) use link::Link;
pub(crate) use many::{group, together, Group};
pub(crate) use operate::{operate, with_statement};
pub(crate) use pool::{Lease, Pool};
pub(crate) use reply::{Message, Reply};
pub(crate) use schema::prepare;
pub use schema::About;
pub use statements::{PUT, TAKE};
pub(crate) use target::Target;
pub use target::SETTINGS;
pub(crate) use wire::Row;
