//! Bytes that are nearly right.

use std::ops::Range;

use crate::corpus::{NUMBERS, WORDS};
use crate::random::Random;

/// A few of `seeds` one after the other, changed in up to eight places; at most `most` bytes.
pub fn stream(random: &mut Random, seeds: &[&[u8]], most: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..=random.below(6) {
        bytes.extend_from_slice(random.of(seeds));
    }
    for _ in 0..random.below(9) {
        change(random, seeds, &mut bytes);
    }
    bytes.truncate(most);
    bytes
}

/// Where to cut `length` bytes into pieces: ends, in order, the last of them `length`.
pub fn cuts(random: &mut Random, length: usize) -> Vec<usize> {
    // Long lines in single bytes are looked at again and again.
    let mean = [1, 3, 20, 500][random.below(4)].max(length / 500);
    let (mut ends, mut at) = (Vec::new(), 0);
    while at < length {
        at = (at + 1 + random.below(2 * mean)).min(length);
        ends.push(at);
    }
    ends
}

fn change(random: &mut Random, seeds: &[&[u8]], bytes: &mut Vec<u8>) {
    let at = random.below(bytes.len() + 1);
    match random.below(11) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        1 if at < bytes.len() => bytes[at] = random.bits() as u8,
        2 => insert(bytes, at, random.of(&WORDS)),
        3 => insert(bytes, at, random.of(seeds)),
        4 => drop(bytes.drain(piece(random, at, bytes.len()))),
        5 => {
            let copy = bytes[piece(random, at, bytes.len())].to_vec();
            insert(bytes, at, &copy);
        }
        6..=8 => number(random, bytes, at),
        9 => {
            let (byte, count) = (random.of(&[b" ", b"k", b"0"]), [3, 30, 300, 3000, 20_000][random.below(5)]);
            insert(bytes, at, &byte.repeat(1 + random.below(count)));
        }
        _ => bytes.truncate(at),
    }
}

fn piece(random: &mut Random, at: usize, length: usize) -> Range<usize> {
    at..(at + 1 + random.below(16)).min(length).max(at)
}

fn insert(bytes: &mut Vec<u8>, at: usize, more: &[u8]) {
    bytes.splice(at..at, more.iter().copied());
}

/// Another number in place of the first one behind `at`; or one more or less.
fn number(random: &mut Random, bytes: &mut Vec<u8>, at: usize) {
    let is_digit = |b: &u8| b.is_ascii_digit();
    let Some(start) = bytes[at..].iter().position(is_digit).map(|found| at + found) else { return };
    let end = bytes[start..].iter().position(|b| !is_digit(b)).map_or(bytes.len(), |found| start + found);
    if random.below(2) == 0 {
        bytes.splice(start..end, random.of(&NUMBERS).iter().copied());
    } else {
        bytes[end - 1] = b'0' + (bytes[end - 1] - b'0' + [1, 9][random.below(2)]) % 10;
    }
}
