//! The client's side of the negotiation: `GO`, and `EXPORT_NAME` where a server does not know that.

use crate::negotiation::{
    information, magic, options, replies, short, Reader, FIXED_NEWSTYLE, GREETING_MAGIC, NO_ZEROES,
    OPTION_MAGIC, OPTION_REPLY_MAGIC, ZEROES,
};
use crate::{Export, ProtocolError, OPTIONS_MAX};

const GREETING_BYTES: usize = 18;
const REPLY_HEAD_BYTES: usize = 20;
const OLD_ANSWER_BYTES: usize = 10;
/// Of what a server says in its own words.
const SAID_CHARS: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Greeting,
    /// Of `GO`.
    Reply,
    /// Of `EXPORT_NAME`, with zeroes or without.
    OldAnswer {
        zeroes: usize,
    },
}

/// A negotiation from the first byte on; bytes of the server go in, those for the server come out.
#[derive(Debug)]
pub struct ClientHandshake {
    name: Vec<u8>,
    expected: Expected,
    no_zeroes: bool,
    size: Option<(u64, u16)>,
    blocks_bytes: Option<(u32, u32, u32)>,
    replies: u32,
}

impl ClientHandshake {
    /// For the export of this name; the empty name is the server's default.
    ///
    /// # Errors
    /// `ProtocolError::TooLong` for a name of more than `NAME_BYTES_MAX`.
    pub fn new(name: &str) -> Result<Self, ProtocolError> {
        let (name, most) = (name.as_bytes().to_vec(), crate::NAME_BYTES_MAX);
        if name.len() > most {
            let bytes = name.len() as u64;
            return Err(ProtocolError::TooLong { what: "the export's name", bytes, most: most as u64 });
        }
        let expected = Expected::Greeting;
        Ok(Self { name, expected, no_zeroes: false, size: None, blocks_bytes: None, replies: 0 })
    }

    /// Takes one message from the front of `input`; adds what is to be sent to `out`. Returns how many bytes were taken (0: it
    /// needs more), and the export once that is agreed on.
    ///
    /// # Errors
    /// What the server may not send, and its refusal.
    pub fn advance(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(usize, Option<Export>), ProtocolError> {
        match self.expected {
            Expected::Greeting if input.len() >= GREETING_BYTES => self.greeting(input, out),
            Expected::Reply if input.len() >= REPLY_HEAD_BYTES => self.reply(input, out),
            Expected::OldAnswer { zeroes } if input.len() >= OLD_ANSWER_BYTES + zeroes => {
                let mut reader = Reader::new(input, "the answer to EXPORT_NAME");
                let (size_bytes, flags) = (reader.u64()?, reader.u16()?);
                let export = Export { size_bytes, flags, blocks_bytes: None };
                Ok((OLD_ANSWER_BYTES + zeroes, Some(export)))
            }
            _ => Ok((0, None)),
        }
    }

    fn greeting(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(usize, Option<Export>), ProtocolError> {
        let mut reader = Reader::new(input, "the greeting");
        magic("the greeting", reader.u64()?, GREETING_MAGIC)?;
        magic("the greeting's second half", reader.u64()?, OPTION_MAGIC)?;
        let flags = u32::from(reader.u16()?);
        if flags & FIXED_NEWSTYLE == 0 {
            return Err(ProtocolError::NotFixedNewstyle { flags });
        }
        self.no_zeroes = flags & NO_ZEROES != 0;
        out.extend((flags & (FIXED_NEWSTYLE | NO_ZEROES)).to_be_bytes());
        let mut data = (self.name.len() as u32).to_be_bytes().to_vec();
        data.extend(&self.name);
        data.extend(1u16.to_be_bytes());
        data.extend(information::BLOCK_SIZE.to_be_bytes());
        option(options::GO, &data, out);
        self.expected = Expected::Reply;
        Ok((GREETING_BYTES, None))
    }

    fn reply(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(usize, Option<Export>), ProtocolError> {
        let mut reader = Reader::new(input, "the answer to GO");
        magic("the answer to GO", reader.u64()?, OPTION_REPLY_MAGIC)?;
        let (option_number, kind) = (reader.u32()?, reader.u32()?);
        let length = short("the answer to GO", reader.u32()?)?;
        if option_number != options::GO {
            return Err(ProtocolError::Unasked { option: option_number });
        }
        if reader.rest().len() < length {
            return Ok((0, None));
        }
        self.replies += 1;
        if self.replies > OPTIONS_MAX {
            return Err(ProtocolError::TooMany { what: "answers to GO", most: OPTIONS_MAX });
        }
        let (data, taken) = (reader.take(length)?, REPLY_HEAD_BYTES + length);
        match kind {
            replies::INFO => self.information(data).map(|()| (taken, None)),
            replies::ACK => {
                let (size_bytes, flags) = self.size.ok_or(ProtocolError::NoSize)?;
                Ok((taken, Some(Export { size_bytes, flags, blocks_bytes: self.blocks_bytes })))
            }
            replies::UNSUPPORTED => {
                option(options::EXPORT_NAME, &self.name, out);
                let zeroes = if self.no_zeroes { 0 } else { ZEROES };
                self.expected = Expected::OldAnswer { zeroes };
                Ok((taken, None))
            }
            error if error & replies::ERROR != 0 => {
                let said = String::from_utf8_lossy(data);
                let said = said.chars().filter(|c| !c.is_control()).take(SAID_CHARS).collect();
                Err(ProtocolError::Refused { reply: error, said })
            }
            // Kinds of a later protocol may be ignored.
            _ => Ok((taken, None)),
        }
    }

    fn information(&mut self, data: &[u8]) -> Result<(), ProtocolError> {
        let mut reader = Reader::new(data, "information on the export");
        match reader.u16()? {
            information::EXPORT => self.size = Some((reader.u64()?, reader.u16()?)),
            information::BLOCK_SIZE => {
                self.blocks_bytes = Some((reader.u32()?, reader.u32()?, reader.u32()?));
            }
            _ => {}
        }
        Ok(())
    }
}

fn option(number: u32, data: &[u8], out: &mut Vec<u8>) {
    out.extend(OPTION_MAGIC.to_be_bytes());
    out.extend(number.to_be_bytes());
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(data);
}
