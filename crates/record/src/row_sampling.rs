//! Fewer rows where all would be too many.

/// All rows up to a limit, then one in 2, 4, 8, … each time half a limit more was written. Nothing is rewritten.
///
/// A row stands for as many requests as its weight says. From the row of request 0 on, the row of request n is there where n is
/// a multiple of the weight: so who reads the log can thin it to the last weight, and has a systematic sample of the whole.
#[derive(Debug)]
pub struct RowSampling {
    limit: u64,
    weight: u32,
    until_next: u32,
    written: u64,
    sparser_at: u64,
}

impl RowSampling {
    /// `limit`: at least 2, and even; it is rounded.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        // Even, so that the first request of each weight is a multiple of it.
        let limit = (limit & !1).max(2);
        Self { limit, weight: 1, until_next: 0, written: 0, sparser_at: limit }
    }

    /// The weight of the next request's row, if it gets one.
    #[inline]
    pub fn next_weight(&mut self) -> Option<u32> {
        if self.until_next > 0 {
            self.until_next -= 1;
            return None;
        }
        if self.written >= self.sparser_at {
            self.weight = self.weight.saturating_mul(2);
            self.sparser_at += self.limit / 2;
        }
        self.until_next = self.weight - 1;
        self.written += 1;
        Some(self.weight)
    }

    /// The weight of the last row; 1 before the first.
    #[must_use]
    pub fn weight(&self) -> u32 {
        self.weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_limit_rows_get_rarer_and_heavier_and_stand_for_all() {
        let mut sampling = RowSampling::new(10);
        let weights: Vec<u32> = (0..10 + 5 * 2 + 5 * 4).filter_map(|_| sampling.next_weight()).collect();
        assert_eq!(weights[..10], [1; 10]);
        assert_eq!(weights[10..15], [2; 5]);
        assert_eq!(weights[15..], [4; 5]);
    }

    #[test]
    fn every_request_that_is_a_multiple_of_the_last_weight_has_a_row() {
        for limit in [0, 1, 2, 3, 10, 11] {
            let mut sampling = RowSampling::new(limit);
            let rows: Vec<u64> = (0..500).filter(|_| sampling.next_weight().is_some()).collect();
            let last = u64::from(sampling.weight());
            assert!(last > 1 && (0..500).step_by(last as usize).all(|n| rows.contains(&n)), "{limit}");
        }
    }
}
