//! What both sides of the negotiation say.

use crate::ProtocolError;

/// "NBDMAGIC"
pub const GREETING_MAGIC: u64 = 0x4e42_444d_4147_4943;
/// "IHAVEOPT"
pub const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
pub const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;

/// Both of the server's 16 and of the client's 32 bits.
pub const FIXED_NEWSTYLE: u32 = 1;
pub const NO_ZEROES: u32 = 2;
/// After the answer to `EXPORT_NAME`, where the client did not say `NO_ZEROES`.
pub const ZEROES: usize = 124;

pub mod options {
    pub const EXPORT_NAME: u32 = 1;
    pub const ABORT: u32 = 2;
    pub const INFO: u32 = 6;
    pub const GO: u32 = 7;
}

pub mod replies {
    pub const ACK: u32 = 1;
    pub const INFO: u32 = 3;
    /// This bit: an error.
    pub const ERROR: u32 = 1 << 31;
    pub const UNSUPPORTED: u32 = ERROR + 1;
    pub const INVALID: u32 = ERROR + 3;
    pub const UNKNOWN: u32 = ERROR + 6;
    pub const TOO_BIG: u32 = ERROR + 9;
}

pub mod information {
    pub const EXPORT: u16 = 0;
    pub const BLOCK_SIZE: u16 = 3;
}

/// What an export can do.
pub mod transmission_flags {
    /// The others are valid; always set.
    pub const HAS_FLAGS: u16 = 1;
    pub const READ_ONLY: u16 = 2;
    pub const SEND_FLUSH: u16 = 4;
    pub const SEND_FUA: u16 = 8;
}

/// What a client asks for and a server has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    pub size_bytes: u64,
    /// [`transmission_flags`].
    pub flags: u16,
    /// The least block, the preferred one, and the longest request, where the server says.
    pub blocks_bytes: Option<(u32, u32, u32)>,
}

impl Export {
    #[must_use]
    pub fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
}

/// Numbers from the front of bytes.
pub struct Reader<'a> {
    bytes: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { bytes, what }
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8], ProtocolError> {
        if count > self.bytes.len() {
            return Err(ProtocolError::Truncated { what: self.what });
        }
        let (front, rest) = self.bytes.split_at(count);
        self.bytes = rest;
        Ok(front)
    }

    pub fn u16(&mut self) -> Result<u16, ProtocolError> {
        self.take(2).map(|b| u16::from_be_bytes([b[0], b[1]]))
    }

    pub fn u32(&mut self) -> Result<u32, ProtocolError> {
        self.take(4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    }

    pub fn u64(&mut self) -> Result<u64, ProtocolError> {
        Ok(u64::from(self.u32()?) << 32 | u64::from(self.u32()?))
    }

    pub fn rest(&self) -> &'a [u8] {
        self.bytes
    }
}

/// # Errors
/// `ProtocolError::Magic` where another number was found.
pub fn magic(what: &'static str, found: u64, wanted: u64) -> Result<(), ProtocolError> {
    if found == wanted {
        return Ok(());
    }
    Err(ProtocolError::Magic { what, found })
}

/// # Errors
/// `ProtocolError::TooLong` for more than `OPTION_BYTES_MAX`.
pub fn short(what: &'static str, bytes: u32) -> Result<usize, ProtocolError> {
    let most = crate::OPTION_BYTES_MAX;
    if bytes > most {
        return Err(ProtocolError::TooLong { what, bytes: bytes.into(), most: most.into() });
    }
    Ok(bytes as usize)
}
