//! Networks that differ in speeds, read at once: against the laws of a machine repairman and of a tandem.

use std::time::Duration;

use sojourn_solve::markov::network_points::{solve_points, SteadyLimits};
use sojourn_solve::markov::network_spec::{NetworkSpec, RouteTarget, ServicePhase, ServiceRule, Station};
use sojourn_solve::markov::state_space::explore;

const LIMITS: SteadyLimits =
    SteadyLimits { tolerance: 1e-15, most: 200, skewed: false, limit: Duration::MAX };

fn station(rule: ServiceRule, servers: usize, rate: f64) -> Station {
    let phase = ServicePhase { class: 0, start: 1.0, done: rate, moves: vec![] };
    Station {
        rule,
        servers,
        speed: vec![],
        capacity: usize::MAX,
        block: false,
        levels: false,
        phases: vec![phase],
    }
}

/// `customers` that think for 1 s in the mean, then need `rates` one after another, in order of arrival.
fn line(customers: usize, rates: &[f64], servers: usize) -> NetworkSpec {
    let mut stations: Vec<_> = rates.iter().map(|&r| station(ServiceRule::Ordered, servers, r)).collect();
    stations.push(station(ServiceRule::Delay, usize::MAX, 1.0));
    let out = rates.len();
    let next = |k: usize| vec![RouteTarget { node: (k + 1) % (out + 1), class: 0, p: 1.0, ended: None }];
    NetworkSpec {
        stations,
        classes: 1,
        priority: vec![0],
        population: vec![customers],
        open: vec![false],
        routes: (0..=out).map(next).collect(),
        shortest: vec![false; out + 1],
        sources: vec![],
        limits: vec![],
        most_open: usize::MAX,
    }
}

/// P(0), P(1), … at the one station of a machine repairman: p(n+1)/p(n) = (N - n) z / (rate min(n + 1, m)), thinking at z.
fn repairman(customers: usize, servers: usize, rate: f64, z: f64) -> Vec<f64> {
    let mut p = vec![1.0];
    for n in 0..customers {
        p.push(p[n] * (customers - n) as f64 * z / (rate * (n + 1).min(servers) as f64));
    }
    let sum: f64 = p.iter().sum();
    p.iter().map(|v| v / sum).collect()
}

#[test]
fn each_speed_has_the_law_of_the_repairman() {
    let spec = line(9, &[3.0], 2);
    let explored = explore(&spec, 100).expect("a chain");
    // more points than are read at once, so that their order is seen
    let speeds: Vec<f64> =
        (0..150).flat_map(|i| [0.5 + 0.02 * f64::from(i), 2.0 - 0.01 * f64::from(i)]).collect();
    let found = solve_points(&spec, &explored, &speeds, LIMITS);
    assert_eq!(found.len(), 150);
    for (point, own) in found.iter().zip(speeds.chunks(2)) {
        let law = repairman(9, 2, 3.0 * own[0], own[1]);
        let worst = point.measures.numbers[0].iter().zip(&law).map(|(a, b)| (a / b - 1.0).abs());
        assert!(worst.fold(0.0, f64::max) < 1e-12);
        let done: f64 = law.iter().enumerate().map(|(n, p)| p * n.min(2) as f64 * 3.0 * own[0]).sum();
        assert!((point.measures.marks[0] / done - 1.0).abs() < 1e-12);
    }
}

#[test]
fn a_speed_is_a_rate() {
    let explored = |spec: &NetworkSpec| explore(spec, 1000).expect("a chain");
    let (slow, fast) = (line(6, &[2.0, 5.0], 1), line(6, &[3.0, 4.0], 1));
    let told = solve_points(&slow, &explored(&slow), &[1.5, 0.8, 1.0], LIMITS);
    let own = solve_points(&fast, &explored(&fast), &[1.0; 3], LIMITS);
    for (a, b) in told[0].measures.present.iter().zip(&own[0].measures.present) {
        assert!((a / b - 1.0).abs() < 1e-13);
    }
}
