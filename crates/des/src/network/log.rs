//! One row a pass that ended, for run folders; kept only if asked for.

/// Rows in the order in which passes end, at most `most`.
#[derive(Debug, Clone, Default)]
pub struct Log {
    most: usize,
    pub rows: Vec<Pass>,
}

#[derive(Debug, Clone, Copy)]
pub struct Pass {
    /// In which it began.
    pub class: u32,
    pub start_s: f64,
    pub end_s: f64,
    /// InvalidConfig on the way.
    pub lost: bool,
}

impl Log {
    pub fn new(most: usize) -> Log {
        Log { most, rows: Vec::new() }
    }

    #[inline(always)]
    pub fn add(&mut self, pass: Pass) {
        if self.rows.len() < self.most {
            self.rows.push(pass);
        }
    }
}
