//! How a session begins.

use std::io::{self, ErrorKind, Write};

use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, ScramSha256, SCRAM_SHA_256};
use postgres_protocol::message::backend::{AuthenticationSaslBody, Message};
use postgres_protocol::message::frontend;

use crate::conninfo::ConnInfo;
use crate::database_error::{said, DatabaseError, ErrorReason, StatementFate};
use crate::session::Session;

/// What ends a startup: the way to the database, or its own words.
enum StartupError {
    Io(io::Error),
    Database(ErrorReason),
}

impl From<io::Error> for StartupError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Begins a session: says who we are, proves it, and waits until the database is ready.
///
/// # Errors
/// What the system or the database says; nothing was done.
pub fn connect(conninfo: &ConnInfo) -> Result<Session, DatabaseError> {
    let failed = |error: io::Error| DatabaseError::new(StatementFate::NotSent, error);
    let (greeting, answer) = conninfo.timeouts();
    let stream = conninfo.open().map_err(failed)?;
    stream.set_timeout(Some(greeting)).map_err(failed)?;
    let mut session = Session::new(stream);
    talk(&mut session, conninfo).map_err(|refused| match refused {
        StartupError::Io(error) => failed(error),
        StartupError::Database(reason) => DatabaseError { effect: StatementFate::NotSent, reason },
    })?;
    session.stream.set_timeout(answer).map_err(failed)?;
    Ok(session)
}

fn talk(session: &mut Session, conninfo: &ConnInfo) -> Result<(), StartupError> {
    let said = [
        ("user", conninfo.user.as_str()),
        ("database", &conninfo.name),
        ("client_encoding", "UTF8"),
        ("application_name", "sojourn"),
        ("options", &conninfo.options),
    ];
    session.wire.out.clear();
    frontend::startup_message(said, &mut session.wire.out)?;
    send(session)?;
    let user = conninfo.user.as_bytes();
    loop {
        match hear(session)? {
            Message::AuthenticationCleartextPassword => {
                frontend::password_message(password(conninfo)?, &mut session.wire.out)?;
                send(session)?;
            }
            Message::AuthenticationMd5Password(body) => {
                let hash = md5_hash(user, password(conninfo)?, body.salt());
                frontend::password_message(hash.as_bytes(), &mut session.wire.out)?;
                send(session)?;
            }
            Message::AuthenticationSasl(body) => scram(session, &body, password(conninfo)?)?,
            Message::AuthenticationOk => {}
            Message::AuthenticationGss | Message::AuthenticationKerberosV5 | Message::AuthenticationSspi => {
                return Err(
                    io::Error::other("it wants Kerberos or SSPI; allow a password for this user").into()
                );
            }
            Message::ReadyForQuery(_) => return Ok(()),
            _ => {}
        }
    }
}

fn scram(
    session: &mut Session,
    offered: &AuthenticationSaslBody,
    password: &[u8],
) -> Result<(), StartupError> {
    if !offered.mechanisms().any(|name| Ok(name == SCRAM_SHA_256))? {
        return Err(io::Error::other("it wants a password method that is not SCRAM-SHA-256").into());
    }
    let mut scram = ScramSha256::new(password, ChannelBinding::unsupported());
    frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut session.wire.out)?;
    send(session)?;
    let Message::AuthenticationSaslContinue(body) = hear(session)? else {
        return Err(io::Error::from(ErrorKind::InvalidData).into());
    };
    scram.update(body.data())?;
    frontend::sasl_response(scram.message(), &mut session.wire.out)?;
    send(session)?;
    let Message::AuthenticationSaslFinal(body) = hear(session)? else {
        return Err(io::Error::from(ErrorKind::InvalidData).into());
    };
    Ok(scram.finish(body.data())?)
}

fn password(conninfo: &ConnInfo) -> io::Result<&[u8]> {
    let none = || io::Error::other("it wants a password; give one in --postgresql-url");
    conninfo.password.as_deref().ok_or_else(none)
}

fn send(session: &mut Session) -> io::Result<()> {
    let sent = session.stream.write_all(&session.wire.out);
    session.wire.out.clear();
    sent
}

fn hear(session: &mut Session) -> Result<Message, StartupError> {
    match session.next()? {
        Message::ErrorResponse(body) => Err(StartupError::Database(said(&body).1)),
        message => Ok(message),
    }
}
