//! The chunked transfer coding (RFC 9112, section 7.1), incrementally.

use super::Body;

/// Where in the coding the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
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
    place: Place,
    /// Bytes of the present chunk still to come.
    left: u64,
    /// Bytes of extensions and trailers: bounded, nobody sends megabytes of them in good faith.
    extra: u32,
}

const EXTRA_MAX_BYTES: u32 = 64 * 1024;

impl Chunked {
    pub fn new() -> Chunked {
        Chunked { place: Place::Size { digits: 0 }, left: 0, extra: 0 }
    }

    /// (bytes taken, complete); gives data bytes to `body`. `None` where the coding is broken.
    pub fn feed(&mut self, bytes: &[u8], body: &mut Body) -> Option<(usize, bool)> {
        let mut used = 0;
        while used < bytes.len() {
            if self.place == Place::Data {
                let taken = ((bytes.len() - used) as u64).min(self.left);
                self.left -= taken;
                body.take(&bytes[used..used + taken as usize]);
                used += taken as usize;
                if self.left == 0 {
                    self.place = Place::DataReturn;
                }
                continue;
            }
            let complete = self.place == Place::End && bytes[used] == b'\n';
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

    fn step(&mut self, byte: u8) -> Option<Place> {
        match (self.place, byte) {
            (Place::Size { digits: 1.. }, b'\r') => Some(Place::SizeEnd),
            (Place::Size { digits: 1.. }, b';' | b' ' | b'\t') => Some(Place::Extension),
            (Place::Size { digits }, _) if digits < 15 => {
                self.left = self.left * 16 + u64::from((byte as char).to_digit(16)?);
                Some(Place::Size { digits: digits + 1 })
            }
            (Place::Extension, b'\r') => Some(Place::SizeEnd),
            (Place::SizeEnd, b'\n') if self.left == 0 => Some(Place::TrailerStart),
            (Place::SizeEnd, b'\n') => Some(Place::Data),
            (Place::DataReturn, b'\r') => Some(Place::DataEnd),
            (Place::DataEnd, b'\n') => Some(Place::Size { digits: 0 }),
            (Place::TrailerStart, b'\r') => Some(Place::End),
            (Place::Trailer, b'\n') => Some(Place::TrailerStart),
            (Place::Extension | Place::TrailerStart | Place::Trailer, _) => {
                self.extra += 1;
                let place = if self.place == Place::Extension { Place::Extension } else { Place::Trailer };
                (self.extra <= EXTRA_MAX_BYTES).then_some(place)
            }
            _ => None,
        }
    }
}
