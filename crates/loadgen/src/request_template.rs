//! Requests with placeholders: `{uuid}`, `{int:LOW-HIGH}`, `{choice:A|B|C}`, drawn anew for each request.
//!
//! Everything else in braces stays as it is, so JSON needs no escapes. A target draws from a stream of its own: the
//! k-th request for it is the same in every run with the same seed, whenever it is sent.

use std::io::Write;

use sojourn_dist::Stream;

use crate::config_error::ConfigError;

/// Text, or what is drawn.
#[derive(Debug, Clone, PartialEq)]
enum TemplatePart {
    Text(Vec<u8>),
    Uuid,
    /// Both ends included; equally likely.
    Int {
        low: u64,
        high: u64,
    },
    Choice(Vec<Vec<u8>>),
}

/// Text with placeholders.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TemplateText(Vec<TemplatePart>);

impl TemplateText {
    /// Adds bytes that stand for themselves.
    pub fn text(&mut self, bytes: &[u8]) {
        match self.0.last_mut() {
            Some(TemplatePart::Text(last)) => last.extend_from_slice(bytes),
            _ => self.0.push(TemplatePart::Text(bytes.to_vec())),
        }
    }

    /// Adds text with placeholders; `place` is where it stands in the configuration.
    pub fn parse(&mut self, mut text: &[u8], place: &str) -> Result<(), ConfigError> {
        while let Some(at) = text.iter().position(|b| *b == b'{') {
            self.text(&text[..at]);
            text = &text[at..];
            let end = text.iter().position(|b| *b == b'}').map_or(text.len(), |end| end + 1);
            if let Some(piece) = placeholder(&text[..end], place)? {
                self.0.push(piece);
                text = &text[end..];
            } else {
                self.text(b"{");
                text = &text[1..];
            }
        }
        self.text(text);
        Ok(())
    }

    fn write(&self, stream: &mut Stream, out: &mut Vec<u8>) {
        for piece in &self.0 {
            match piece {
                TemplatePart::Text(bytes) => out.extend_from_slice(bytes),
                TemplatePart::Uuid => write_uuid([stream.bits(), stream.bits()], out),
                // Writing to a vector cannot fail.
                TemplatePart::Int { low, high } => {
                    drop(write!(out, "{}", low + stream.below(high - low + 1)))
                }
                TemplatePart::Choice(all) => {
                    out.extend_from_slice(&all[stream.below(all.len() as u64) as usize]);
                }
            }
        }
    }

    /// The bytes, where nothing is drawn.
    pub fn fixed(&self) -> Option<Vec<u8>> {
        let all = self.0.iter().map(|piece| match piece {
            TemplatePart::Text(bytes) => Some(bytes.as_slice()),
            _ => None,
        });
        all.collect::<Option<Vec<_>>>().map(|parts| parts.concat())
    }
}

/// `None` for braces that are no placeholder.
fn placeholder(text: &[u8], place: &str) -> Result<Option<TemplatePart>, ConfigError> {
    let wrong = |remedy| {
        let value = String::from_utf8_lossy(&text[..text.len().min(80)]).into_owned();
        Err(ConfigError::Value { place: place.to_string(), value, remedy })
    };
    if text == b"{uuid}" {
        return Ok(Some(TemplatePart::Uuid));
    }
    if let Some(range) = text.strip_prefix(b"{int:") {
        let range = range.strip_suffix(b"}").and_then(|range| std::str::from_utf8(range).ok());
        let ends = range.and_then(|range| range.split_once('-'));
        let ends = ends.and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
        return match ends {
            Some((low, high)) if low <= high && high < u64::MAX => Ok(Some(TemplatePart::Int { low, high })),
            _ => wrong("write {int:LOW-HIGH}, whole numbers of at least 0"),
        };
    }
    if let Some(list) = text.strip_prefix(b"{choice:") {
        return match list.strip_suffix(b"}") {
            Some(list) => {
                Ok(Some(TemplatePart::Choice(list.split(|b| *b == b'|').map(<[u8]>::to_vec).collect())))
            }
            None => wrong("end it with }"),
        };
    }
    Ok(None)
}

