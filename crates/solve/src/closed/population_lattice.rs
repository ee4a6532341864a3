//! Vectors of populations 0 <= n <= N as one row of memory; the last class is the fastest.

/// The lattice up to `most`; `stride[r]` is how far n - e_r lies back.
#[derive(Clone, Debug)]
pub struct PopulationLattice {
    pub most: Vec<usize>,
    pub stride: Vec<usize>,
    pub size: usize,
}

impl PopulationLattice {
    pub fn new(most: &[usize]) -> Self {
        let mut stride = vec![1; most.len()];
        for r in (1..most.len()).rev() {
            stride[r - 1] = stride[r] * (most[r] + 1);
        }
        let size = most.iter().map(|n| n + 1).product();
        Self { most: most.to_vec(), stride, size }
    }

    pub fn classes(&self) -> usize {
        self.most.len()
    }

    pub fn index(&self, n: &[usize]) -> usize {
        n.iter().zip(&self.stride).map(|(n, s)| n * s).sum()
    }

    /// Length of a row: all values of the last class.
    pub fn row(&self) -> usize {
        self.most.last().map_or(1, |n| n + 1)
    }

    /// Calls `visit(start, n)` for each row in order; n[last] is 0 and `start` the index of the row's first state.
    pub fn rows(&self, visit: impl FnMut(usize, &[usize])) {
        self.blocks(self.classes() - 1, visit);
    }

    /// The same for each block of the states that agree in the first `slow` classes; n of the others is 0.
    pub fn blocks(&self, slow: usize, mut visit: impl FnMut(usize, &[usize])) {
        let mut n = vec![0; self.classes()];
        let size: usize = self.most[slow..].iter().map(|n| n + 1).product();
        for start in (0..self.size).step_by(size) {
            visit(start, &n);
            for r in (0..slow).rev() {
                n[r] += 1;
                if n[r] <= self.most[r] {
                    break;
                }
                n[r] = 0;
            }
        }
    }
}

/// Rows whose states are visited in turn.
const BAND: usize = 8;

/// Calls `visit(b, c)` for b < `rows` and c < `row`, each after (b - 1, c) and (b, c - 1): along the diagonals of bands of rows, because
/// states of one diagonal do not wait for each other, as those of a row do.
#[inline(always)]
pub fn by_diagonals(rows: usize, row: usize, mut visit: impl FnMut(usize, usize)) {
    for band in (0..rows).step_by(BAND) {
        let height = BAND.min(rows - band);
        for diagonal in 0..row + height - 1 {
            for i in (diagonal + 1).saturating_sub(row)..height.min(diagonal + 1) {
                visit(band + i, diagonal - i);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagonals_visit_each_state_once_and_after_those_it_needs() {
        for (rows, row) in [(1, 1), (1, 5), (5, 1), (3, 20), (20, 3), (17, 9)] {
            let mut seen = vec![false; rows * row];
            by_diagonals(rows, row, |b, c| {
                assert!(b == 0 || seen[(b - 1) * row + c]);
                assert!(c == 0 || seen[b * row + c - 1]);
                assert!(!std::mem::replace(&mut seen[b * row + c], true));
            });
            assert!(seen.iter().all(|seen| *seen));
        }
    }
}
