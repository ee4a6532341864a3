//! What an export is made of.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

const CHUNK_BYTES: usize = 1 << 20;
/// Of direct I/O.
const ALIGN_BYTES: usize = 4096;

/// The bytes of an export.
#[derive(Debug)]
pub enum Backing {
    /// In chunks, so that connections do not wait for each other.
    Memory {
        chunks: Vec<Mutex<Vec<u8>>>,
        size_bytes: u64,
    },
    File {
        file: File,
        size_bytes: u64,
        direct: bool,
    },
}

impl Backing {
    pub fn memory(size_bytes: u64) -> Backing {
        let chunks = size_bytes.div_ceil(CHUNK_BYTES as u64);
        Backing::Memory {
            chunks: (0..chunks).map(|_| Mutex::new(vec![0; CHUNK_BYTES])).collect(),
            size_bytes,
        }
    }

    pub fn file(path: &Path, direct: bool) -> io::Result<Backing> {
        let flags = if direct { libc::O_DIRECT } else { 0 };
        let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)?;
        let kind = file.metadata()?;
        if !kind.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
        }
        let unit = if direct { ALIGN_BYTES as u64 } else { 1 };
        Ok(Backing::File { file, size_bytes: kind.len() / unit * unit, direct })
    }

    pub fn size_bytes(&self) -> u64 {
        match self {
            Backing::Memory { size_bytes, .. } | Backing::File { size_bytes, .. } => *size_bytes,
        }
    }

    /// What offsets and lengths are multiples of.
    pub fn least_bytes(&self) -> u32 {
        match self {
            Backing::File { direct: true, .. } => ALIGN_BYTES as u32,
            _ => 1,
        }
    }

    /// Reads within the export.
    pub fn read(&self, offset_bytes: u64, out: &mut [u8]) -> io::Result<()> {
        match self {
            Backing::Memory { chunks, .. } => {
                pieces(offset_bytes, out.len(), |chunk, at, from, count| {
                    let held = chunks[chunk].lock().unwrap_or_else(PoisonError::into_inner);
                    out[from..from + count].copy_from_slice(&held[at..at + count]);
                });
                Ok(())
            }
            Backing::File { file, direct: false, .. } => file.read_exact_at(out, offset_bytes),
            Backing::File { file, .. } => {
                let (mut room, start) = aligned(out.len());
                file.read_exact_at(&mut room[start..start + out.len()], offset_bytes)?;
                out.copy_from_slice(&room[start..start + out.len()]);
                Ok(())
            }
        }
    }

    /// Writes within the export; with `stable` it is on stable storage when this returns.
    pub fn write(&self, offset_bytes: u64, bytes: &[u8], stable: bool) -> io::Result<()> {
        match self {
            Backing::Memory { chunks, .. } => {
                pieces(offset_bytes, bytes.len(), |chunk, at, from, count| {
                    let mut held = chunks[chunk].lock().unwrap_or_else(PoisonError::into_inner);
                    held[at..at + count].copy_from_slice(&bytes[from..from + count]);
                });
                return Ok(());
            }
            Backing::File { file, direct: false, .. } => file.write_all_at(bytes, offset_bytes)?,
            Backing::File { file, .. } => {
                let (mut room, start) = aligned(bytes.len());
                room[start..start + bytes.len()].copy_from_slice(bytes);
                file.write_all_at(&room[start..start + bytes.len()], offset_bytes)?;
            }
        }
        if stable {
            self.flush()?;
        }
        Ok(())
    }

    pub fn flush(&self) -> io::Result<()> {
        match self {
            Backing::Memory { .. } => Ok(()),
            Backing::File { file, .. } => file.sync_data(),
        }
    }
}

/// Room for so many bytes, and where in it direct I/O may begin.
fn aligned(length: usize) -> (Vec<u8>, usize) {
    let room = vec![0u8; length + ALIGN_BYTES];
    let start = room.as_ptr().align_offset(ALIGN_BYTES);
    (room, start)
}

/// Calls `each` for the parts of a range by chunk: chunk, where in it, where in the range, how many.
fn pieces(offset_bytes: u64, length: usize, mut each: impl FnMut(usize, usize, usize, usize)) {
    let mut done = 0;
    while done < length {
        let at = offset_bytes + done as u64;
        let (chunk, inside) = ((at / CHUNK_BYTES as u64) as usize, (at % CHUNK_BYTES as u64) as usize);
        let count = (CHUNK_BYTES - inside).min(length - done);
        each(chunk, inside, done, count);
        done += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_keeps_what_crosses_its_chunks() {
        let disk = Backing::memory(3 << 20);
        let bytes: Vec<u8> = (0..9000).map(|i| (i % 251) as u8).collect();
        disk.write((1 << 20) - 4000, &bytes, false).unwrap();
        let mut back = vec![0; 9002];
        disk.read((1 << 20) - 4001, &mut back).unwrap();
        assert_eq!((back[0], &back[1..9001], back[9001]), (0, &bytes[..], 0));
    }
}
