//! Where the database is, and the settings of every session.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::config::{Host, SslMode};

/// Longest time to connect and to be greeted.
const CONNECT: Duration = Duration::from_secs(2);
/// A connection waits this much longer than the database, which gives up first and says so.
const GRACE: Duration = Duration::from_millis(500);

#[derive(Clone, Debug)]
enum Address {
    Unix(PathBuf),
    Tcp { host: String, port: u16 },
}

/// A database and how to speak to it.
#[derive(Clone, Debug)]
pub struct ConnInfo {
    address: Address,
    pub user: String,
    pub password: Option<Vec<u8>>,
    pub name: String,
    pub options: String,
    /// How long a statement may take; `None` for as long as it needs.
    pub timeout: Option<Duration>,
}

/// What is wrong with a connection string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnInfoError(pub String);

fn wrong(what: &str) -> ConnInfoError {
    ConnInfoError(what.into())
}

impl ConnInfo {
    /// Of a `postgresql://` URL or a list of `key=value`; every session has the `settings` (as PGOPTIONS has them), and a
    /// statement may take `timeout_s`.
    ///
    /// # Errors
    /// What is wrong with `text`, which is not told: it may hold a password.
    pub fn new(text: &str, settings: &str, timeout_s: f64) -> Result<Self, ConnInfoError> {
        let given: tokio_postgres::Config = text
            .parse()
            .map_err(|error| wrong(&format!("not a postgresql:// URL or key=value list ({error})")))?;
        if given.get_ssl_mode() == SslMode::Require {
            return Err(wrong("sslmode=require, and this service speaks no TLS"));
        }
        let port = given.get_ports().first().copied().unwrap_or(5432);
        let address = match given.get_hosts().first() {
            Some(Host::Unix(folder)) => Address::Unix(folder.join(format!(".s.PGSQL.{port}"))),
            Some(Host::Tcp(host)) => Address::Tcp { host: host.clone(), port },
            None => return Err(wrong("no host")),
        };
        let user = given.get_user().map(str::to_string);
        let user = user.or_else(|| std::env::var("USER").ok()).ok_or_else(|| wrong("no user"))?;
        let own = format!("-c statement_timeout={}", (timeout_s * 1e3).ceil());
        Ok(Self {
            address,
            password: given.get_password().map(<[u8]>::to_vec),
            name: given.get_dbname().unwrap_or(&user).to_string(),
            user,
            options: format!("{} {own} {}", settings, given.get_options().unwrap_or("")),
            timeout: Some(Duration::from_secs_f64(timeout_s)),
        })
    }

    /// The same without a limit to how long a statement may take.
    pub fn patient(&self) -> Self {
        let options = format!("{} -c statement_timeout=0", self.options);
        Self { options, timeout: None, ..self.clone() }
    }

    pub fn open(&self) -> io::Result<SocketStream> {
        match &self.address {
            // A frozen server's queue of connections fills, and a blocking connect would wait without end.
            Address::Unix(path) => {
                let stream: UnixStream = mio::net::UnixStream::connect(path)?.into();
                stream.set_nonblocking(false)?;
                Ok(SocketStream::Unix(stream))
            }
            Address::Tcp { host, port } => {
                let mut last = io::Error::new(io::ErrorKind::NotFound, "no address");
                for found in (host.as_str(), *port).to_socket_addrs()? {
                    match TcpStream::connect_timeout(&found, CONNECT) {
                        Ok(stream) => return stream.set_nodelay(true).map(|()| SocketStream::Tcp(stream)),
                        Err(error) => last = error,
                    }
                }
                Err(last)
            }
        }
    }

    /// How long to wait for the startup, and for any answer after it.
    pub fn timeouts(&self) -> (Duration, Option<Duration>) {
        (CONNECT, self.timeout.map(|time| time + GRACE))
    }
}

/// A socket of either kind, blocking.
#[derive(Debug)]
pub enum SocketStream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl SocketStream {
    pub fn set_timeout(&self, time: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_read_timeout(time).and(stream.set_write_timeout(time)),
            Self::Tcp(stream) => stream.set_read_timeout(time).and(stream.set_write_timeout(time)),
        }
    }

    pub fn set_nonblocking(&self, on: bool) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_nonblocking(on),
            Self::Tcp(stream) => stream.set_nonblocking(on),
        }
    }

    pub fn try_clone(&self) -> io::Result<Self> {
        match self {
            Self::Unix(stream) => stream.try_clone().map(Self::Unix),
            Self::Tcp(stream) => stream.try_clone().map(Self::Tcp),
        }
    }

    pub fn shutdown(&self) {
        // It may have ended by itself.
        let _ = match self {
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl Read for SocketStream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(bytes),
            Self::Tcp(stream) => stream.read(bytes),
        }
    }
}

impl Write for SocketStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsRawFd for SocketStream {
    fn as_raw_fd(&self) -> RawFd {
        match self {
            Self::Unix(stream) => stream.as_raw_fd(),
            Self::Tcp(stream) => stream.as_raw_fd(),
        }
    }
}
