//! The server's side of the negotiation, with one export, whatever name a client gives it.

use crate::negotiation::{
    information, magic, options, replies, short, Reader, FIXED_NEWSTYLE, GREETING_MAGIC, NO_ZEROES,
    OPTION_MAGIC, OPTION_REPLY_MAGIC, ZEROES,
};
use crate::{Export, ProtocolError, NAME_BYTES_MAX, OPTIONS_MAX};

const CLIENT_FLAGS_BYTES: usize = 4;
const OPTION_HEAD_BYTES: usize = 16;

/// How a negotiation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandshakeEnd {
    /// Requests follow.
    Transmission,
    /// The client does not want the export.
    Abort,
}

/// A negotiation from the first byte on; bytes of the client go in, those for the client come out.
#[derive(Debug)]
pub struct ServerHandshake {
    export: Export,
    flags: Option<u32>,
    options: u32,
}

impl ServerHandshake {
    /// Adds the greeting to `out`.
    pub fn new(export: Export, out: &mut Vec<u8>) -> Self {
        out.extend(GREETING_MAGIC.to_be_bytes());
        out.extend(OPTION_MAGIC.to_be_bytes());
        out.extend(((FIXED_NEWSTYLE | NO_ZEROES) as u16).to_be_bytes());
        Self { export, flags: None, options: 0 }
    }

    /// Takes one message from the front of `input`; adds what is to be sent to `out`. Returns how many bytes were taken (0: it
    /// needs more), and how the negotiation ended, once it has.
    ///
    /// # Errors
    /// What a client may not send.
    pub fn advance(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(usize, Option<HandshakeEnd>), ProtocolError> {
        let Some(flags) = self.flags else {
            if input.len() < CLIENT_FLAGS_BYTES {
                return Ok((0, None));
            }
            let flags = Reader::new(input, "the client's flags").u32()?;
            if flags & FIXED_NEWSTYLE == 0 || flags & !(FIXED_NEWSTYLE | NO_ZEROES) != 0 {
                return Err(ProtocolError::NotFixedNewstyle { flags });
            }
            self.flags = Some(flags);
            return Ok((CLIENT_FLAGS_BYTES, None));
        };
        if input.len() < OPTION_HEAD_BYTES {
            return Ok((0, None));
        }
        let mut reader = Reader::new(input, "an option");
        magic("an option", reader.u64()?, OPTION_MAGIC)?;
        let number = reader.u32()?;
        let length = short("an option", reader.u32()?)?;
        if reader.rest().len() < length {
            return Ok((0, None));
        }
        self.options += 1;
        if self.options > OPTIONS_MAX {
            return Err(ProtocolError::TooMany { what: "options", most: OPTIONS_MAX });
        }
        let end = self.answer(number, reader.take(length)?, flags, out);
        Ok((OPTION_HEAD_BYTES + length, end))
    }

    fn answer(&self, number: u32, data: &[u8], flags: u32, out: &mut Vec<u8>) -> Option<HandshakeEnd> {
        match number {
            options::EXPORT_NAME => {
                out.extend(self.export.size_bytes.to_be_bytes());
                out.extend(self.export.flags.to_be_bytes());
                if flags & NO_ZEROES == 0 {
                    out.extend([0; ZEROES]);
                }
                Some(HandshakeEnd::Transmission)
            }
            options::ABORT => {
                reply(number, replies::ACK, &[], out);
                Some(HandshakeEnd::Abort)
            }
            options::INFO | options::GO => match requested(data) {
                Err(refusal) => {
                    reply(number, refusal, &[], out);
                    None
                }
                Ok(()) => {
                    self.inform(number, out);
                    (number == options::GO).then_some(HandshakeEnd::Transmission)
                }
            },
            _ => {
                reply(number, replies::UNSUPPORTED, &[], out);
                None
            }
        }
    }

    fn inform(&self, number: u32, out: &mut Vec<u8>) {
        let mut data = information::EXPORT.to_be_bytes().to_vec();
        data.extend(self.export.size_bytes.to_be_bytes());
        data.extend(self.export.flags.to_be_bytes());
        reply(number, replies::INFO, &data, out);
        if let Some((least, preferred, most)) = self.export.blocks_bytes {
            let mut data = information::BLOCK_SIZE.to_be_bytes().to_vec();
            [least, preferred, most].iter().for_each(|bytes| data.extend(bytes.to_be_bytes()));
            reply(number, replies::INFO, &data, out);
        }
        reply(number, replies::ACK, &[], out);
    }
}

/// Whether the data of `INFO` or `GO` is sound: a name, and kinds of information. The error to answer where it is not.
fn requested(data: &[u8]) -> Result<(), u32> {
    let mut reader = Reader::new(data, "an option");
    let length = reader.u32().map_err(|_| replies::INVALID)? as usize;
    if length > NAME_BYTES_MAX {
        return Err(replies::TOO_BIG);
    }
    let name = reader.take(length).map_err(|_| replies::INVALID)?;
    let kinds = reader.u16().map_err(|_| replies::INVALID)? as usize;
    if std::str::from_utf8(name).is_err() {
        return Err(replies::UNKNOWN);
    }
    if reader.rest().len() == 2 * kinds {
        Ok(())
    } else {
        Err(replies::INVALID)
    }
}

fn reply(option: u32, kind: u32, data: &[u8], out: &mut Vec<u8>) {
    out.extend(OPTION_REPLY_MAGIC.to_be_bytes());
    out.extend(option.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(data);
}
