//! The tables, by version: each step is done once, whichever service comes first.

use crate::ServeError;
use sojourn_pgsession::connect;
use sojourn_pgsession::ConnInfo;
use sojourn_pgsession::DatabaseError;
use sojourn_pgsession::Session;

/// Version n is what the first n steps make. A step that was released is never changed.
const STEPS: [&str; 1] = ["
CREATE TABLE sojourn.queue (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE \"C\" NOT NULL UNIQUE);
CREATE SEQUENCE sojourn.message_id;
CREATE TABLE sojourn.message (
    queue int NOT NULL,
    id bigint NOT NULL DEFAULT nextval('sojourn.message_id'),
    sender text COLLATE \"C\",
    body bytea NOT NULL,
    PRIMARY KEY (queue, id));
CREATE INDEX message_sender ON sojourn.message (queue, sender, id) WHERE sender IS NOT NULL;
CREATE TABLE sojourn.taken (
    queue int NOT NULL,
    id bigint NOT NULL,
    receipt bigint GENERATED ALWAYS AS IDENTITY,
    until timestamptz NOT NULL,
    sender text COLLATE \"C\",
    body bytea NOT NULL,
    PRIMARY KEY (queue, id));
CREATE INDEX taken_until ON sojourn.taken (until);
ALTER TABLE sojourn.message ALTER body SET STORAGE EXTERNAL;
ALTER TABLE sojourn.taken ALTER body SET STORAGE EXTERNAL;
ALTER TABLE sojourn.message SET (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE sojourn.taken SET (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
"];

/// Services that start at the same time take turns: an arbitrary number of ours.
const LOCK: i64 = 0x736f_6a6f_7572_6e31;

/// Whether there is a table of versions. By query, because a name that was looked up in vain before the lock was had
/// would be remembered as missing.
const KNOWN: &str = "
SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'sojourn' AND c.relname = 'version'";

/// What the database says of itself.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct DatabaseInfo {
    pub version: String,
    /// `off`: a crash of the machine loses messages, whatever `durability` says.
    pub fsync: String,
    pub synchronous_commit: String,
}

/// Brings the tables to our version.
///
/// # Errors
/// The database cannot be reached or refuses; its encoding is not UTF-8; its tables are of a later version.
pub(crate) fn prepare(conninfo: &ConnInfo) -> Result<DatabaseInfo, ServeError> {
    let failed = |fault: DatabaseError| ServeError::Database { what: fault.text(), remedy: fault.remedy() };
    let mut session = connect(&conninfo.patient()).map_err(failed)?;
    let encoding = one(&mut session, "SHOW server_encoding").map_err(failed)?;
    if encoding != "UTF8" {
        return Err(ServeError::Encoding { encoding });
    }
    let found = steps(&mut session).map_err(failed)?;
    if found > STEPS.len() as i32 {
        return Err(ServeError::Version { found, known: STEPS.len() as i32 });
    }
    let mut say = |name: &str| one(&mut session, &format!("SHOW {name}")).map_err(failed);
    let (version, fsync) = (say("server_version")?, say("fsync")?);
    Ok(DatabaseInfo { version, fsync, synchronous_commit: say("synchronous_commit")? })
}

/// Does the steps that are missing; the version that was found, or made.
fn steps(session: &mut Session) -> Result<i32, DatabaseError> {
    let known = STEPS.len() as i32;
    let found = version(session)?;
    if found >= known {
        return Ok(found);
    }
    run(session, &format!("BEGIN; SELECT pg_advisory_xact_lock({LOCK})"))?;
    // Another service may have done it meanwhile.
    let found = version(session)?;
    for (step, sql) in STEPS.iter().enumerate().skip(found as usize) {
        if step == 0 {
            run(session, "CREATE SCHEMA IF NOT EXISTS sojourn")?;
            run(session, "CREATE TABLE sojourn.version (number int PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())")?;
        }
        run(session, &format!("{sql}; INSERT INTO sojourn.version (number) VALUES ({})", step + 1))?;
    }
    run(session, "COMMIT")?;
    Ok(found.max(known))
}

fn version(session: &mut Session) -> Result<i32, DatabaseError> {
    if one(session, KNOWN)? == "0" {
        return Ok(0);
    }
    Ok(one(session, "SELECT coalesce(max(number), 0) FROM sojourn.version")?.parse().unwrap_or(0))
}

fn run(session: &mut Session, sql: &str) -> Result<(), DatabaseError> {
    session.query(sql, &mut |_| {})
}

/// The only value of an answer.
fn one(session: &mut Session, sql: &str) -> Result<String, DatabaseError> {
    let mut value = String::new();
    session.query(sql, &mut |row| value = row.text(0).unwrap_or("").to_string())?;
    Ok(value)
}
