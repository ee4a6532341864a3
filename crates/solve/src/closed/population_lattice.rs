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
    pub fn rows(&self, mut visit: impl FnMut(usize, &[usize])) {
        let (mut n, slow) = (vec![0; self.classes()], self.classes() - 1);
        for start in (0..self.size).step_by(self.row()) {
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
