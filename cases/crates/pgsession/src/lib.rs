//! Sessions with PostgreSQL: its wire protocol over one socket, blocking or told by a loop, and a pool of them.
//!
//! - `conninfo` [`ConnInfo`]: where it is, and the settings of every session
//! - `wire` [`Row`], [`Statement`]: statements to bytes, bytes to rows; `session` [`Session`]: a socket and what goes over it
//! - `startup` [`connect`]: how a session begins: names, passwords
//! - `database_error` [`DatabaseError`]: what can go wrong, and what is known of a statement then
//! - `session_pool` [`SessionPool`]: sessions that any worker may use; `connector` [`SessionConnector`]: opens them for a loop
//! - `health` [`DatabaseHealth`]: whether the database lets us in
//!
//! The wire format, passwords and connection strings are those of the rust-postgres crates. Its synchronous client is
//! not used: beside a runtime for each connection it cannot give up waiting for a database that is frozen.
#![forbid(unsafe_code)]

mod connector;
mod conninfo;
mod database_error;
#[cfg(fuzzing)]
pub mod fuzzing;
mod health;
mod session;
mod session_pool;
mod startup;
mod wire;

pub use connector::SessionConnector;
pub use conninfo::{ConnInfo, ConnInfoError, SocketStream};
pub use database_error::{DatabaseError, ErrorReason, StatementFate};
pub use health::DatabaseHealth;
pub use session::{BoundStatement, Session};
pub use session_pool::{PooledSession, SessionPool};
pub use startup::connect;
pub use wire::{Params, Row, Statement};
