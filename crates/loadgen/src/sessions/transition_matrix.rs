//! A transition matrix, ready to be drawn from.

use sojourn_dist::Stream;

/// What a user does after a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    To(u16),
    Back,
    End,
}

impl Step {
    /// Of a row for so many pages.
    pub fn column(self, pages: usize) -> u16 {
        match self {
            Step::To(page) => page,
            Step::Back => pages as u16,
            Step::End => pages as u16 + 1,
        }
    }
}

/// Cumulative rows.
#[derive(Debug)]
pub struct TransitionMatrix {
    rows: Vec<Vec<f64>>,
}

impl TransitionMatrix {
    /// Each row has a probability for each page, for `Back` and for `End`.
    pub fn new(rows: &[Vec<f64>]) -> TransitionMatrix {
        let cumulative = |row: &Vec<f64>| {
            let mut sum = 0.0;
            let sums = row.iter().map(|p| {
                sum += p;
                sum
            });
            sums.collect()
        };
        TransitionMatrix { rows: rows.iter().map(cumulative).collect() }
    }

    pub fn next(&self, page: u16, stream: &mut Stream) -> Step {
        let (row, pages) = (&self.rows[usize::from(page)], self.rows.len());
        let u = stream.uniform();
        match row.partition_point(|up_to| *up_to <= u) {
            next if next < pages => Step::To(next as u16),
            next if next == pages => Step::Back,
            _ => Step::End,
        }
    }
}
