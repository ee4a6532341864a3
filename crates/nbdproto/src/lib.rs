//! The network block device (NBD) protocol without sockets: fixed newstyle negotiation, requests and simple replies.
//!
//! Source: the protocol's own text, `doc/proto.md` of NetworkBlockDevice/nbd; all numbers are big-endian.
//!
//! - `client_handshake` [`ClientHandshake`]: from the server's greeting to an export
//! - `server_handshake` [`ServerHandshake`]: the other side of it
//! - `negotiation` what both say: magic numbers, options, [`Export`]
//! - `transmission` [`Request`], [`Reply`]: 28 and 16 bytes, then data
//! - `error` [`ProtocolError`]: what no peer may send; the limits on what one may
//!
//! Not spoken: TLS, structured and extended replies, listing of exports; a client does not need to ask for them.
#![forbid(unsafe_code)]

mod client_handshake;
mod error;
mod negotiation;
mod server_handshake;
mod transmission;

pub use client_handshake::ClientHandshake;
pub use error::{ProtocolError, NAME_BYTES_MAX, OPTIONS_MAX, OPTION_BYTES_MAX};
pub use negotiation::{transmission_flags, Export};
pub use server_handshake::{HandshakeEnd, ServerHandshake};
pub use transmission::{error_name, errors, Command, Reply, Request, FUA, REPLY_BYTES, REQUEST_BYTES};
