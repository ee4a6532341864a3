//! Weibull, Pareto, phase-type and empirical: moments, quantiles, checks, and the walk through phases.

use crate::error::{in_range, not_negative};
use crate::portable_math::ln_gamma;
use crate::random_stream::branch;
use crate::{DistError, Stream};

pub fn raw(values: &[f64], power: i32) -> f64 {
    values.iter().map(|v| v.powi(power)).sum::<f64>() / values.len() as f64
}

/// The smallest value that a share of at least u does not exceed.
pub fn empirical_quantile(values: &[f64], u: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (u * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank.min(sorted.len()).saturating_sub(1)).copied()
}

/// The scale: mean / Γ(1 + 1/shape).
pub fn weibull_scale(mean: f64, shape: f64) -> f64 {
    mean * (-ln_gamma(1.0 + 1.0 / shape)).exp()
}

pub fn weibull_scv(shape: f64) -> f64 {
    (ln_gamma(1.0 + 2.0 / shape) - 2.0 * ln_gamma(1.0 + 1.0 / shape)).exp() - 1.0
}

pub fn pareto_low(mean: f64, shape: f64) -> f64 {
    mean * (shape - 1.0) / shape
}

/// Infinite where the second moment is.
pub fn pareto_scv(shape: f64) -> f64 {
    if shape > 2.0 {
        1.0 / (shape * (shape - 2.0))
    } else {
        f64::INFINITY
    }
}

/// One walk from the first phase to absorption, s.
pub fn phases(start: &[f64], rates: &[Vec<f64>], stream: &mut Stream) -> f64 {
    let mut phase = branch(start, stream.uniform());
    let mut time = 0.0;
    loop {
        let row = &rates[phase];
        let total = -row[phase];
        time += stream.exponential() / total;
        let mut left = stream.uniform() * total;
        let next = row.iter().enumerate().find(|(j, rate)| {
            *j != phase && {
                left -= **rate;
                left < 0.0
            }
        });
        match next {
            Some((j, _)) => phase = j,
            None => return time,
        }
    }
}

/// First and second raw moment: α(-T)^-1 1 and 2 α(-T)^-2 1 (Neuts, Matrix-Geometric Solutions, 1981, section 2.2).
pub fn phase_type(start: &[f64], rates: &[Vec<f64>]) -> (f64, f64) {
    let once = solve(rates, &vec![1.0; start.len()]);
    let twice = solve(rates, &once);
    let dot = |x: &[f64]| start.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
    (dot(&once), 2.0 * dot(&twice))
}

/// Solves -T x = b by elimination; -T is a diagonally dominant M-matrix, so that no pivoting is needed.
fn solve(rates: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut a: Vec<Vec<f64>> =
        rates.iter().zip(b).map(|(row, b)| row.iter().map(|v| -v).chain([*b]).collect()).collect();
    for i in 0..n {
        let (done, rest) = a.split_at_mut(i + 1);
        for row in rest {
            let factor = row[i] / done[i][i];
            row.iter_mut().zip(&done[i]).skip(i).for_each(|(below, above)| *below -= factor * above);
        }
    }
    let mut x = vec![0.0; n];
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| a[i][j] * x[j]).sum();
        x[i] = (a[i][n] - known) / a[i][i];
    }
    x
}

/// `start` adds up to 1, `rates` is square, rows do not add up to more than 0, and absorption is reached.
pub fn validate_phases(start: &[f64], rates: &[Vec<f64>]) -> Result<(), DistError> {
    let wrong = |parameter, what, remedy| Err(DistError::List { parameter, what, remedy });
    if start.is_empty() || rates.len() != start.len() || rates.iter().any(|row| row.len() != start.len()) {
        let what = format!("{} rows for {} phases", rates.len(), start.len());
        return wrong("rates", what, "give a square matrix, a row and a column a phase");
    }
    for (i, p) in start.iter().enumerate() {
        in_range(&format!("start[{i}]"), *p, (0.0..=1.0).contains(p), "a probability in [0, 1]")?;
    }
    let sum: f64 = start.iter().sum();
    if (sum - 1.0).abs() > 1e-9 {
        return wrong("start", format!("its sum is {sum}"), "make it add up to 1");
    }
    for (i, row) in rates.iter().enumerate() {
        for (j, rate) in row.iter().enumerate() {
            let fits = if i == j { *rate < 0.0 } else { *rate >= 0.0 };
            in_range(
                &format!("rates[{i}][{j}]"),
                *rate,
                fits,
                "negative on the diagonal, 0 or more beside it",
            )?;
        }
        let sum: f64 = row.iter().sum();
        if sum > 1e-9 * -row[i] {
            return wrong("rates", format!("row {i} adds up to {sum}"), "leave 0 or less in each row");
        }
    }
    if !(phase_type(start, rates).0.is_finite() && phase_type(start, rates).0 >= 0.0) {
        return wrong("rates", "some phases never end".to_string(), "let each phase lead to absorption");
    }
    Ok(())
}

pub fn validate_values(values: &[f64]) -> Result<(), DistError> {
    if values.is_empty() {
        let what = "it is empty".to_string();
        return Err(DistError::List { parameter: "values", what, remedy: "give at least one value" });
    }
    values.iter().enumerate().try_for_each(|(i, v)| not_negative(&format!("values[{i}]"), *v))
}
