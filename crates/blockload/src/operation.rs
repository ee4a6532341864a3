//! Which I/O comes next: a pure function of the configuration and the seed.

use sojourn_dist::Stream;

use crate::config::BlockConfig;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
    Read,
    Write,
    Flush,
}

impl OperationKind {
    pub const NAMES: [&'static str; 3] = ["read", "write", "flush"];
}

/// One I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    pub kind: OperationKind,
    pub offset_bytes: u64,
    pub length_bytes: u32,
    /// On stable storage before it ends.
    pub stable: bool,
}

impl Operation {
    pub const FLUSH: Operation =
        Operation { kind: OperationKind::Flush, offset_bytes: 0, length_bytes: 0, stable: false };
}

/// Draws I/Os.
#[derive(Debug)]
pub struct OperationGenerator {
    config: BlockConfig,
    span_bytes: u64,
    stream: Stream,
    next_bytes: u64,
    writes: u64,
    flush_due: bool,
}

impl OperationGenerator {
    /// Within `[0, span_bytes)`, which holds at least one block of each size.
    pub fn new(config: &BlockConfig, span_bytes: u64, seed: u64) -> OperationGenerator {
        let stream = Stream::new(seed, "block operations");
        OperationGenerator {
            config: config.clone(),
            span_bytes,
            stream,
            next_bytes: 0,
            writes: 0,
            flush_due: false,
        }
    }

    /// The next one.
    pub fn draw(&mut self) -> Operation {
        let read = self.stream.uniform() < self.config.read_share;
        let length_bytes = self.config.sizes.at(self.stream.uniform());
        let random = self.stream.uniform() < self.config.random_share;
        let offset_bytes = if random { self.place(length_bytes) } else { self.following(length_bytes) };
        self.next_bytes = offset_bytes + u64::from(length_bytes);
        if read {
            let kind = OperationKind::Read;
            return Operation { kind, offset_bytes, length_bytes, stable: false };
        }
        self.writes += 1;
        let every = |n: u32| n > 0 && self.writes.is_multiple_of(n.into());
        let stable = every(self.config.fua_every);
        self.flush_due = every(self.config.fsync_every);
        Operation { kind: OperationKind::Write, offset_bytes, length_bytes, stable }
    }

    /// Whether a flush follows what was drawn last.
    pub fn take_flush(&mut self) -> bool {
        std::mem::take(&mut self.flush_due)
    }

    /// A random place for so many bytes.
    pub fn place(&mut self, length_bytes: u32) -> u64 {
        let align = u64::from(self.config.align_bytes.unwrap_or(length_bytes));
        let places = (self.span_bytes - u64::from(length_bytes)) / align + 1;
        self.stream.below(places) * align
    }

    fn following(&self, length_bytes: u32) -> u64 {
        let align = u64::from(self.config.align_bytes.unwrap_or(length_bytes));
        let offset = self.next_bytes.next_multiple_of(align);
        if offset + u64::from(length_bytes) > self.span_bytes {
            return 0;
        }
        offset
    }
}
