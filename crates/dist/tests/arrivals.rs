//! Arrival processes: frozen values, rate, variation, independence, distribution, invariants, errors.

use proptest::prelude::*;
use sojourn_dist::{Arrivals, DistError, Stream};

fn gaps(times: &[f64]) -> Vec<f64> {
    times.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

#[test]
fn first_values_are_frozen() {
    // Computed by a second program (Python) from the published algorithms.
    let mut stream = Stream::new(1, "lane 0");
    let first = [0.5942565510238231, 0.38887417109980604, 0.21877241614327392];
    assert_eq!(first.map(|_| stream.uniform()), first);
    assert_eq!(Stream::new(1, "lane 1").uniform(), 0.003178148275009729);
    assert_eq!(Stream::new(2, "lane 0").uniform(), 0.6266852166266831);
    let times = Arrivals::Poisson { rate_per_s: 100.0 }.schedule(1, "lane 0", 1.0);
    let expected = [0.009020342181862248, 0.013944866199191629, 0.016413753909257214];
    for (time, expected) in times.zip(expected) {
        assert!((time / expected - 1.0).abs() < 1e-14, "{time}");
    }
}

#[test]
fn poisson_has_its_rate_variation_independence_and_distribution() {
    for seed in 0..10 {
        let process = Arrivals::Poisson { rate_per_s: 200.0 };
        let times: Vec<f64> = process.schedule(seed, "a", 100.0).collect();
        // The count is Poisson with mean and variance 20000; bounds of 4.5 sigma (7e-6 each).
        assert!((times.len() as f64 - 20000.0).abs() < 4.5 * 20000f64.sqrt(), "{}", times.len());
        let mut gaps = gaps(&times);
        let (n, m) = (gaps.len() as f64, mean(&gaps));
        let deviations: Vec<f64> = gaps.iter().map(|g| g - m).collect();
        let variance = mean(&deviations.iter().map(|d| d * d).collect::<Vec<_>>());
        // The CV estimator of an exponential has a standard error of 1/sqrt(n); lag 1 also 1/sqrt(n).
        assert!((variance.sqrt() / m - 1.0).abs() < 4.5 / n.sqrt());
        let lag: Vec<f64> = deviations.windows(2).map(|d| d[0] * d[1]).collect();
        assert!((mean(&lag) / variance).abs() < 4.5 / n.sqrt());
        // Kolmogorov-Smirnov against the exponential: P(D sqrt(n) > 2.4) is 2 exp(-2 2.4²) = 2e-5.
        gaps.sort_by(f64::total_cmp);
        let distance = gaps.iter().enumerate().map(|(i, g)| {
            let f = 1.0 - (-200.0 * g).exp();
            (f - i as f64 / n).abs().max((f - (i + 1) as f64 / n).abs())
        });
        assert!(distance.fold(0.0, f64::max) * n.sqrt() < 2.4);
    }
}

#[test]
fn shares_are_the_schedule_cut_once_and_each_is_poisson() {
    let (process, name) = (Arrivals::Poisson { rate_per_s: 800.0 }, "lane 0 arrivals");
    let whole: Vec<f64> = process.schedule(7, name, 50.0).collect();
    for count in [1, 2, 4, 1000] {
        let share = |k| process.schedule(7, name, 50.0).share(k, count, 7, "owners").collect::<Vec<f64>>();
        let shares: Vec<Vec<f64>> = (0..count).map(share).collect();
        let mut union = shares.concat();
        union.sort_by(f64::total_cmp);
        assert_eq!(union, whole, "to the last bit");
        // Each is Poisson with a mean of 40000 / count; 5 sigma of it (6e-7), and 1 for the discreteness of small counts.
        let mean = 40000.0 / count as f64;
        if count < 1000 {
            assert!(shares.iter().all(|s| (s.len() as f64 - mean).abs() < 5.0 * mean.sqrt() + 1.0));
        }
    }
}

#[test]
fn a_share_is_independent_of_the_others() {
    // Counts of 0.1 s in two shares of a Poisson process are independent: their correlation has a standard error of 1/sqrt(n).
    let process = Arrivals::Poisson { rate_per_s: 400.0 };
    let counts = |k| {
        let mut bins = vec![0.0; 1000];
        process.schedule(3, "a", 100.0).share(k, 2, 3, "b").for_each(|t| bins[(t * 10.0) as usize] += 1.0);
        bins
    };
    let (one, other) = (counts(0), counts(1));
    let (a, b) = (mean(&one), mean(&other));
    let spread = |x: &[f64], m: f64| x.iter().map(|v| (v - m) * (v - m)).sum::<f64>();
    let shared: f64 = one.iter().zip(&other).map(|(x, y)| (x - a) * (y - b)).sum();
    assert!((shared / (spread(&one, a) * spread(&other, b)).sqrt()).abs() < 4.5 / 1000f64.sqrt());
    // Variance over mean is 1 for a Poisson process, with a standard error of sqrt(2 / n).
    assert!((spread(&one, a) / 999.0 / a - 1.0).abs() < 4.5 * (2.0 / 1000f64).sqrt());
}

#[test]
fn constant_is_exact() {
    let times: Vec<f64> = Arrivals::Constant { rate_per_s: 4.0 }.schedule(9, "a", 1.0).collect();
    assert_eq!(times, [0.0, 0.25, 0.5, 0.75]);
}

#[test]
fn stratified_has_its_rate_in_each_stratum_and_the_gaps_of_a_poisson_process() {
    let times: Vec<f64> = Arrivals::Stratified { rate_per_s: 500.0 }.schedule(4, "a", 400.0).collect();
    // 1000 arrivals in each 2 s.
    let mut counts = [0; 200];
    times.iter().for_each(|time| counts[(time / 2.0) as usize] += 1);
    assert!(counts.iter().all(|count| *count == 1000), "{counts:?}");
    // Uniform in each: the mean of 200 000 uniform numbers, of variance 1/12.
    let inside = times.iter().map(|time| time / 2.0 % 1.0).sum::<f64>() / 200_000.0;
    assert!((inside - 0.5).abs() < 4.5 / (12.0 * 200_000f64).sqrt(), "{inside}");
    // One and a half strata, and less than one: still as many as the rate says, 0.4 rounded to none.
    for (duration_s, expected) in [(3.0, 1500), (0.5, 250), (0.011, 6), (0.0008, 0)] {
        let times = Arrivals::Stratified { rate_per_s: 500.0 }.schedule(5, "a", duration_s);
        assert_eq!(times.count(), expected, "{duration_s}");
    }
    // Of n uniform points on a line of length 1, P(gap > x) = (1 - x)^n (David and Nagaraja, Order Statistics, 2003, section 6.4).
    for x in [0.5, 1.0, 3.0] {
        let expected = (1.0 - x / 1000.0f64).powi(1000);
        let longer =
            times.windows(2).filter(|pair| (pair[1] - pair[0]) * 500.0 > x).count() as f64 / 199_999.0;
        assert!(
            (longer - expected).abs() < 4.5 * (expected / 200_000.0).sqrt() + 0.001,
            "{x}: {longer} {expected}"
        );
    }
}

#[test]
fn ramp_and_steps_have_their_rate_in_each_part() {
    let count =
        |times: &[f64], from: f64, to: f64| times.iter().filter(|t| (from..to).contains(*t)).count() as f64;
    let ramp = Arrivals::Ramp { from_per_s: 100.0, to_per_s: 0.0, over_s: 100.0 };
    let times: Vec<f64> = ramp.schedule(3, "a", 1e9).collect();
    // The integral of 100 - t over the first and the second half: 3750 and 1250.
    assert!((count(&times, 0.0, 50.0) - 3750.0).abs() < 4.5 * 3750f64.sqrt());
    assert!((count(&times, 50.0, 100.0) - 1250.0).abs() < 4.5 * 1250f64.sqrt());
    assert_eq!(ramp.expected(50.0), 3750.0);
    let steps = Arrivals::Steps { steps: vec![(100.0, 50.0), (0.0, 10.0), (400.0, 10.0)] };
    let times: Vec<f64> = steps.schedule(3, "a", 1e9).collect();
    assert!((count(&times, 0.0, 50.0) - 5000.0).abs() < 4.5 * 5000f64.sqrt());
    assert_eq!(count(&times, 50.0, 60.0), 0.0);
    assert!((count(&times, 60.0, 70.0) - 4000.0).abs() < 4.5 * 4000f64.sqrt());
    assert_eq!(steps.expected(65.0), 7000.0);
    assert!(times.iter().all(|t| *t < 70.0));
}

#[test]
fn trace_is_replayed_up_to_the_duration() {
    let trace = Arrivals::Trace { times_s: vec![0.0, 0.5, 0.5, 2.0] };
    assert_eq!(trace.schedule(1, "a", 2.0).collect::<Vec<_>>(), [0.0, 0.5, 0.5]);
}

#[test]
fn errors_name_the_parameter_and_the_remedy() {
    for rate_per_s in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Arrivals::Poisson { rate_per_s }.validate().unwrap_err();
        assert!(matches!(error, DistError::Range { .. }));
        assert!(error.to_string().starts_with("rate_per_s is "), "{error}");
    }
    let bad = [
        Arrivals::Ramp { from_per_s: 0.0, to_per_s: 0.0, over_s: 1.0 },
        Arrivals::Ramp { from_per_s: 1.0, to_per_s: 2.0, over_s: 0.0 },
        Arrivals::Steps { steps: vec![] },
        Arrivals::Steps { steps: vec![(1.0, -1.0)] },
        Arrivals::Trace { times_s: vec![] },
        Arrivals::Trace { times_s: vec![1.0, 0.5] },
    ];
    assert!(bad.iter().all(|process| process.validate().is_err()));
}

