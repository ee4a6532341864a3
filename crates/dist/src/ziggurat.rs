//! The exponential of mean 1 by the ziggurat: Marsaglia and Tsang, The ziggurat method for generating random
//! variables, Journal of Statistical Software 5(8), 2000, pages 1-7; layer and position from different bits, as
//! Doornik (2005) asks. For the simulator, which draws by the hundred million; schedules of the load generator
//! keep to [`Stream::exponential`].
//!
//! | paper | here |
//! |---|---|
//! | r, v | `EDGE`, `AREA`: where the tail begins, area of each of the 256 layers |
//! | x_i, f(x_i) | `X[i]`, `F[i]`, from the outermost layer inwards |

use crate::portable_math::{exp, ln};
use crate::Stream;

const LAYERS: usize = 256;
const EDGE: f64 = 7.697_117_470_131_05;
const AREA: f64 = 3.949_659_822_581_557e-3;
const X: [f64; LAYERS + 1] = edges();
const F: [f64; LAYERS + 1] = heights();

/// `X[0]` is the width that the bottom layer would have as a rectangle: its tail included.
const fn edges() -> [f64; LAYERS + 1] {
    let mut x = [0.0; LAYERS + 1];
    x[0] = AREA / exp(-EDGE);
    x[1] = EDGE;
    let mut i = 2;
    while i < LAYERS {
        x[i] = -ln(AREA / x[i - 1] + exp(-x[i - 1]));
        i += 1;
    }
    x
}

const fn heights() -> [f64; LAYERS + 1] {
    let mut f = [0.0; LAYERS + 1];
    let mut i = 0;
    while i <= LAYERS {
        f[i] = exp(-X[i]);
        i += 1;
    }
    f
}

impl Stream {
    /// Exponential of mean 1, quickly: other numbers than [`Stream::exponential`], the same on every machine.
    #[inline]
    pub fn quick_exponential(&mut self) -> f64 {
        static EDGES: [f64; LAYERS + 1] = X;
        let bits = self.bits();
        let layer = (bits & 255) as usize;
        let x = (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64) * EDGES[layer];
        if x < EDGES[layer + 1] {
            return x;
        }
        self.edge(layer, x)
    }

    /// The one time in ninety in which the point is not inside its layer's rectangle.
    #[cold]
    fn edge(&mut self, layer: usize, x: f64) -> f64 {
        static HEIGHTS: [f64; LAYERS + 1] = F;
        if layer == 0 {
            // Beyond the edge it is an exponential again.
            return EDGE + self.quick_exponential();
        }
        let y = HEIGHTS[layer] + self.uniform() * (HEIGHTS[layer + 1] - HEIGHTS[layer]);
        if y < exp(-x) {
            x
        } else {
            self.quick_exponential()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layers_close_at_the_top() {
        // The 256th layer's area must come out as AREA too; the paper's r and v are right if it does.
        assert!((X[LAYERS - 1] * (1.0 - F[LAYERS - 1]) / AREA - 1.0).abs() < 1e-9);
        assert!((X[0] - (EDGE + 1.0)).abs() < 1.0);
    }

    #[test]
    fn moments_and_distribution_are_those_of_an_exponential() {
        let mut stream = Stream::new(1, "ziggurat");
        let n = 400_000;
        let mut x: Vec<f64> = (0..n).map(|_| stream.quick_exponential()).collect();
        let nf = f64::from(n);
        // Raw moments k!, their standard errors sqrt(((2k)! - k!²)/n); 4.5 of them each.
        for (k, moment, second) in [(1, 1.0, 2.0), (2, 2.0, 24.0), (3, 6.0, 720.0)] {
            let mean: f64 = x.iter().map(|v| v.powi(k)).sum::<f64>() / nf;
            let error = ((second - moment * moment) / nf).sqrt();
            assert!((mean - moment).abs() < 4.5 * error, "moment {k}: {mean}");
        }
        x.sort_by(f64::total_cmp);
        // Kolmogorov-Smirnov: P(D sqrt(n) > 2.4) is 2e-5.
        let distance = x.iter().enumerate().map(|(i, v)| {
            let f = 1.0 - (-v).exp();
            (f - i as f64 / nf).abs().max((f - (i + 1) as f64 / nf).abs())
        });
        assert!(distance.fold(0.0, f64::max) * nf.sqrt() < 2.4);
        // Beyond the edge: a share of e^-r = 4.54e-4, 182 expected, standard deviation 13.5.
        let tail = x.iter().filter(|v| **v > EDGE).count() as f64;
        assert!((tail - nf * (-EDGE).exp()).abs() < 4.5 * 13.5, "{tail}");
    }
}
