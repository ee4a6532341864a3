//! Opens connections before the start, with TLS where the URL says so: the first one shows what is wrong.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use crate::config::Config;
use crate::error::LoadError;
use crate::sys::{Peer, Socket};
use crate::tls::{TlsContext, TlsServer, Transport};
use crate::url::Url;

/// Connections from one address of loopback: fewer than it has ports (net.ipv4.ip_local_port_range), since those of closed
/// connections stay taken for a minute.
const PORTS_PER_SOURCE: u64 = 20_000;
const MOST_SOURCES: u64 = 100;

/// Where connections go, and how.
#[derive(Debug, Clone)]
pub struct Address {
    pub peer: Peer,
    pub tls: Option<TlsServer>,
    /// From how many addresses of loopback connections come: one has 28 000 ports to a peer.
    sources: u32,
}

impl Address {
    /// Where connection `number` comes from; `None`: where the system has it come from.
    pub fn source(&self, number: u32) -> Option<Ipv4Addr> {
        let [a, b, c, d] = (u32::from(Ipv4Addr::LOCALHOST) + number % self.sources).to_be_bytes();
        (self.sources > 1).then(|| Ipv4Addr::new(a, b, c, d))
    }

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
    sources: u32,
}

impl Connector {
    /// Reads the certificates of authorities, where there is an https:// target.
    pub fn new(config: &Config) -> Result<Connector, LoadError> {
        let mut targets = config.lanes.iter().flat_map(|lane| &lane.targets);
        let wanted = targets.any(|target| target.url.starts_with("https://"));
        let tls = config.tls.clone().unwrap_or_default();
        let context = wanted.then(|| TlsContext::new(&tls)).transpose()?;
        let timeout = Duration::from_secs_f64(config.timeout_s);
        let sources = config.connections_max().div_ceil(PORTS_PER_SOURCE).clamp(1, MOST_SOURCES) as u32;
        Ok(Connector { timeout, unix: config.unix_socket.clone(), context, sources })
    }

    /// The first address of the host that accepts, and `count` connections to it.
    pub fn open(&self, text: &str, url: &Url, count: u32) -> Result<(Address, Vec<Transport>), LoadError> {
        let context = self.context.as_ref().filter(|_| url.tls);
        let tls = context.map(|context| context.server(&url.host, text)).transpose()?;
        let (peer, first) = self.first(text, url)?;
        let is_loopback = matches!(&peer, Peer::Ip(SocketAddr::V4(v4)) if v4.ip().is_loopback());
        let address = Address { peer, tls, sources: if is_loopback { self.sources } else { 1 } };
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
