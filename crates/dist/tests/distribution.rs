//! Distributions: moments of samples against the closed forms, quantiles, errors.

use sojourn_dist::{Distribution, Sampler, Stream};

fn all() -> Vec<(Distribution, f64, f64)> {
    // (distribution, mean, squared coefficient of variation), the moments by hand:
    // H2: mean 0.3·1 + 0.7·3 = 2.4; second moment 2(0.3 + 0.7·9) = 13.2; 13.2/5.76 - 1.
    vec![
        (Distribution::Exponential { mean: 2.0 }, 2.0, 1.0),
        (Distribution::Deterministic { mean: 2.0 }, 2.0, 0.0),
        (Distribution::Erlang { mean: 2.0, shape: 4 }, 2.0, 0.25),
        (
            Distribution::Hyperexponential { probabilities: vec![0.3, 0.7], means: vec![1.0, 3.0] },
            2.4,
            13.2 / 5.76 - 1.0,
        ),
        (Distribution::Uniform { low: 1.0, high: 3.0 }, 2.0, 1.0 / 12.0),
        (Distribution::Lognormal { mean: 2.0, scv: 0.5 }, 2.0, 0.5),
        // Weibull of shape 2: E[X²]/E[X]² = Γ(2)/Γ(3/2)² = 4/π. Pareto: 1/(a(a - 2)).
        (Distribution::Weibull { mean: 2.0, shape: 2.0 }, 2.0, 4.0 / std::f64::consts::PI - 1.0),
        (Distribution::Pareto { mean: 2.0, shape: 8.0 }, 2.0, 1.0 / 48.0),
        // Erlang-2 of mean 2 written as phases; 1 and 3 with equal chance.
        (
            Distribution::PhaseType { start: vec![1.0, 0.0], rates: vec![vec![-1.0, 1.0], vec![0.0, -1.0]] },
            2.0,
            0.5,
        ),
        (Distribution::Empirical { values: vec![1.0, 3.0] }, 2.0, 0.25),
    ]
}

#[test]
fn samples_have_the_stated_moments() {
    for (distribution, mean, scv) in all() {
        assert!(distribution.validate().is_ok());
        assert!((distribution.mean() - mean).abs() < 1e-12, "{distribution:?}");
        assert!((distribution.scv() - scv).abs() < 1e-12, "{distribution:?}");
        let (mut stream, sampler) = (Stream::new(7, "moments"), Sampler::new(&distribution));
        moments(&distribution, mean, scv, || distribution.sample(&mut stream));
        moments(&distribution, mean, scv, || sampler.draw(&mut stream));
    }
}

fn moments(distribution: &Distribution, mean: f64, scv: f64, mut draw: impl FnMut() -> f64) {
    let n = 200_000;
    let samples: Vec<f64> = (0..n).map(|_| draw()).collect();
    let sampled = samples.iter().sum::<f64>() / f64::from(n);
    let error = mean * (scv / f64::from(n)).sqrt();
    assert!((sampled - mean).abs() <= 4.5 * error + 1e-12, "{distribution:?}");
    let variance: f64 = samples.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(n);
    assert!((variance / (mean * mean) - scv).abs() < 0.05, "{distribution:?}");
}

#[test]
fn quantiles_match_the_closed_forms() {
    let exponential = Distribution::Exponential { mean: 2.0 };
    assert!((exponential.quantile(0.5).unwrap() - 2.0 * 2f64.ln()).abs() < 1e-15);
    assert_eq!(Distribution::Uniform { low: 1.0, high: 3.0 }.quantile(0.25), Some(1.5));
    assert_eq!(Distribution::Deterministic { mean: 2.0 }.quantile(0.9), Some(2.0));
    // The median of a lognormal is mean / sqrt(1 + scv).
    let lognormal = Distribution::Lognormal { mean: 2.0, scv: 0.5 };
    assert!((lognormal.quantile(0.5).unwrap() - 2.0 / 1.5f64.sqrt()).abs() < 1e-14);
    assert_eq!(Distribution::Erlang { mean: 1.0, shape: 2 }.quantile(0.5), None);
}

#[test]
fn below_is_even() {
    let mut stream = Stream::new(1, "below");
    let mut counts = [0u32; 7];
    for _ in 0..70_000 {
        counts[stream.below(7) as usize] += 1;
    }
    // Chi-square with 6 degrees of freedom: above 33.1 with probability 1e-5.
    let chi: f64 = counts.iter().map(|c| (f64::from(*c) - 1e4).powi(2) / 1e4).sum();
    assert!(chi < 33.1, "{counts:?}");
    assert_eq!(stream.below(0), 0);
    assert_eq!(stream.below(1), 0);
}

#[test]
fn bad_parameters_are_refused_by_name() {
    let two = |probabilities, means| Distribution::Hyperexponential { probabilities, means };
    let bad = [
        (Distribution::Exponential { mean: -1.0 }, "mean is -1"),
        (Distribution::Exponential { mean: f64::NAN }, "mean is NaN"),
        (Distribution::Erlang { mean: 1.0, shape: 0 }, "shape is 0"),
        (Distribution::Uniform { low: 2.0, high: 1.0 }, "high is 1"),
        (Distribution::Lognormal { mean: 0.0, scv: 1.0 }, "mean is 0"),
        (Distribution::Weibull { mean: 1.0, shape: 0.0 }, "shape is 0"),
        (Distribution::Pareto { mean: 1.0, shape: 1.0 }, "shape is 1"),
        (Distribution::Empirical { values: vec![] }, "it is empty"),
        (Distribution::PhaseType { start: vec![1.0], rates: vec![vec![1.0]] }, "rates[0][0] is 1"),
        (Distribution::PhaseType { start: vec![0.5], rates: vec![vec![-1.0]] }, "its sum is 0.5"),
        (two(vec![0.5, 0.6], vec![1.0, 1.0]), "their sum is 1.1"),
        (two(vec![0.5], vec![1.0, 1.0]), "1 probabilities for 2 means"),
        (two(vec![-0.5, 1.5], vec![1.0, 1.0]), "probabilities[0] is -0.5"),
    ];
    for (distribution, names) in bad {
        let message = distribution.validate().unwrap_err().to_string();
        assert!(message.contains(names), "{message}");
    }
}