/// A random UUID (RFC 9562, version 4).
fn write_uuid(bits: [u64; 2], out: &mut Vec<u8>) {
    let high = bits[0] & !0xf000 | 0x4000;
    let low = bits[1] & !(0xc << 60) | (0x8 << 60);
    let (first, second, third) = (high >> 32, high >> 16 & 0xffff, high & 0xffff);
    let (fourth, fifth) = (low >> 48, low & 0xffff_ffff_ffff);
    // Writing to a vector cannot fail.
    let _ = write!(out, "{first:08x}-{second:04x}-{third:04x}-{fourth:04x}-{fifth:012x}");
}

/// A request of which something is drawn.
#[derive(Debug)]
pub struct RequestTemplate {
    /// The head as far as it does not depend on the body.
    head: TemplateText,
    body: Option<TemplateText>,
    stream: Stream,
    drawn: Vec<u8>,
}

impl RequestTemplate {
    /// `body`: `None` where the request has no Content-Length.
    pub fn new(head: TemplateText, body: Option<TemplateText>, seed: u64, name: &str) -> RequestTemplate {
        RequestTemplate { head, body, stream: Stream::new(seed, name), drawn: Vec::new() }
    }

    /// Replaces `out` by the next request.
    pub fn next(&mut self, out: &mut Vec<u8>) {
        out.clear();
        self.head.write(&mut self.stream, out);
        self.drawn.clear();
        if let Some(body) = &self.body {
            body.write(&mut self.stream, &mut self.drawn);
            // Writing to a vector cannot fail.
            let _ = write!(out, "Content-Length: {}\r\n", self.drawn.len());
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&self.drawn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> TemplateText {
        let mut pieces = TemplateText::default();
        pieces.parse(text.as_bytes(), "body").unwrap();
        pieces
    }

    #[test]
    fn what_is_no_placeholder_stays() {
        for text in ["", "{}", "{\"a\": {\"b\": [1]}}", "{{", "a{b", "{uuid", "{int}", "}{"] {
            assert_eq!(pieces(text).fixed().unwrap(), text.as_bytes(), "{text}");
        }
        assert_eq!(pieces("{uuid}").fixed(), None);
    }

    #[test]
    fn drawn_within_their_ranges_and_again_from_the_seed() {
        let made = |seed| {
            let mut template = RequestTemplate::new(
                pieces("POST /{int:7-9}/{choice:a|b} HTTP/1.1\r\n"),
                Some(pieces("{uuid}")),
                seed,
                "target 0",
            );
            let mut out = Vec::new();
            let texts = (0..200).map(|_| {
                template.next(&mut out);
                String::from_utf8(out.clone()).unwrap()
            });
            texts.collect::<Vec<_>>()
        };
        let texts = made(1);
        let starts: std::collections::BTreeSet<&str> =
            texts.iter().map(|text| text.split(' ').nth(1).unwrap()).collect();
        let all = ["/7/a", "/7/b", "/8/a", "/8/b", "/9/a", "/9/b"];
        assert_eq!(starts.into_iter().collect::<Vec<_>>(), all);
        for text in &texts {
            let (head, uuid) = text.split_once("\r\n\r\n").unwrap();
            assert!(head.ends_with("Content-Length: 36"), "{head}");
            // RFC 9562: version 4 in the 13th hexadecimal digit, variant 10xx in the 17th.
            assert_eq!(&uuid[14..15], "4");
            assert!("89ab".contains(&uuid[19..20]), "{uuid}");
        }
        assert_eq!(texts, made(1));
        assert_ne!(texts, made(2));
    }

    #[test]
    fn a_uuid_of_ones_and_of_zeros() {
        let mut out = Vec::new();
        write_uuid([u64::MAX, u64::MAX], &mut out);
        assert_eq!(out, b"ffffffff-ffff-4fff-bfff-ffffffffffff");
        out.clear();
        write_uuid([0, 0], &mut out);
        assert_eq!(out, b"00000000-0000-4000-8000-000000000000");
    }

    #[test]
    fn mistakes_name_place_and_remedy() {
        for text in ["{int:5-1}", "{int:a-b}", "{int:3}", "{int:1-2", "{choice:a"] {
            let error =
                TemplateText::default().parse(text.as_bytes(), "targets[0].body").unwrap_err().to_string();
            assert!(error.contains("targets[0].body is ") && error.contains(text), "{error}");
        }
    }
}
