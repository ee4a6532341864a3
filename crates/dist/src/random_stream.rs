//! Named random streams: xoshiro256++ 1.0 (Blackman and Vigna, public domain), seeded by SplitMix64 from
//! the run's seed and an FNV-1a hash of the stream's name. Frozen: a change here changes every schedule.

/// One independent stream; the same (seed, name) gives the same numbers for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    state: [u64; 4],
}

impl Stream {
    pub fn new(seed: u64, name: &str) -> Stream {
        let mut word = split_mix(&mut seed.clone()) ^ fnv_1a(name.as_bytes());
        Stream { state: std::array::from_fn(|_| split_mix(&mut word)) }
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in 0..n without bias (Lemire 2019, multiply and reject); 0 for n = 0.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        let threshold = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.bits()) * u128::from(n);
            if product as u64 >= threshold {
                return (product >> 64) as u64;
            }
        }
    }

    /// Exponential of mean 1: the inverse of its distribution function at a uniform number; finite.
    pub fn exponential(&mut self) -> f64 {
        -(-self.uniform()).ln_1p()
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The index at which the running sum of the probabilities passes u.
pub(crate) fn branch(probabilities: &[f64], u: f64) -> usize {
    let mut left = u;
    for (index, p) in probabilities.iter().enumerate() {
        left -= p;
        if left < 0.0 {
            return index;
        }
    }
    // Rounding left a sliver above the last: the last branch that can happen takes it.
    probabilities.iter().rposition(|p| *p > 0.0).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xoshiro_matches_the_authors_reference() {
        // Output of the authors' C program from the state 1, 2, 3, 4.
        let mut stream = Stream { state: [1, 2, 3, 4] };
        let expected = [41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205];
        assert_eq!(expected.map(|_| stream.bits()), expected);
    }

    #[test]
    fn split_mix_and_fnv_match_their_published_values() {
        // SplitMix64 from 1234567; FNV-1a 64 of "a" and "foobar" (the authors' test vectors).
        let mut state = 1234567;
        assert_eq!(split_mix(&mut state), 6457827717110365317);
        assert_eq!(split_mix(&mut state), 3203168211198807973);
        assert_eq!(fnv_1a(b"a"), 0xaf63dc4c8601ec8c);
        assert_eq!(fnv_1a(b"foobar"), 0x85944171f73967e8);
    }
}
