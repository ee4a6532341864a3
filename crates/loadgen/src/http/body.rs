//! The body of a response.

use super::content_coding::ContentDecoder;

/// A body: how long it is as it was sent, and what it is where it is kept.
#[derive(Debug, Default)]
pub struct Body {
    pub bytes: u64,
    pub kept: Option<Vec<u8>>,
    /// Where it came in a coding: what shows whether it can be decoded.
    pub coding: Option<ContentDecoder>,
}

impl Body {
    pub fn take(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(bytes);
        }
        if let Some(decoder) = &mut self.coding {
            decoder.take(bytes);
        }
    }

    /// Whether what came so far, or with `whole` all of it, can be decoded.
    pub fn is_decodable(&mut self, whole: bool) -> bool {
        self.coding.as_mut().is_none_or(|decoder| if whole { decoder.end() } else { decoder.is_good() })
    }

    pub fn clear(&mut self) {
        self.bytes = 0;
        self.coding = None;
        self.kept.iter_mut().for_each(Vec::clear);
    }
}
