//! TLS for https:// targets: whom we trust, sessions, and what is wrong where there is none.

mod certificate_errors;
mod pinned_certificates;
mod trusted_certificates;

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{AlertDescription, ClientConfig, ClientConnection, Error};

use crate::config::TlsConfig;
use crate::config_error::ConfigError;
use crate::sys::Socket;

pub type Session = ClientConnection;

/// A connection to a service, in clear or over TLS.
#[derive(Debug)]
pub struct Transport {
    pub socket: Socket,
    pub tls: Option<Box<Session>>,
}

/// The certificates of a load, read once; `None` where no target needs them.
#[derive(Debug, Clone)]
pub struct TlsContext(Arc<ClientConfig>);

/// A service that is talked to over TLS: its name is sent (SNI) and compared with its certificate.
#[derive(Debug, Clone)]
pub struct TlsServer {
    context: TlsContext,
    name: ServerName<'static>,
}

impl TlsContext {
    pub fn new(wanted: &TlsConfig) -> Result<TlsContext, ConfigError> {
        trusted_certificates::client(wanted).map(|config| TlsContext(Arc::new(config)))
    }

    /// `place` is where the URL stands in the configuration.
    pub fn server(&self, host: &str, place: &str) -> Result<TlsServer, ConfigError> {
        let name = ServerName::try_from(host.to_string()).map_err(|_| ConfigError::Value {
            place: place.to_string(),
            value: format!("{host:?}"),
            remedy: "give a host name or an IP address that a certificate can be for",
        })?;
        Ok(TlsServer { context: self.clone(), name })
    }
}

impl TlsServer {
    pub fn session(&self) -> io::Result<Session> {
        ClientConnection::new(Arc::clone(&self.context.0), self.name.clone()).map_err(broken)
    }

    /// The whole handshake over a socket that still blocks, in at most `timeout`.
    pub fn open(&self, socket: &mut Socket, timeout: Duration) -> io::Result<Session> {
        let (mut session, end) = (self.session()?, Instant::now() + timeout);
        loop {
            flush(&mut session, socket)?;
            if !session.is_handshaking() {
                return Ok(session);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            socket.set_timeout(left)?;
            let count = session.read_tls(socket).map_err(|cause| match cause.kind() {
                io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
                _ => cause,
            })?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if let Err(cause) = session.process_new_packets() {
                // The service is told why.
                let _ = flush(&mut session, socket);
                return Err(broken(cause));
            }
        }
    }
}

/// An error of TLS on its way as one of the system.
pub fn broken(cause: Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, cause)
}

/// Writes what the session has to say; `WouldBlock` where the socket takes no more.
pub fn flush(session: &mut Session, socket: &mut Socket) -> io::Result<()> {
    while session.wants_write() {
        match session.write_tls(socket) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(_) => {}
        }
    }
    Ok(())
}

/// What is wrong, and what helps.
pub fn explain(cause: &io::Error, host: &str) -> (String, &'static str) {
    let inner = cause.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    let Some(error) = inner else {
        let said = match cause.kind() {
            io::ErrorKind::UnexpectedEof => "the connection was closed during the TLS handshake".to_string(),
            io::ErrorKind::TimedOut => "no end of the TLS handshake in time".to_string(),
            _ => format!("{cause} during the TLS handshake"),
        };
        return (said, "look whether the service speaks TLS there; http:// if it does not");
    };
    match error {
        Error::InvalidCertificate(certificate) => certificate_errors::explain(certificate, host),
        Error::InvalidMessage(_) => {
            ("what answers there does not speak TLS".to_string(), "give http://, or the port that speaks TLS")
        }
        Error::AlertReceived(alert) => {
            let (said, remedy) = explain_alert(*alert);
            (format!("the service ended the TLS handshake: {said}"), remedy)
        }
        Error::PeerIncompatible(_) | Error::NoApplicationProtocol => (
            "the service's TLS has no version, cipher or protocol in common with what is offered here"
                .to_string(),
            "let it speak TLS 1.2 or 1.3, with ECDHE and AES-GCM or ChaCha20, and HTTP/1.1",
        ),
        Error::NoCertificatesPresented => {
            ("the service shows no certificate".to_string(), "give it one, or http:// if it speaks no TLS")
        }
        _ => (
            "what the service says in the TLS handshake is not what TLS allows".to_string(),
            "look whether the service speaks TLS 1.2 or 1.3 there, and into its log",
        ),
    }
}

/// What a service says when it ends a handshake (RFC 8446, 6.2).
fn explain_alert(alert: AlertDescription) -> (&'static str, &'static str) {
    match alert {
        AlertDescription::CertificateRequired
        | AlertDescription::NoCertificate
        | AlertDescription::AccessDenied => {
            ("it wants a certificate of the client", "ask a port that wants none; none can be given here")
        }
        AlertDescription::ProtocolVersion
        | AlertDescription::InsufficientSecurity
        | AlertDescription::HandshakeFailure => (
            "no version or cipher in common",
            "look into its log: it may want another version of TLS, or a certificate of the client",
        ),
        AlertDescription::UnrecognisedName => {
            ("it does not know the name that was asked for", "use a name that it serves")
        }
        AlertDescription::NoApplicationProtocol => {
            ("it does not speak HTTP/1.1", "ask a port that speaks HTTP/1.1 over TLS")
        }
        _ => ("it gives no reason that helps", "look into its log: it may want a certificate of the client"),
    }
}
