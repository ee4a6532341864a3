//! Requests and simple replies.

use crate::negotiation::{magic, Reader};
use crate::ProtocolError;

const REQUEST_MAGIC: u32 = 0x2560_9513;
const REPLY_MAGIC: u32 = 0x6744_6698;
pub const REQUEST_BYTES: usize = 28;
pub const REPLY_BYTES: usize = 16;
/// Of a request's flags: answered only once it is on stable storage.
pub const FUA: u16 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    Read,
    Write,
    Disconnect,
    Flush,
}

impl Command {
    fn number(self) -> u16 {
        self as u16
    }

    fn of(number: u16) -> Result<Command, ProtocolError> {
        let all = [Command::Read, Command::Write, Command::Disconnect, Command::Flush];
        all.get(usize::from(number)).copied().ok_or(ProtocolError::Command { number })
    }
}

/// A request; of a write `length_bytes` of data follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    pub command: Command,
    pub flags: u16,
    /// The reply carries it.
    pub cookie: u64,
    pub offset_bytes: u64,
    pub length_bytes: u32,
}

impl Request {
    #[must_use]
    pub fn encode(&self) -> [u8; REQUEST_BYTES] {
        let mut out = [0; REQUEST_BYTES];
        out[..4].copy_from_slice(&REQUEST_MAGIC.to_be_bytes());
        out[4..6].copy_from_slice(&self.flags.to_be_bytes());
        out[6..8].copy_from_slice(&self.command.number().to_be_bytes());
        out[8..16].copy_from_slice(&self.cookie.to_be_bytes());
        out[16..24].copy_from_slice(&self.offset_bytes.to_be_bytes());
        out[24..].copy_from_slice(&self.length_bytes.to_be_bytes());
        out
    }

    /// # Errors
    /// Not a request, or a command that is not known.
    pub fn decode(bytes: &[u8; REQUEST_BYTES]) -> Result<Request, ProtocolError> {
        let mut reader = Reader::new(bytes, "a request");
        magic("a request", reader.u32()?.into(), REQUEST_MAGIC.into())?;
        let (flags, command) = (reader.u16()?, Command::of(reader.u16()?)?);
        let (cookie, offset_bytes, length_bytes) = (reader.u64()?, reader.u64()?, reader.u32()?);
        Ok(Request { command, flags, cookie, offset_bytes, length_bytes })
    }
}

/// A simple reply; after one without an error to a read its data follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// 0: a success; else one of [`errors`].
    pub error: u32,
    pub cookie: u64,
}

impl Reply {
    #[must_use]
    pub fn encode(&self) -> [u8; REPLY_BYTES] {
        let mut out = [0; REPLY_BYTES];
        out[..4].copy_from_slice(&REPLY_MAGIC.to_be_bytes());
        out[4..8].copy_from_slice(&self.error.to_be_bytes());
        out[8..].copy_from_slice(&self.cookie.to_be_bytes());
        out
    }

    /// # Errors
    /// Not a simple reply.
    pub fn decode(bytes: &[u8; REPLY_BYTES]) -> Result<Reply, ProtocolError> {
        let mut reader = Reader::new(bytes, "a reply");
        magic("a reply", reader.u32()?.into(), REPLY_MAGIC.into())?;
        Ok(Reply { error: reader.u32()?, cookie: reader.u64()? })
    }
}

/// The errors that a server may answer.
pub mod errors {
    pub const NOT_PERMITTED: u32 = 1;
    pub const IO: u32 = 5;
    pub const NO_MEMORY: u32 = 12;
    pub const INVALID: u32 = 22;
    pub const NO_SPACE: u32 = 28;
    pub const OVERFLOW: u32 = 75;
    pub const NOT_SUPPORTED: u32 = 95;
    pub const SHUTDOWN: u32 = 108;
}

/// The name of an error, which Linux has the same numbers for.
#[must_use]
pub fn error_name(error: u32) -> &'static str {
    match error {
        errors::NOT_PERMITTED => "EPERM",
        errors::IO => "EIO",
        errors::NO_MEMORY => "ENOMEM",
        errors::INVALID => "EINVAL",
        errors::NO_SPACE => "ENOSPC",
        errors::OVERFLOW => "EOVERFLOW",
        errors::NOT_SUPPORTED => "ENOTSUP",
        errors::SHUTDOWN => "ESHUTDOWN",
        _ => "an error that the protocol does not know",
    }
}
