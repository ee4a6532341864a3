//! Keys and values as bytes. A value is derived from the number of its key alone (not from the run's seed), so
//! whoever stored it, a read can be checked.

use std::io::Write;

use crate::config::{KvConfig, SizeDistribution, KEY_BYTES_MAX};
use crate::verifiable_bytes::{scramble, share, RandomBlock};

/// The first bytes of a value are its key's own number, scrambled: no two keys have the same ones.
const OWN_BYTES: usize = 8;

pub struct KeysAndValues {
    prefix: Vec<u8>,
    key_bytes: SizeDistribution,
    value_bytes: SizeDistribution,
    block: RandomBlock,
}

/// A key on the stack: its bytes are those up to its length.
pub struct Key {
    bytes: [u8; KEY_BYTES_MAX as usize],
    length: usize,
}

impl Key {
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl KeysAndValues {
    pub fn new(config: &KvConfig) -> KeysAndValues {
        let shortest = SizeDistribution::Fixed { value: config.shortest_key() };
        KeysAndValues {
            prefix: config.key_prefix.clone().into_bytes(),
            key_bytes: config.key_bytes.clone().unwrap_or(shortest),
            value_bytes: config.value_bytes.clone(),
            block: RandomBlock::new("memcached values", config.value_bytes.high() as usize),
        }
    }

    /// The prefix, zeros, and the number, as long as this key is to be.
    pub fn key(&self, number: u64) -> Key {
        let mut key = Key { bytes: [b'0'; KEY_BYTES_MAX as usize], length: 0 };
        key.length = self.key_bytes.at(share(scramble(number ^ 0x6b65_7973))) as usize;
        key.bytes[..self.prefix.len()].copy_from_slice(&self.prefix);
        let (mut left, mut at) = (number, key.length);
        while left > 0 && at > self.prefix.len() {
            at -= 1;
            key.bytes[at] = b'0' + (left % 10) as u8;
            left /= 10;
        }
        key
    }

    /// (the first bytes of the value, the rest of it).
    fn value(&self, number: u64) -> ([u8; OWN_BYTES], &[u8], usize) {
        let hash = scramble(number);
        let length = self.value_bytes.at(share(scramble(hash))) as usize;
        (hash.to_le_bytes(), self.block.cut(hash, length.saturating_sub(OWN_BYTES)), length)
    }

    pub fn push_set(&self, number: u64, exptime_s: i64, out: &mut Vec<u8>) {
        let (own, rest, length) = self.value(number);
        out.extend_from_slice(b"set ");
        out.extend_from_slice(self.key(number).bytes());
        // Writing to a vector cannot fail.
        let _ = write!(out, " 0 {exptime_s} {length}\r\n");
        out.extend_from_slice(&own[..length.min(OWN_BYTES)]);
        out.extend_from_slice(rest);
        out.extend_from_slice(b"\r\n");
    }

    pub fn push_get(&self, numbers: &[u64], out: &mut Vec<u8>) {
        out.extend_from_slice(b"get");
        for number in numbers {
            out.push(b' ');
            out.extend_from_slice(self.key(*number).bytes());
        }
        out.extend_from_slice(b"\r\n");
    }

    /// Is this the value of the key?
    pub fn is_value(&self, number: u64, data: &[u8]) -> bool {
        let (own, rest, length) = self.value(number);
        let head = length.min(OWN_BYTES);
        data.len() == length && data[..head] == own[..head] && data[head..] == *rest
    }

    /// Bytes of a block of a `get` answer at most, with its line.
    pub fn block_bytes(&self) -> usize {
        self.value_bytes.high() as usize + 512
    }

    pub fn value_length(&self, number: u64) -> usize {
        self.value(number).2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_their_length_and_number() {
        let text = |config: &KvConfig, number| {
            String::from_utf8(KeysAndValues::new(config).key(number).bytes().to_vec()).unwrap()
        };
        let usual = KvConfig::default();
        assert_eq!(text(&usual, 0), "sojourn-0000");
        assert_eq!(text(&usual, 9999), "sojourn-9999");
        let long = KvConfig { key_bytes: Some(SizeDistribution::Uniform { low: 20, high: 250 }), ..usual };
        let lengths: Vec<usize> = (0..2000).map(|k| text(&long, k).len()).collect();
        assert!(lengths.iter().min().unwrap() < &25 && lengths.iter().max().unwrap() > &245);
        assert!((0..2000).all(|k| text(&long, k).ends_with(&format!("{k:04}"))));
    }

    #[test]
    fn a_value_is_its_keys_and_no_other() {
        for high in [0, 3, 8, 100, 70_000] {
            let sizes = SizeDistribution::Uniform { low: 0, high };
            let content = KeysAndValues::new(&KvConfig { value_bytes: sizes, ..KvConfig::default() });
            for number in 0..50 {
                let mut out = Vec::new();
                content.push_set(number, 0, &mut out);
                let limits = sojourn_memproto::RequestLimits::default();
                let parsed = sojourn_memproto::parse(&out, &limits);
                let sojourn_memproto::ParseStep::Done { request, used } = parsed else {
                    panic!("{parsed:?}")
                };
                let sojourn_memproto::Request::Store { key, data, .. } = request else { panic!() };
                assert_eq!((used, key), (out.len(), content.key(number).bytes()));
                assert!(content.is_value(number, data) && data.len() == content.value_length(number));
                assert!(high < 100 || !content.is_value(number + 1, data));
                let mut broken = data.to_vec();
                if let Some(last) = broken.last_mut() {
                    *last ^= 1;
                    assert!(!content.is_value(number, &broken));
                }
            }
        }
    }
}
