//! Fewer rows where all would be too many.

/// All rows up to a limit, then one in 2, 4, 8, … each time half a limit more was written. A row stands for as many
/// requests as its weight says.
#[derive(Debug)]
pub struct Sampling {
    limit: u64,
    weight: u32,
    until_next: u32,
    written: u64,
    sparser_at: u64,
}

impl Sampling {
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self { limit, weight: 1, until_next: 0, written: 0, sparser_at: limit }
    }

    /// The weight of the next request's row, if it gets one.
    pub fn next_weight(&mut self) -> Option<u32> {
        if self.until_next > 0 {
            self.until_next -= 1;
            return None;
        }
        if self.written >= self.sparser_at {
            self.weight = self.weight.saturating_mul(2);
            self.sparser_at += (self.limit / 2).max(1);
        }
        self.until_next = self.weight - 1;
        self.written += 1;
        Some(self.weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_limit_rows_get_rarer_and_heavier_and_stand_for_all() {
        let mut sampling = Sampling::new(10);
        let weights: Vec<u32> = (0..10 + 5 * 2 + 5 * 4).filter_map(|_| sampling.next_weight()).collect();
        assert_eq!(weights[..10], [1; 10]);
        assert_eq!(weights[10..15], [2; 5]);
        assert_eq!(weights[15..], [4; 5]);
    }

    #[test]
    fn rows_become_sparse_and_their_weights_say_so() {
        let mut sampling = Sampling::new(4);
        let weights: Vec<u32> = (0..8).filter_map(|_| sampling.next_weight()).collect();
        assert_eq!(weights, [1, 1, 1, 1, 2, 2]);
    }
}
