//! How a session begins.

use std::io::{self, ErrorKind, Write};

use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, ScramSha256, SCRAM_SHA_256};
use postgres_protocol::message::backend::{AuthenticationSaslBody, Message};
use postgres_protocol::message::frontend;

use super::fault::{said, Effect, Fault, Reason};
use super::link::Link;
use super::target::Target;

/// What ends a greeting: the way to the database, or its own words.
enum Refused {
    Io(io::Error),
    Database(Reason),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Says who we are, proves it, and waits until the database is ready; else what it says.
pub(super) fn greet(link: &mut Link, target: &Target) -> Result<(), Fault> {
    talk(link, target).map_err(|refused| match refused {
        Refused::Io(error) => Fault::new(Effect::NotSent, error),
        Refused::Database(reason) => Fault { effect: Effect::NotSent, reason },
    })
}

fn talk(link: &mut Link, target: &Target) -> Result<(), Refused> {
    let said = [
        ("user", target.user.as_str()),
        ("database", &target.name),
        ("client_encoding", "UTF8"),
        ("application_name", "sojourn"),
        ("options", &target.options),
    ];
    link.wire.out.clear();
    frontend::startup_message(said, &mut link.wire.out)?;
    send(link)?;
    let user = target.user.as_bytes();
    loop {
        match hear(link)? {
            Message::AuthenticationCleartextPassword => {
                frontend::password_message(password(target)?, &mut link.wire.out)?;
                send(link)?;
            }
            Message::AuthenticationMd5Password(body) => {
                let hash = md5_hash(user, password(target)?, body.salt());
                frontend::password_message(hash.as_bytes(), &mut link.wire.out)?;
                send(link)?;
            }
            Message::AuthenticationSasl(body) => scram(link, &body, password(target)?)?,
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

fn scram(link: &mut Link, offered: &AuthenticationSaslBody, password: &[u8]) -> Result<(), Refused> {
    if !offered.mechanisms().any(|name| Ok(name == SCRAM_SHA_256))? {
        return Err(io::Error::other("it wants a password method that is not SCRAM-SHA-256").into());
    }
    let mut scram = ScramSha256::new(password, ChannelBinding::unsupported());
    frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut link.wire.out)?;
    send(link)?;
    let Message::AuthenticationSaslContinue(body) = hear(link)? else {
        return Err(io::Error::from(ErrorKind::InvalidData).into());
    };
    scram.update(body.data())?;
    frontend::sasl_response(scram.message(), &mut link.wire.out)?;
    send(link)?;
    let Message::AuthenticationSaslFinal(body) = hear(link)? else {
        return Err(io::Error::from(ErrorKind::InvalidData).into());
    };
    Ok(scram.finish(body.data())?)
}

fn password(target: &Target) -> io::Result<&[u8]> {
    let none = || io::Error::other("it wants a password; give one in --database");
    target.password.as_deref().ok_or_else(none)
}

fn send(link: &mut Link) -> io::Result<()> {
    let sent = link.stream.write_all(&link.wire.out);
    link.wire.out.clear();
    sent
}

fn hear(link: &mut Link) -> Result<Message, Refused> {
    match link.next()? {
        Message::ErrorResponse(body) => Err(Refused::Database(said(&body).1)),
        message => Ok(message),
    }
}
