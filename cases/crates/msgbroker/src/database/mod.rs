//! PostgreSQL as the service uses it.
//!
//! Sessions are those of the crate `pgsession`.
//!
//! - `settings`     where it is, and the settings of every session
//! - `statements`   the SQL; `schema` the tables, by version
//! - `execute`      an operation of a client as a statement; `execute_many` those that wait as one; `operation_result` what is said
//! - `maintenance`  overdue takes, dropped queues, dead rows; `database_clock` sees jumps of the database's clock

mod database_clock;
mod execute;
mod execute_many;
mod maintenance;
mod operation_result;
mod schema;
mod settings;
mod statements;

pub(crate) use execute::{execute, with_statement};
pub(crate) use execute_many::{execute_many, group, StatementGroup};
pub(crate) use maintenance::Maintenance;
pub(crate) use operation_result::{Message, OperationResult};
pub(crate) use schema::prepare;
pub use schema::DatabaseInfo;
pub(crate) use settings::conninfo;
pub use settings::SETTINGS;
pub(crate) use sojourn_pgsession::{
    ConnInfo, DatabaseError, PooledSession, Row, Session, SessionConnector, SessionPool, StatementFate,
};
pub use statements::{PUT, PUT_MANY, TAKE, TAKE_MANY};
