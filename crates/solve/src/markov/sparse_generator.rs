//! A generator, as rates into each state, which is the direction in which it is solved.

/// `from[start[j]..start[j + 1]]` and `rate` there: who leads to state j; `out[j]`: the rate at which j is left, 1/s.
#[derive(Clone, Debug, Default)]
pub struct SparseGenerator {
    pub start: Vec<usize>,
    pub from: Vec<u32>,
    pub rate: Vec<f64>,
    pub out: Vec<f64>,
}

impl SparseGenerator {
    /// From rows: state i leads to `to[start[i]..start[i + 1]]` (or the end); no rates to itself.
    pub fn from_rows(start: Vec<usize>, to: Vec<u32>, rate: Vec<f64>) -> Self {
        let (start, from, rate) = transposed(start, &to, &rate);
        let mut out = vec![0.0; start.len() - 1];
        from.iter().zip(&rate).for_each(|(&i, &r): (&u32, &f64)| out[i as usize] += r);
        Self { start, from, rate, out }
    }

    pub fn len(&self) -> usize {
        self.out.len()
    }

    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// The flow into state j under `x`.
    pub fn inflow(&self, j: usize, x: &[f64]) -> f64 {
        let span = self.start[j]..self.start[j + 1];
        self.from[span.clone()].iter().zip(&self.rate[span]).map(|(&i, &r)| x[i as usize] * r).sum()
    }

    /// How far `x` is from balance: sum over the states of |inflow - outflow|, as a share of all flow.
    pub fn residual(&self, x: &[f64]) -> f64 {
        let flow = |j: usize| (self.inflow(j, x), x[j] * self.out[j]);
        let (off, all) =
            (0..self.len()).map(flow).fold((0.0, 0.0), |(a, b), (i, o)| (a + (i - o).abs(), b + o));
        if all > 0.0 {
            off / all
        } else {
            0.0
        }
    }
}

/// From rows to who leads to each state: starts, states, and what stands at each entry.
pub fn transposed<T: Copy + Default>(
    mut start: Vec<usize>,
    to: &[u32],
    entries: &[T],
) -> (Vec<usize>, Vec<u32>, Vec<T>) {
    let n = start.len();
    start.push(to.len());
    let mut into = vec![0; n + 1];
    for &j in to {
        into[j as usize + 1] += 1;
    }
    for j in 0..n {
        into[j + 1] += into[j];
    }
    let (mut from, mut back, mut free) = (vec![0; to.len()], vec![T::default(); to.len()], into.clone());
    for i in 0..n {
        for e in start[i]..start[i + 1] {
            let place = &mut free[to[e] as usize];
            from[*place] = i as u32;
            back[*place] = entries[e];
            *place += 1;
        }
    }
    (into, from, back)
}

/// Scales to sum 1; all equal where the sum is 0.
pub fn normalise(x: &mut [f64]) {
    let sum: f64 = x.iter().sum();
    let n = x.len() as f64;
    x.iter_mut().for_each(|v| *v = if sum > 0.0 { *v / sum } else { 1.0 / n });
}
