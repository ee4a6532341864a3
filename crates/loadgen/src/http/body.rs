//! The body of a response.

/// A body: how long it is, and what it is where it is kept.
#[derive(Debug, Default)]
pub struct Body {
    pub bytes: u64,
    pub kept: Option<Vec<u8>>,
}

impl Body {
    pub fn take(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(bytes);
        }
    }

    pub fn clear(&mut self) {
        self.bytes = 0;
        self.kept.iter_mut().for_each(Vec::clear);
    }
}
