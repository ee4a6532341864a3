//! `--verify`: which generation of each block was written, and whether what is read is it.
//!
//! Each sector that is written says of which run, which sector and which write it is, and the rest of it follows from that. A read
//! is right where each of its sectors is of this place and of a write that can be there: the last one that was acknowledged, or one
//! after it whose end is not known (the server died, or did not answer in time). What this run has not written is not compared,
//! and neither is a read beside a write to the same place, of which either may be seen.

use std::collections::HashSet;

use crate::config::SECTOR_BYTES;
use crate::operation::Operation;

const SECTOR: usize = SECTOR_BYTES as usize;

/// Which writes a unit can hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Generations {
    /// The oldest that can be there; 0: what was there before the run.
    low: u32,
    /// The newest that was sent.
    high: u32,
}

/// What is known of a read before it was sent.
#[derive(Debug, Clone, Default)]
pub struct ReadPromise {
    high: Vec<u32>,
    beside_write: bool,
}

/// What a read turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadVerdict {
    Right,
    /// Nothing of it could be compared.
    NotCompared,
    /// Where, and what is there.
    Wrong(String),
}

/// All blocks of a span.
#[derive(Debug)]
pub struct BlockContents {
    unit_bytes: u64,
    units: Vec<Generations>,
    /// Units with a write under way.
    written_now: HashSet<u64>,
    /// Units with a write whose end is not known: it may come to pass at any time.
    uncertain: HashSet<u64>,
    last: u32,
    key: u64,
}

impl BlockContents {
    /// `run` tells this run's writes from those of others.
    pub fn new(span_bytes: u64, unit_bytes: u64, run: u64) -> BlockContents {
        let units = vec![Generations::default(); (span_bytes / unit_bytes) as usize];
        let (written_now, uncertain) = (HashSet::new(), HashSet::new());
        BlockContents { unit_bytes, units, written_now, uncertain, last: 0, key: scramble(run) }
    }

    fn units_of(&self, operation: &Operation) -> std::ops::Range<u64> {
        let end = operation.offset_bytes + u64::from(operation.length_bytes);
        operation.offset_bytes / self.unit_bytes..end / self.unit_bytes
    }

    /// Whether no write to any of it is under way.
    pub fn is_free(&self, operation: &Operation) -> bool {
        self.units_of(operation).all(|unit| !self.written_now.contains(&unit))
    }

    /// Fills the buffer of a write to free units.
    pub fn begin_write(&mut self, operation: &Operation, buffer: &mut [u8]) {
        self.last += 1;
        let first = operation.offset_bytes / SECTOR_BYTES;
        for (index, sector) in buffer.chunks_exact_mut(SECTOR).enumerate() {
            fill(sector, self.key, first + index as u64, self.last);
        }
        for unit in self.units_of(operation) {
            self.units[unit as usize].high = self.last;
            self.written_now.insert(unit);
        }
    }

    /// A write has ended; `done`: it was acknowledged.
    pub fn end_write(&mut self, operation: &Operation, done: bool) {
        for unit in self.units_of(operation) {
            self.written_now.remove(&unit);
            if !done {
                self.uncertain.insert(unit);
            } else if !self.uncertain.contains(&unit) {
                let generations = &mut self.units[unit as usize];
                generations.low = generations.high;
            }
        }
    }

    /// Before a read is sent.
    pub fn begin_read(&self, operation: &Operation, promise: &mut ReadPromise) {
        promise.high.clear();
        promise.high.extend(self.units_of(operation).map(|unit| self.units[unit as usize].high));
        promise.beside_write = !self.is_free(operation);
    }

    /// What a read has brought.
    pub fn end_read(&self, operation: &Operation, buffer: &[u8], promise: &ReadPromise) -> ReadVerdict {
        let units = self.units_of(operation).map(|unit| self.units[unit as usize]);
        let moved = units.zip(&promise.high).any(|(unit, high)| unit.high != *high);
        if promise.beside_write || moved || !self.is_free(operation) {
            return ReadVerdict::NotCompared;
        }
        let first = operation.offset_bytes / SECTOR_BYTES;
        let mut compared = false;
        for (index, sector) in buffer.chunks_exact(SECTOR).enumerate() {
            let number = first + index as u64;
            let unit = self.units[(number * SECTOR_BYTES / self.unit_bytes) as usize];
            match check(sector, self.key, number, unit) {
                Ok(known) => compared |= known,
                Err(what) => return ReadVerdict::Wrong(format!("byte {}: {what}", number * SECTOR_BYTES)),
            }
        }
        if compared {
            ReadVerdict::Right
        } else {
            ReadVerdict::NotCompared
        }
    }
}

/// SplitMix64's output function (Steele, Lea and Flood 2014).
fn scramble(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The words of a sector: run, number, generation, and what follows from them.
fn words(key: u64, number: u64, generation: u32) -> impl Iterator<Item = u64> {
    let head = [key, number, u64::from(generation)];
    let rest = key ^ scramble(number ^ (u64::from(generation) << 40));
    head.into_iter().chain((3..SECTOR as u64 / 8).map(move |index| rest.wrapping_mul(2 * index + 1)))
}

fn fill(sector: &mut [u8], key: u64, number: u64, generation: u32) {
    for (bytes, word) in sector.chunks_exact_mut(8).zip(words(key, number, generation)) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
}

/// Whether the sector could be compared.
fn check(sector: &[u8], key: u64, number: u64, unit: Generations) -> Result<bool, String> {
    let word =
        |index: usize| u64::from_le_bytes(sector[8 * index..8 * index + 8].try_into().expect("eight bytes"));
    if word(0) != key {
        // Not of this run: right only where nothing of it has to be there.
        return if unit.low == 0 { Ok(false) } else { Err(format!("write {} is not there", unit.low)) };
    }
    if word(1) != number {
        return Err(format!("this is byte {}", word(1).wrapping_mul(SECTOR_BYTES)));
    }
    let generation = u32::try_from(word(2)).unwrap_or(u32::MAX);
    if generation < unit.low {
        return Err(format!("write {generation}, but write {} was acknowledged", unit.low));
    }
    if generation > unit.high {
        return Err(format!("write {generation}, which was not sent here"));
    }
    let whole = sector.chunks_exact(8).zip(words(key, number, generation)).all(|(b, w)| b == w.to_le_bytes());
    if whole {
        Ok(true)
    } else {
        Err(format!("write {generation} is damaged"))
    }
}

#[cfg(test)]
mod tests;