#[test]
fn json_is_tagged_by_kind() {
    let text = r#"{"kind":"steps","steps":[[50.0,8.0],[100.0,8.0]]}"#;
    let steps: Arrivals = serde_json::from_str(text).unwrap();
    assert_eq!(steps, Arrivals::Steps { steps: vec![(50.0, 8.0), (100.0, 8.0)] });
    assert_eq!(serde_json::to_string(&steps).unwrap(), text);
    assert!(serde_json::from_str::<Arrivals>(r#"{"kind":"poisson","rate":3}"#).is_err());
}

fn processes() -> impl Strategy<Value = Arrivals> {
    let rate = 0.0..1000.0f64;
    prop_oneof![
        (0.1..1000.0).prop_map(|rate_per_s| Arrivals::Poisson { rate_per_s }),
        (0.1..1000.0).prop_map(|rate_per_s| Arrivals::Stratified { rate_per_s }),
        (0.1..1000.0).prop_map(|rate_per_s| Arrivals::Constant { rate_per_s }),
        (rate.clone(), 0.1..1000.0, 0.1..10.0)
            .prop_map(|(from_per_s, to_per_s, over_s)| { Arrivals::Ramp { from_per_s, to_per_s, over_s } }),
        prop::collection::vec((rate, 0.1..3.0), 1..5).prop_map(|steps| Arrivals::Steps { steps }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]
    #[test]
    fn a_schedule_ascends_within_its_duration_and_repeats(process in processes(), seed: u64) {
        let times: Vec<f64> = process.schedule(seed, "a", 4.0).collect();
        prop_assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
        prop_assert!(times.iter().all(|t| (0.0..4.0).contains(t)));
        prop_assert_eq!(&times, &process.schedule(seed, "a", 4.0).collect::<Vec<_>>());
        // A longer run begins with the shorter one; strata divide a duration.
        if matches!(process, Arrivals::Stratified { .. }) {
            return Ok(());
        }
        let longer: Vec<f64> = process.schedule(seed, "a", 8.0).take(times.len()).collect();
        prop_assert_eq!(&times, &longer);
    }
}
