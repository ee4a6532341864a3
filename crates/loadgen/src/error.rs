//! What can go wrong, by operation.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use sojourn_record::WriteError;

use crate::config_error::ConfigError;
use crate::kv::PopulateError;
use crate::messages;
use crate::sys::Peer;
use crate::tls;

/// A run could not start, or had to end.
#[derive(Debug)]
pub enum LoadError {
    Config(ConfigError),
    Resolve {
        url: String,
        host: String,
        cause: String,
    },
    Connect {
        url: String,
        peer: Peer,
        cause: io::Error,
    },
    /// Connected, but without TLS.
    Tls {
        url: String,
        host: String,
        cause: io::Error,
    },
    Populate {
        addr: SocketAddr,
        cause: PopulateError,
    },
    Queues {
        addr: SocketAddr,
        cause: messages::CreateQueueError,
    },
    /// A user in a session had to have a connection of its own, and got none.
    Users {
        users: u64,
        open: u64,
        files: u64,
        cause: io::Error,
    },
    StartPassed {
        start_at_s: f64,
        now_s: f64,
    },
    Folder {
        path: PathBuf,
        cause: io::Error,
    },
    Record(WriteError),
    Log {
        path: PathBuf,
        cause: String,
    },
    Pin {
        lane: usize,
        cpu: usize,
        cause: io::Error,
    },
    System {
        lane: usize,
        call: &'static str,
        cause: io::Error,
    },
    Panic {
        lane: usize,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Config(error) => error.fmt(f),
            LoadError::Resolve { url, host, cause } => {
                write!(f, "{url}: no address for host {host}: {cause}; check the name, or give an IP address")
            }
            LoadError::Connect { url, peer, cause } if cause.kind() == io::ErrorKind::ConnectionRefused => {
                write!(f, "{url}: nothing listens at {peer}; start the service or check the port")
            }
            LoadError::Connect { url, peer: Peer::Unix(path), cause }
                if cause.kind() == io::ErrorKind::NotFound =>
            {
                let path = path.display();
                write!(f, "{url}: there is no socket {path}; start the service or check --unix-socket")
            }
            LoadError::Tls { url, host, cause } => {
                let (said, remedy) = tls::explain(cause, host);
                write!(f, "{url}: {said}; {remedy}")
            }
            LoadError::Connect { url, peer, cause } if cause.raw_os_error() == Some(libc::EMFILE) => {
                write!(
                    f,
                    "{url}: {peer}: out of file descriptors ({cause}); raise ulimit -n or lower connections"
                )
            }
            LoadError::Users { users, open, cause, .. } if cause.raw_os_error() == Some(libc::EADDRNOTAVAIL) => write!(
                f,
                "{users} users: {open} wait for an answer, each on a connection of its own, and no port is left for another; \
                 widen net.ipv4.ip_local_port_range, or give fewer users"
            ),
            LoadError::Users { users, open, files, .. } => write!(
                f,
                "{users} users: {open} wait for an answer, each on a connection of its own, and this process may have {files} \
                 open files; raise the limit (ulimit -Hn, LimitNOFILE= of a systemd unit), or give fewer users"
            ),
            LoadError::Connect { url, peer, cause } => {
                write!(f, "{url}: cannot connect to {peer}: {cause}; check the address and the route to it")
            }
            LoadError::Populate { addr, cause: PopulateError::Connection(cause) } => {
                write!(
                    f,
                    "{addr}: {cause} while the keys were stored; look after the server, or raise timeout_s"
                )
            }
            LoadError::Populate { addr, cause: PopulateError::Refused { key, answer } } => {
                write!(
                    f,
                    "{addr} answered {answer:?} to the set of key {key}; give it memory, or smaller values"
                )
            }
            LoadError::Queues { addr, cause: messages::CreateQueueError::Connection(cause) } => {
                write!(f, "{addr}: {cause} while the queues were made; look whether the service runs")
            }
            LoadError::Queues {
                addr,
                cause: messages::CreateQueueError::Refused { queue, status, answer },
            } => {
                write!(f, "{addr} answered {status} {answer:?} to making queue {queue}; ")?;
                f.write_str(if *status == 401 { "give its token" } else { "do what it says" })
            }
            LoadError::StartPassed { start_at_s, now_s } => {
                write!(f, "start_at_s is {start_at_s}, but it is {now_s} already; give a later time or none")
            }
            LoadError::Folder { path, cause } => {
                let path = path.display();
                write!(f, "cannot make the folder {path}: {cause}; choose another --out")
            }
            LoadError::Record(error) => error.fmt(f),
            LoadError::Log { path, cause } => {
                let path = path.display();
                write!(f, "cannot write {path}: {cause}; free space or choose another --out")
            }
            LoadError::Pin { lane, cpu, cause } => {
                write!(f, "lanes[{lane}].cpu is {cpu}: {cause}; choose a core that this process may use")
            }
            LoadError::System { lane, call, cause } => {
                write!(f, "lane {lane}: {call}: {cause}; lower connections or raise the limit (ulimit -a)")
            }
            LoadError::Panic { lane } => {
                write!(f, "lane {lane} ended by a fault of ours; please report it with the configuration")
            }
        }
    }
}

impl std::error::Error for LoadError {}

impl From<ConfigError> for LoadError {
    fn from(error: ConfigError) -> LoadError {
        LoadError::Config(error)
    }
}

impl From<WriteError> for LoadError {
    fn from(error: WriteError) -> LoadError {
        LoadError::Record(error)
    }
}
