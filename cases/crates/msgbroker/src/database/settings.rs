//! Where the database is, and the settings of every session of this service.

use sojourn_pgsession::{ConnInfo, ConnInfoError};

use crate::{Config, Durability, ServeError};

/// Of every session, whatever its durability. The indexes are right for every statement whatever the tables hold, and no
/// plan is made twice. Without the joins being off, a plan that knows no number of takers expects thousands and reads the
/// whole table of messages for each batch.
pub const SETTINGS: &str =
    "-c default_transaction_isolation=read\\ committed -c plan_cache_mode=force_generic_plan \
    -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off";

fn settings(config: &Config) -> String {
    let commit = match config.durability {
        Durability::Full => "on",
        Durability::Off => "off",
    };
    format!("-c synchronous_commit={commit} {SETTINGS}")
}

/// The database of this configuration.
///
/// # Errors
/// `ServeError::Database` for what is no connection string.
pub(crate) fn conninfo(config: &Config) -> Result<ConnInfo, ServeError> {
    let wrong = |ConnInfoError(what)| ServeError::Database { what, remedy: "check --postgresql-url" };
    ConnInfo::new(&config.database, &settings(config), config.timeout_s).map_err(wrong)
}
