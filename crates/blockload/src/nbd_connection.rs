//! One connection to an NBD server: connected and negotiated, within a time.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use sojourn_nbdproto::{ClientHandshake, Export, OPTION_BYTES_MAX};

use crate::error::BlockLoadError;
use crate::nbd_url::{NbdAddress, NbdUrl};

/// Before the export is agreed on no more than this is read.
const HANDSHAKE_BYTES_MAX: usize = 2 * OPTION_BYTES_MAX as usize;

#[derive(Debug)]
pub enum NbdStream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl AsRawFd for NbdStream {
    fn as_raw_fd(&self) -> RawFd {
        match self {
            NbdStream::Tcp(stream) => stream.as_raw_fd(),
            NbdStream::Unix(stream) => stream.as_raw_fd(),
        }
    }
}

impl Read for NbdStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            NbdStream::Tcp(stream) => stream.read(buffer),
            NbdStream::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for NbdStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            NbdStream::Tcp(stream) => stream.write(bytes),
            NbdStream::Unix(stream) => stream.write(bytes),
        }
    }

    fn write_vectored(&mut self, parts: &[io::IoSlice]) -> io::Result<usize> {
        match self {
            NbdStream::Tcp(stream) => stream.write_vectored(parts),
            NbdStream::Unix(stream) => stream.write_vectored(parts),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl NbdStream {
    fn connect(url: &NbdUrl, limit: Duration) -> io::Result<NbdStream> {
        match &url.address {
            NbdAddress::Unix(path) => UnixStream::connect(path).map(NbdStream::Unix),
            NbdAddress::Tcp { host, port } => {
                let mut last = io::Error::other("no address for this host");
                for address in (host.as_str(), *port).to_socket_addrs()? {
                    match TcpStream::connect_timeout(&address, limit) {
                        Ok(stream) => {
                            stream.set_nodelay(true)?;
                            return Ok(NbdStream::Tcp(stream));
                        }
                        Err(error) => last = error,
                    }
                }
                Err(last)
            }
        }
    }

    fn set_timeout(&self, limit: Duration) -> io::Result<()> {
        let limit = Some(limit.max(Duration::from_millis(1)));
        match self {
            NbdStream::Tcp(s) => s.set_read_timeout(limit).and(s.set_write_timeout(limit)),
            NbdStream::Unix(s) => s.set_read_timeout(limit).and(s.set_write_timeout(limit)),
        }
    }

    fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            NbdStream::Tcp(stream) => stream.set_nonblocking(true),
            NbdStream::Unix(stream) => stream.set_nonblocking(true),
        }
    }
}

/// Connects and agrees on the export, all within `limit`; the socket does not block from then on.
///
/// # Errors
/// Nothing listens, it is silent, it is no NBD server, it has no such export.
pub fn connect(url: &NbdUrl, limit: Duration) -> Result<(NbdStream, Export), BlockLoadError> {
    let until = Instant::now() + limit;
    let system = |cause: io::Error| {
        let (cause, remedy) = match cause.kind() {
            ErrorKind::ConnectionRefused | ErrorKind::NotFound => {
                (cause, "nothing listens there: start the server, or check the address")
            }
            ErrorKind::WouldBlock | ErrorKind::TimedOut => (
                io::Error::new(ErrorKind::TimedOut, "no answer in time"),
                "look whether the server runs, or raise --timeout",
            ),
            ErrorKind::UnexpectedEof => (cause, "it hung up: check that it is an NBD server, and its log"),
            _ => (cause, "check the address and the server"),
        };
        BlockLoadError::Target { target: url.to_string(), cause, remedy }
    };
    let protocol = |cause| BlockLoadError::Nbd { url: url.to_string(), cause };
    let mut stream = NbdStream::connect(url, limit).map_err(system)?;
    let mut handshake = ClientHandshake::new(&url.export).map_err(protocol)?;
    let (mut input, mut out, mut piece) = (Vec::new(), Vec::new(), [0u8; 4096]);
    loop {
        let (taken, export) = handshake.advance(&input, &mut out).map_err(protocol)?;
        input.drain(..taken);
        if let Some(export) = export {
            stream.set_nonblocking().map_err(system)?;
            return Ok((stream, export));
        }
        stream.set_timeout(until.saturating_duration_since(Instant::now())).map_err(system)?;
        stream.write_all(&out).map_err(system)?;
        out.clear();
        if taken == 0 {
            if Instant::now() >= until || input.len() > HANDSHAKE_BYTES_MAX {
                return Err(system(ErrorKind::TimedOut.into()));
            }
            match stream.read(&mut piece).map_err(system)? {
                0 => return Err(system(ErrorKind::UnexpectedEof.into())),
                count => input.extend(&piece[..count]),
            }
        }
    }
}
