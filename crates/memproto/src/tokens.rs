//! A command line as words divided by spaces; numbers; keys.

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

/// A key of 1 to 250 bytes without spaces and control characters.
#[must_use]
pub fn valid_key(key: &[u8]) -> bool {
    (1..=KEY_BYTES).contains(&key.len()) && key.iter().all(|&b| b > b' ' && b != 0x7f)
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

/// A number that may be negative: expiry times.
pub fn signed(word: &[u8]) -> Option<i64> {
    match word.split_first() {
        Some((b'-', digits)) => unsigned(digits).and_then(|n| 0_i64.checked_sub_unsigned(n)),
        _ => unsigned(word).and_then(|n| i64::try_from(n).ok()),
    }
}

/// Appends a number in decimal.
pub fn push_number(out: &mut Vec<u8>, number: impl std::fmt::Display) {
    use std::io::Write;
    // Writing to a vector cannot fail.
    let _ = write!(out, "{number}");
}

/// Whether the one word that may follow is `noreply`: memcached takes no notice of another. `None` where more follow, or one
/// with a NUL: memcached reads up to that, so that it may see a `noreply` there, and an answer would be waited for.
pub fn noreply_or_end<'a>(words: &mut impl Iterator<Item = &'a [u8]>) -> Option<bool> {
    let last = words.next();
    let plain = last.is_none_or(|word| !has_nul(word));
    (plain && words.next().is_none()).then_some(last == Some(b"noreply"))
}

/// Whether memcached, which takes a line for a C string, would see less of it.
pub fn has_nul(word: &[u8]) -> bool {
    memchr::memchr(0, word).is_some()
}

/// Whether a line ends in `noreply`: then memcached keeps a refusal to itself, too.
pub fn is_quiet(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line.strip_suffix(b"noreply").is_some_and(|before| before.last() == Some(&b' '))
}
