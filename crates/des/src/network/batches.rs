//! Time-batches: what cells counted, a row a batch.

/// Batches of equal length: rows of `width` numbers; neighbours are added up when there are too many.
#[derive(Debug, Clone)]
pub struct Batches {
    pub width: usize,
    /// Length of a batch, s.
    pub length_s: f64,
    pub rows: Vec<f64>,
    /// The batch that is not full yet.
    open: Vec<f64>,
    /// How many ended batches there may be; none: no limit.
    most: Option<usize>,
    started_s: f64,
}

impl Batches {
    pub fn new(width: usize, length_s: f64, most: Option<usize>) -> Batches {
        Batches { width, length_s, rows: Vec::new(), open: vec![0.0; width], most, started_s: 0.0 }
    }

    /// When the open batch ends: a whole multiple of the length, so that rounding does not add up.
    pub fn end_s(&self) -> f64 {
        let ended = (self.started_s / self.length_s).round();
        (ended + 1.0) * self.length_s
    }

    pub fn len(&self) -> usize {
        self.rows.len() / self.width
    }

    pub fn add(&mut self, column: usize, values: &[f64]) {
        self.open[column..column + values.len()].iter_mut().zip(values).for_each(|(a, b)| *a += b);
    }

    /// Ends the open batch at `end_s()`; true if lengths doubled.
    pub fn close(&mut self) -> bool {
        self.started_s = self.end_s();
        self.rows.extend_from_slice(&self.open);
        self.open.fill(0.0);
        let full = self.most.is_some_and(|most| self.len() >= 2 * most);
        if full {
            self.halve();
        }
        full
    }

    fn halve(&mut self) {
        let pairs = self.len() / 2;
        for i in 0..pairs {
            for j in 0..self.width {
                self.rows[i * self.width + j] =
                    self.rows[2 * i * self.width + j] + self.rows[(2 * i + 1) * self.width + j];
            }
        }
        self.rows.truncate(pairs * self.width);
        self.length_s *= 2.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_double_and_keep_their_sums() {
        let mut batches = Batches::new(1, 0.1, Some(4));
        for i in 0..9 {
            batches.add(0, &[f64::from(i)]);
            batches.close();
        }
        assert_eq!(batches.rows[..4], [1.0, 5.0, 9.0, 13.0]);
        assert_eq!(batches.len(), 5);
        assert_eq!(batches.length_s, 0.2);
    }
}
