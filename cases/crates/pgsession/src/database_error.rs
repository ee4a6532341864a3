//! Why a statement has no answer.

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::ErrorResponseBody;

/// What is known of a statement that has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementFate {
    /// There was no session to carry it out: nothing was done.
    NotSent,
    /// The session ended before the answer: done or not.
    Unknown,
    /// The database refused: nothing was done.
    RolledBack,
}

/// A statement or a session that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseError {
    pub effect: StatementFate,
    pub reason: ErrorReason,
}

/// What the database, or the system on the way to it, says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorReason {
    /// PostgreSQL's SQLSTATE; empty where it is not the database that speaks.
    pub sqlstate: String,
    pub text: String,
}

impl DatabaseError {
    pub fn new(effect: StatementFate, text: impl ToString) -> Self {
        Self { effect, reason: ErrorReason { sqlstate: String::new(), text: text.to_string() } }
    }

    /// The database's words, with the code of the error.
    pub fn text(&self) -> String {
        let ErrorReason { sqlstate, text } = &self.reason;
        if sqlstate.is_empty() {
            text.clone()
        } else {
            format!("{text} ({sqlstate})")
        }
    }

    /// What helps; codes as in the PostgreSQL documentation, appendix A.
    pub fn remedy(&self) -> &'static str {
        match self.reason.sqlstate.as_str() {
            "53300" => "raise PostgreSQL's max_connections, or give fewer --db-connections",
            "28000" | "28P01" => "check user and password in --postgresql-url, and PostgreSQL's pg_hba.conf",
            "3D000" => "create the database, or name another in --postgresql-url",
            "42501" => "grant the user of --postgresql-url the right to create a schema, or let its owner start the service once",
            "57P03" => "wait until PostgreSQL has started",
            "" => "start PostgreSQL first, or check --postgresql-url",
            _ => "see PostgreSQL's log",
        }
    }
}

/// Whether the session is over, and what the database says.
pub(crate) fn said(body: &ErrorResponseBody) -> (bool, ErrorReason) {
    let (mut fatal, mut reason) = (false, ErrorReason { sqlstate: String::new(), text: String::new() });
    let mut fields = body.fields();
    while let Ok(Some(field)) = fields.next() {
        let value = || String::from_utf8_lossy(field.value_bytes()).into_owned();
        match field.type_() {
            // Severity, not translated.
            b'V' => fatal = matches!(field.value_bytes(), b"FATAL" | b"PANIC"),
            b'C' => reason.sqlstate = value(),
            b'M' => reason.text = value(),
            _ => {}
        }
    }
    (fatal, reason)
}
