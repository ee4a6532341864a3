//! Content codings (RFC 9110, section 8.4.1): a body in one is decoded and thrown away, to see that it is whole.

use std::io::{self, ErrorKind, Write};

use flate2::write::{MultiGzDecoder, ZlibDecoder};

/// A longer body is a failure.
pub const BODY_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A body in a coding, as far as it came.
#[derive(Debug)]
pub struct ContentDecoder {
    kind: Decoder,
    begun: bool,
    good: bool,
}

#[derive(Debug)]
enum Decoder {
    Gzip(Box<MultiGzDecoder<Counted>>),
    Deflate(Box<ZlibDecoder<Counted>>),
    /// None that we can decode, so that nobody knows what the body is.
    Unknown,
}

impl ContentDecoder {
    /// Of the value of `Content-Encoding`; `None` for `identity`, which is none.
    pub fn of(value: &[u8]) -> Option<ContentDecoder> {
        let kind = match value.to_ascii_lowercase().as_slice() {
            b"" | b"identity" => return None,
            b"gzip" | b"x-gzip" => Decoder::Gzip(Box::new(MultiGzDecoder::new(Counted::default()))),
            b"deflate" => Decoder::Deflate(Box::new(ZlibDecoder::new(Counted::default()))),
            _ => Decoder::Unknown,
        };
        Some(ContentDecoder { kind, begun: false, good: true })
    }

    pub fn take(&mut self, bytes: &[u8]) {
        if bytes.is_empty() || !self.good {
            return;
        }
        self.begun = true;
        self.good = match &mut self.kind {
            Decoder::Gzip(decoder) => decoder.write_all(bytes).is_ok(),
            Decoder::Deflate(decoder) => decoder.write_all(bytes).is_ok(),
            Decoder::Unknown => false,
        };
    }

    pub fn is_good(&self) -> bool {
        self.good
    }

    /// All has come: checks length and sum. A body of no bytes is none in any coding.
    pub fn end(&mut self) -> bool {
        if self.begun && self.good {
            self.good = match &mut self.kind {
                Decoder::Gzip(decoder) => decoder.try_finish().is_ok(),
                Decoder::Deflate(decoder) => decoder.try_finish().is_ok(),
                Decoder::Unknown => false,
            };
        }
        self.good
    }
}

/// Counts what is decoded: a small body may become a large one.
#[derive(Debug, Default)]
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        if self.0 > BODY_MAX_BYTES {
            return Err(ErrorKind::FileTooLarge.into());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
