//! A command line as words divided by spaces; numbers as the C library reads them; keys.

/// The longest key that memcached takes, bytes.
pub const KEY_BYTES: usize = 250;

/// Words of a line, without empty ones: memcached takes runs of spaces for one.
#[derive(Debug, Clone, Copy)]
pub struct Tokens<'a>(pub &'a [u8]);

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.0.iter().position(|&b| b != b' ')?;
        let rest = &self.0[start..];
        let end = memchr::memchr(b' ', rest).unwrap_or(rest.len());
        self.0 = &rest[end..];
        Some(&rest[..end])
    }
}

impl<'a> Tokens<'a> {
    /// Whether the last word is `noreply`: memcached looks at no other, once the number of words is right.
    pub fn end_in_noreply(&self) -> bool {
        let end = self.0.iter().rposition(|b| *b != b' ').map_or(0, |at| at + 1);
        let before = self.0[..end].strip_suffix(b"noreply");
        before.is_some_and(|before| before.last().is_none_or(|b| *b == b' '))
    }

    /// The words where there are at least `least` and at most `N` of them; those that may be missing are empty. With how many there are.
    pub fn between<const N: usize>(mut self, least: usize) -> Option<([&'a [u8]; N], usize)> {
        let (mut words, mut count) = ([&b""[..]; N], 0);
        for word in &mut self {
            *words.get_mut(count)? = word;
            count += 1;
        }
        (count >= least).then_some((words, count))
    }
}

/// A key of 1 to 250 bytes without what ends a word, a line or a C string. memcached takes other control characters.
#[must_use]
pub fn valid_key(key: &[u8]) -> bool {
    (1..=KEY_BYTES).contains(&key.len()) && !key.iter().any(|b| b" \n\0".contains(b))
}

/// An unsigned number of digits alone; `None` for anything else and for what does not fit.
#[inline]
pub fn unsigned(word: &[u8]) -> Option<u64> {
    if word.is_empty() || word.len() > 20 {
        return None;
    }
    word.iter().try_fold(0_u64, |sum, &b| {
        let digit = b.wrapping_sub(b'0');
        (digit <= 9).then_some(())?;
        sum.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// A number as memcached's safe_strtoull (util.c) reads it: white space and a sign before it, white space and whatever follows behind; what
/// is below 0 wraps, and is refused only where it is large then. So `+5`, `-0`, `-18446744073709551615` (1) and `5\tx` are numbers.
pub fn c_unsigned(word: &[u8]) -> Option<u64> {
    if let Some(plain) = unsigned(word) {
        return Some(plain);
    }
    let (negative, magnitude) = c_number(word)?;
    let value = if negative { magnitude.wrapping_neg() } else { magnitude };
    (value <= i64::MAX as u64 || !word.contains(&b'-')).then_some(value)
}

/// As safe_strtol reads a number into 32 bits: of one that has more, the low ones.
pub fn c_int(word: &[u8]) -> Option<i32> {
    let (negative, magnitude) = match unsigned(word) {
        Some(plain) => (false, plain),
        None => c_number(word)?,
    };
    let value = if negative { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() };
    value.map(|value| value as i32)
}

fn c_number(word: &[u8]) -> Option<(bool, u64)> {
    let start = word.iter().position(|b| !is_blank(*b))?;
    let (negative, rest) = match word[start..].split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, &word[start..]),
    };
    let digits = rest.iter().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len());
    let ends = rest.get(digits).is_none_or(|b| is_blank(*b));
    let zeros = rest[..digits].iter().position(|b| *b != b'0').unwrap_or(digits.saturating_sub(1));
    unsigned(&rest[zeros..digits]).filter(|_| ends).map(|magnitude| (negative, magnitude))
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || (b'\t'..=b'\r').contains(&byte)
}

/// Appends a number in decimal.
pub fn push_number(out: &mut Vec<u8>, number: impl std::fmt::Display) {
    use std::io::Write;
    // Writing to a vector cannot fail.
    let _ = write!(out, "{number}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `strtoull` and `strtol` of glibc, and memcached's checks behind them, make of these: util.c of 1.6.18.
    #[test]
    fn numbers_as_the_c_library_reads_them() {
        for (word, unsigned, int) in [
            (&b"5"[..], Some(5), Some(5)),
            (b"+5", Some(5), Some(5)),
            (b"\t\r5\x0bx", Some(5), Some(5)),
            (b"-0", Some(0), Some(0)),
            (b"-1", None, Some(-1)),
            (b"-18446744073709551615", Some(1), None),
            (b"18446744073709551615", Some(u64::MAX), None),
            (b"18446744073709551616", None, None),
            (b"00000000000000000000000005", Some(5), Some(5)),
            (b"4294967301", Some(4_294_967_301), Some(5)),
            (b"2147483648", Some(2_147_483_648), Some(i32::MIN)),
            (b"-9223372036854775808", None, Some(0)),
            (b"9223372036854775808\t-", None, None),
            (b"5x", None, None),
            (b"--5", None, None),
            (b"+-5", None, None),
            (b"+", None, None),
            (b"", None, None),
            (b"0x5", None, None),
            (b"5.0", None, None),
        ] {
            assert_eq!((c_unsigned(word), c_int(word)), (unsigned, int), "{}", word.escape_ascii());
        }
    }

    #[test]
    fn words_within_their_number() {
        let line = Tokens(b" a  b ");
        assert_eq!(line.between::<3>(2), Some(([&b"a"[..], b"b", b""], 2)));
        assert_eq!((line.between::<1>(1), line.between::<3>(3)), (None, None));
    }
}
