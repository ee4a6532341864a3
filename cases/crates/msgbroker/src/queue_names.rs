//! Names, and how a URL writes them.

use std::borrow::Cow;

use crate::refusal::Refusal;

/// Longest name of a queue or a sender: an index of the database holds it.
pub(crate) const NAME_BYTES: usize = 200;

/// A name that can be used.
pub(crate) fn name(text: &str) -> Result<&str, Refusal> {
    if text.is_empty() || text.len() > NAME_BYTES || text.chars().any(char::is_control) {
        return Err(Refusal::Name);
    }
    Ok(text)
}

/// Percent-decoded text; in a query (`plus`) a plus is a space, as HTML forms have it.
pub(crate) fn decode(text: &str, plus: bool) -> Result<Cow<'_, str>, Refusal> {
    if !text.bytes().any(|b| b == b'%' || (plus && b == b'+')) {
        return Ok(Cow::Borrowed(text));
    }
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => hex(bytes.next())? << 4 | hex(bytes.next())?,
            b'+' if plus => b' ',
            byte => byte,
        });
    }
    String::from_utf8(out).map(Cow::Owned).map_err(|_| Refusal::Name)
}

fn hex(digit: Option<u8>) -> Result<u8, Refusal> {
    let value = digit.and_then(|digit| char::from(digit).to_digit(16)).ok_or(Refusal::Name)?;
    Ok(value as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_what_is_encoded_and_refuses_what_is_not() {
        assert_eq!(decode("a-b", false), Ok("a-b".into()));
        assert_eq!(decode("a%2Fb%c3%A9+", false), Ok("a/bé+".into()));
        assert_eq!(decode("a+b%2B", true), Ok("a b+".into()));
        for bad in ["%", "%2", "%zz", "%ff", "%c3"] {
            assert_eq!(decode(bad, false), Err(Refusal::Name), "{bad}");
        }
    }

    #[test]
    fn a_name_has_a_length_and_no_control_characters() {
        assert!(name("a").is_ok() && name(&"é".repeat(100)).is_ok());
        for bad in ["", "a\0", "a\r\nb", "\u{85}", &"a".repeat(201)] {
            assert_eq!(name(bad), Err(Refusal::Name), "{bad:?}");
        }
    }
}
