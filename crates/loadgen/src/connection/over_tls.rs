//! What a connection does over TLS: the handshake, and answers that come sealed.

use std::io::{self, BufRead, ErrorKind};

use super::Connection;
use crate::request_outcome::Failure;
use crate::sys;
use crate::tls::{broken, flush};

/// Tickets are some hundred bytes. A peer that sends more of what is no answer would hold up the lane.
const BARREN_MAX_BYTES: usize = 256 * 1024;

impl Connection {
    /// Goes on with the handshake; true at its end. `WouldBlock` is no error here.
    pub fn shake(&mut self, buffer: &mut [u8]) -> io::Result<bool> {
        let Some(session) = &mut self.tls else {
            return Ok(true);
        };
        loop {
            match flush(session, &mut self.socket) {
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(false),
                other => other?,
            }
            if !session.is_handshaking() {
                return Ok(true);
            }
            let mut sealed = match sys::receive(&self.socket, buffer) {
                Ok((0, _)) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok((count, _)) => &buffer[..count],
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            while !sealed.is_empty() && session.read_tls(&mut sealed)? > 0 {
                session.process_new_packets().map_err(broken)?;
            }
        }
    }

    /// Something came though nothing was asked; false where the connection is of no more use. Over TLS the service may
    /// hand out tickets; else it closes, or is broken.
    pub fn is_fine_idle(&mut self, buffer: &mut [u8]) -> bool {
        if self.tls.is_none() {
            return false;
        }
        self.response.reset(false);
        loop {
            let count = match sys::receive(&self.socket, buffer) {
                Ok((0, _)) => return false,
                Ok((count, _)) => count,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return true,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(_) => return false,
            };
            let quiet =
                self.open(&buffer[..count]) == Ok(false) && !self.closed && !self.response.has_begun();
            if !quiet {
                return false;
            }
        }
    }

    /// Opens what came and takes it as the answer's next bytes; true: complete.
    pub(super) fn open(&mut self, mut sealed: &[u8]) -> Result<bool, Failure> {
        let Some(session) = &mut self.tls else {
            return Err(Failure::Protocol);
        };
        let mut complete = false;
        self.barren += sealed.len();
        if self.barren > BARREN_MAX_BYTES {
            return Err(Failure::Tls);
        }
        while !sealed.is_empty() && !self.closed {
            match session.read_tls(&mut sealed) {
                Ok(1..) => {}
                _ => return Err(Failure::Tls),
            }
            let state = session.process_new_packets().map_err(|_| Failure::Tls)?;
            self.closed = state.peer_has_closed();
            let mut reader = session.reader();
            loop {
                let piece = match reader.fill_buf() {
                    Ok([]) => break,
                    Ok(piece) => piece,
                    Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                    Err(e) => return Err(Failure::of_broken(&e)),
                };
                let length = piece.len();
                self.barren = 0;
                if complete {
                    return Err(Failure::Protocol);
                }
                match self.response.feed(piece) {
                    Ok(Some(used)) if used < length => return Err(Failure::Protocol),
                    Ok(Some(_)) => complete = true,
                    Ok(None) => {}
                    Err(error) => return Err(error.into()),
                }
                reader.consume(length);
            }
        }
        Ok(complete)
    }
}
