//! The chunked transfer coding (RFC 9112, section 7.1), incrementally.

use super::body::Body;

/// Where in the coding the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChunkPart {
    Size { digits: u8 },
    Extension,
    SizeEnd,
    Data,
    DataReturn,
    DataEnd,
    TrailerStart,
    Trailer,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunked {
    place: ChunkPart,
    /// Bytes of the present chunk still to come.
    left: u64,
    /// Bytes of extensions and trailers: bounded, nobody sends megabytes of them in good faith.
    extra: u32,
}

const EXTRA_MAX_BYTES: u32 = 64 * 1024;

impl Chunked {
    pub fn new() -> Chunked {
        Chunked { place: ChunkPart::Size { digits: 0 }, left: 0, extra: 0 }
    }

    /// (bytes taken, complete); gives data bytes to `body`. `None` where the coding is broken.
    pub fn feed(&mut self, bytes: &[u8], body: &mut Body) -> Option<(usize, bool)> {
        let mut used = 0;
        while used < bytes.len() {
            if self.place == ChunkPart::Data {
                let taken = ((bytes.len() - used) as u64).min(self.left);
                self.left -= taken;
                body.take(&bytes[used..used + taken as usize]);
                used += taken as usize;
                if self.left == 0 {
                    self.place = ChunkPart::DataReturn;
                }
                continue;
            }
            let complete = self.place == ChunkPart::End && bytes[used] == b'\n';
            if !complete {
                self.place = self.step(bytes[used])?;
            }
            used += 1;
            if complete {
                return Some((used, true));
            }
        }
        Some((used, false))
    }

    fn step(&mut self, byte: u8) -> Option<ChunkPart> {
        match (self.place, byte) {
            (ChunkPart::Size { digits: 1.. }, b'\r') => Some(ChunkPart::SizeEnd),
            (ChunkPart::Size { digits: 1.. }, b';' | b' ' | b'\t') => Some(ChunkPart::Extension),
            (ChunkPart::Size { digits }, _) if digits < 15 => {
                self.left = self.left * 16 + u64::from((byte as char).to_digit(16)?);
                Some(ChunkPart::Size { digits: digits + 1 })
            }
            (ChunkPart::Extension, b'\r') => Some(ChunkPart::SizeEnd),
            (ChunkPart::SizeEnd, b'\n') if self.left == 0 => Some(ChunkPart::TrailerStart),
            (ChunkPart::SizeEnd, b'\n') => Some(ChunkPart::Data),
            (ChunkPart::DataReturn, b'\r') => Some(ChunkPart::DataEnd),
            (ChunkPart::DataEnd, b'\n') => Some(ChunkPart::Size { digits: 0 }),
            (ChunkPart::TrailerStart, b'\r') => Some(ChunkPart::End),
            (ChunkPart::Trailer, b'\n') => Some(ChunkPart::TrailerStart),
            (ChunkPart::Extension | ChunkPart::TrailerStart | ChunkPart::Trailer, _) => {
                self.extra += 1;
                let place = if self.place == ChunkPart::Extension {
                    ChunkPart::Extension
                } else {
                    ChunkPart::Trailer
                };
                (self.extra <= EXTRA_MAX_BYTES).then_some(place)
            }
            _ => None,
        }
    }
}
