//! Bytes that whoever reads them can check: cut from one block of random bytes, at a place that a hash says.

use sojourn_dist::Stream;

/// Places at which a piece can begin in the block.
const OFFSETS: usize = 1 << 16;

/// Random bytes, the same in every run, from which contents are cut.
pub struct RandomBlock(Vec<u8>);

impl RandomBlock {
    /// `name` says which ones; pieces of up to `most` bytes can be cut.
    pub fn new(name: &str, most: usize) -> RandomBlock {
        let mut stream = Stream::new(0, name);
        let words = (OFFSETS + most).div_ceil(8);
        RandomBlock((0..words).flat_map(|_| stream.bits().to_le_bytes()).collect())
    }

    /// The piece of this hash; `length` is at most what the block was made for.
    pub fn cut(&self, hash: u64, length: usize) -> &[u8] {
        let offset = hash as usize % OFFSETS;
        &self.0[offset..offset + length]
    }

    /// The longest piece that can be cut anywhere.
    pub fn longest(&self) -> usize {
        self.0.len() - OFFSETS
    }
}

/// SplitMix64's output function: a permutation of the 64-bit numbers (Steele, Lea and Flood 2014).
pub fn scramble(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number in [0, 1) from 64 bits.
pub fn share(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}
