//! Memory that direct I/O takes.

/// Enough for every device: a page.
const ALIGN_BYTES: usize = 4096;

/// Bytes that begin at a multiple of 4096.
#[derive(Debug)]
pub struct AlignedBuffer {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl AlignedBuffer {
    pub fn new(length: usize) -> AlignedBuffer {
        let bytes = vec![0u8; length + ALIGN_BYTES];
        let start = bytes.as_ptr().align_offset(ALIGN_BYTES);
        AlignedBuffer { bytes, start, length }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.length]
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}
