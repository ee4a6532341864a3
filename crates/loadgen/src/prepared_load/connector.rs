//! Opens connections before the start, with TLS where the URL says so: the first one shows what is wrong.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use crate::config::Config;
use crate::error::LoadError;
use crate::sys::{Peer, Socket};
use crate::tls::{TlsContext, TlsServer, Transport};
use crate::url::Url;

/// Where connections go, and how.
#[derive(Debug, Clone)]
pub struct Address {
    pub peer: Peer,
    pub tls: Option<TlsServer>,
}

impl Address {
    /// `None` for a Unix socket.
    pub fn ip(&self) -> Option<SocketAddr> {
        match &self.peer {
            Peer::Ip(addr) => Some(*addr),
            Peer::Unix(_) => None,
        }
    }
}

/// What all connections of a load have in common.
#[derive(Debug)]
pub struct Connector {
    timeout: Duration,
    unix: Option<PathBuf>,
    context: Option<TlsContext>,
}

impl Connector {
    /// Reads the certificates of authorities, where there is an https:// target.
    pub fn new(config: &Config) -> Result<Connector, LoadError> {
        let mut targets = config.lanes.iter().flat_map(|lane| &lane.targets);
        let wanted = targets.any(|target| target.url.starts_with("https://"));
        let tls = config.tls.clone().unwrap_or_default();
        let context = wanted.then(|| TlsContext::new(&tls)).transpose()?;
        let timeout = Duration::from_secs_f64(config.timeout_s);
        Ok(Connector { timeout, unix: config.unix_socket.clone(), context })
    }

    /// The first address of the host that accepts, and `count` connections to it.
    pub fn open(&self, text: &str, url: &Url, count: u32) -> Result<(Address, Vec<Transport>), LoadError> {
        let context = self.context.as_ref().filter(|_| url.tls);
        let tls = context.map(|context| context.server(&url.host, text)).transpose()?;
        let (peer, first) = self.first(text, url)?;
        let address = Address { peer, tls };
        let mut links = vec![self.link(text, url, &address, first)?];
        for _ in 1..count {
            let socket = Socket::open(&address.peer, self.timeout).map_err(|cause| {
                let (url, peer) = (text.to_string(), address.peer.clone());
                LoadError::Connect { url, peer, cause }
            })?;
            links.push(self.link(text, url, &address, socket)?);
        }
        Ok((address, links))
    }

    fn first(&self, text: &str, url: &Url) -> Result<(Peer, Socket), LoadError> {
        let mut refusal = None;
        for peer in self.peers(text, url)? {
            match Socket::open(&peer, self.timeout) {
                Ok(socket) => return Ok((peer, socket)),
                Err(cause) => refusal = Some(LoadError::Connect { url: text.to_string(), peer, cause }),
            }
        }
        Err(refusal.unwrap_or_else(|| unresolved(text, url, "the name has no address".to_string())))
    }

    fn peers(&self, text: &str, url: &Url) -> Result<Vec<Peer>, LoadError> {
        if let Some(path) = &self.unix {
            return Ok(vec![Peer::Unix(path.clone())]);
        }
        let found = (url.host.as_str(), url.port).to_socket_addrs();
        found.map(|all| all.map(Peer::Ip).collect()).map_err(|e| unresolved(text, url, e.to_string()))
    }

    fn link(
        &self,
        text: &str,
        url: &Url,
        address: &Address,
        mut socket: Socket,
    ) -> Result<Transport, LoadError> {
        let ready = |server: &TlsServer| server.open(&mut socket, self.timeout).map(Box::new);
        let tls = address.tls.as_ref().map(ready).transpose();
        let failed = |cause: io::Error| {
            let (url, host) = (text.to_string(), url.host.clone());
            LoadError::Tls { url, host, cause }
        };
        let tls = tls.map_err(failed)?;
        socket.prepare().map_err(|cause| {
            let (url, peer) = (text.to_string(), address.peer.clone());
            LoadError::Connect { url, peer, cause }
        })?;
        Ok(Transport { socket, tls })
    }
}

fn unresolved(text: &str, url: &Url, cause: String) -> LoadError {
    let (url, host) = (text.to_string(), url.host.clone());
    LoadError::Resolve { url, host, cause }
}
