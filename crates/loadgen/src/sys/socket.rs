//! Sockets of the two kinds that a service listens on.

use std::fmt;
use std::io::{self, Read, Write};
use std::mem::{size_of, zeroed};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::check;

/// Where a service listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Peer {
    Ip(SocketAddr),
    Unix(PathBuf),
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Peer::Ip(addr) => addr.fmt(f),
            Peer::Unix(path) => path.display().fmt(f),
        }
    }
}

#[derive(Debug)]
pub enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    /// Connects, in at most `timeout`.
    pub fn open(peer: &Peer, timeout: Duration) -> io::Result<Socket> {
        match peer {
            Peer::Ip(addr) => TcpStream::connect_timeout(addr, timeout).map(Socket::Tcp),
            Peer::Unix(path) => UnixStream::connect(path).map(Socket::Unix),
        }
    }

    /// Begins a connect, from `source` where that is given; the socket becomes writable when it has ended, well or badly.
    pub fn begin(peer: &Peer, source: Option<Ipv4Addr>) -> io::Result<Socket> {
        let begun = match peer {
            Peer::Ip(addr) => begin_tcp(*addr, source),
            Peer::Unix(path) => begin_unix(path),
        };
        match begun {
            Ok((socket, connected)) => match connected {
                Err(e) if e.raw_os_error() != Some(libc::EINPROGRESS) => Err(e),
                _ => Ok(socket),
            },
            Err(e) => Err(e),
        }
    }

    /// Non-blocking, no Nagle, kernel receive stamps (which Unix sockets do not have).
    pub fn prepare(&self) -> io::Result<()> {
        match self {
            Socket::Unix(stream) => return stream.set_nonblocking(true),
            Socket::Tcp(stream) => {
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
            }
        }
        let on: libc::c_int = 1;
        let (fd, length) = (self.as_raw_fd(), size_of::<libc::c_int>() as libc::socklen_t);
        // SAFETY: `on` outlives the call. A kernel without stamps gives none: NaN in the record.
        unsafe {
            libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, (&raw const on).cast(), length)
        };
        Ok(())
    }

    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        match self {
            Socket::Tcp(stream) => stream.take_error(),
            Socket::Unix(stream) => stream.take_error(),
        }
    }

    /// For reads and writes, while it blocks.
    pub fn set_timeout(&self, timeout: Duration) -> io::Result<()> {
        match self {
            Socket::Tcp(s) => s.set_read_timeout(Some(timeout)).and(s.set_write_timeout(Some(timeout))),
            Socket::Unix(s) => s.set_read_timeout(Some(timeout)).and(s.set_write_timeout(Some(timeout))),
        }
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        match self {
            Socket::Tcp(stream) => stream.as_raw_fd(),
            Socket::Unix(stream) => stream.as_raw_fd(),
        }
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.read(buffer),
            Socket::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.write(bytes),
            Socket::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const KIND: libc::c_int = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;

fn begin_tcp(addr: SocketAddr, source: Option<Ipv4Addr>) -> io::Result<(Socket, io::Result<libc::c_int>)> {
    let family = if addr.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    // SAFETY: the descriptor is new and owned by nobody else.
    let stream = unsafe { TcpStream::from_raw_fd(check(libc::socket(family, KIND, 0))?) };
    let socket = Socket::Tcp(stream);
    socket.prepare()?;
    if let Some(source) = source {
        bind(socket.as_raw_fd(), source)?;
    }
    let connected = connect_tcp(socket.as_raw_fd(), addr);
    Ok((socket, connected))
}

/// The port is chosen at the connect, when it only has to be free towards that peer.
fn bind(fd: RawFd, source: Ipv4Addr) -> io::Result<()> {
    let (on, from): (libc::c_int, _) = (1, in_address(SocketAddrV4::new(source, 0)));
    // SAFETY: both outlive the calls that read them.
    unsafe {
        let (level, name) = (libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT);
        check(libc::setsockopt(fd, level, name, (&raw const on).cast(), size_of::<libc::c_int>() as u32))?;
        check(libc::bind(fd, (&raw const from).cast(), size_of::<libc::sockaddr_in>() as u32)).map(drop)
    }
}

fn in_address(address: SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(address.ip().octets()) },
        sin_zero: [0; 8],
    }
}

fn connect_tcp(fd: RawFd, addr: SocketAddr) -> io::Result<libc::c_int> {
    // SAFETY: each struct is fully set and outlives the call that reads it.
    match addr {
        SocketAddr::V4(v4) => unsafe {
            let to = in_address(v4);
            check(libc::connect(fd, (&raw const to).cast(), size_of::<libc::sockaddr_in>() as u32))
        },
        SocketAddr::V6(v6) => unsafe {
            let mut to: libc::sockaddr_in6 = zeroed();
            to.sin6_family = libc::AF_INET6 as libc::sa_family_t;
            to.sin6_port = v6.port().to_be();
            to.sin6_addr.s6_addr = v6.ip().octets();
            to.sin6_scope_id = v6.scope_id();
            check(libc::connect(fd, (&raw const to).cast(), size_of::<libc::sockaddr_in6>() as u32))
        },
    }
}

/// A connect to a Unix socket ends at once; where the service's queue is full, badly (EAGAIN).
fn begin_unix(path: &Path) -> io::Result<(Socket, io::Result<libc::c_int>)> {
    let bytes = path.as_os_str().as_bytes();
    // SAFETY: the descriptor is new and owned by nobody else; the address is fully set, its path ends with a zero
    // byte because it is shorter than its field, and it outlives the call.
    unsafe {
        let stream = UnixStream::from_raw_fd(check(libc::socket(libc::AF_UNIX, KIND, 0))?);
        let mut to: libc::sockaddr_un = zeroed();
        if bytes.len() >= to.sun_path.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        to.sun_family = libc::AF_UNIX as libc::sa_family_t;
        to.sun_path.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte as libc::c_char);
        let fd = stream.as_raw_fd();
        let connected =
            check(libc::connect(fd, (&raw const to).cast(), size_of::<libc::sockaddr_un>() as u32));
        Ok((Socket::Unix(stream), connected))
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_connection_comes_from_where_it_is_told() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let peer = Peer::Ip(listener.local_addr().unwrap());
        for source in [None, Some(Ipv4Addr::new(127, 0, 0, 2))] {
            let _socket = Socket::begin(&peer, source).unwrap();
            let (_, from) = listener.accept().unwrap();
            assert_eq!(from.ip(), source.unwrap_or(Ipv4Addr::LOCALHOST));
        }
    }
}
