//! Random networks: what no model may break, whatever is combined.

mod common;

use common::{exponential, make, queue, variable};
use proptest::prelude::*;
use serde_json::{json, Value};
use sojourn_des::network::WIDTH;

const DISCIPLINES: [&str; 6] = ["fcfs", "ps", "lcfs_pr", "siro", "priority", "priority_preemptive"];

fn station(i: usize, (discipline, servers, capacity, kind): (usize, u32, u32, usize)) -> Value {
    let name = format!("s{i}");
    match kind {
        0 => json!({"name": name, "kind": "delay"}),
        1 => json!({"name": name, "kind": "fork_join", "branches": servers}),
        2 => {
            json!({"name": name, "kind": "load_dependent", "rates": [1.0, 1.5], "discipline": DISCIPLINES[discipline % 2]})
        }
        3 => queue(
            &name,
            json!({"servers": servers, "discipline": DISCIPLINES[discipline],
                                 "breakdowns": {"up": exponential(5.0), "down": exponential(1.0)}}),
        ),
        4 => queue(
            &name,
            json!({"servers": servers, "discipline": DISCIPLINES[discipline],
                                 "schedule": [[3.0, 1], [5.0, servers]], "period_s": 7.0}),
        ),
        _ => queue(
            &name,
            json!({"servers": servers, "discipline": DISCIPLINES[discipline],
                                 "capacity": capacity, "on_full": "block"}),
        ),
    }
}

/// Closed classes "a" and "b" (they change into each other) on all stations, with two limits.
fn network(stations: &[(usize, u32, u32, usize)], limit: u32, seed: u64, think: bool) -> Value {
    let k = stations.len();
    let all: Vec<Value> = stations.iter().enumerate().map(|(i, s)| station(i, *s)).collect();
    let class = |name: &str, population: u32, priority: u32| {
        let think = think.then(|| exponential(0.5));
        json!({"name": name, "population": population, "priority": priority, "think": think})
    };
    let next = |i: usize, c: usize| json!({"node": i, "class": c, "to": [[(i + 1) % (k + 1), c, 0.6], [(i * 7 + 1) % k, 1 - c, 0.3], [k, c, 0.1]]});
    let mut routes: Vec<Value> = (0..k).flat_map(|i| [next(i, 0), next(i, 1)]).collect();
    routes.push(json!({"node": k, "class": 0, "to": [[0, 0, 1.0]]}));
    routes
        .push(json!({"node": k, "class": 1, "choice": {"policy": "jsq", "to": (0..k).collect::<Vec<_>>()}}));
    json!({"seed": seed, "stations": all, "classes": [class("a", 4, 1), class("b", 3, 0)],
           "service": vec![json!([exponential(0.4), variable()]); k], "routes": routes, "batch_s": 1.0, "batches": 64,
           "limits": [{"name": "l", "size": limit, "stations": [0, k - 1]},
                      {"name": "m", "size": limit + 1, "stations": [k / 2]}],
           "histograms": ["/", "s0/"], "period_s": 2.5})
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() })]
    #[test]
    fn nobody_is_made_or_lost(
        stations in prop::collection::vec((0..6usize, 1..4u32, 1..5u32, 0..8usize), 1..5),
        limit in 1..6u32, seed: u64, think: bool,
    ) {
        let config = network(&stations, limit, seed, think);
        let mut simulation = make(&config);
        simulation.run(Some(300.0), None, None);
        prop_assert_eq!(simulation.customers(), 7);
        let (counts, k) = (simulation.batches(), stations.len());
        let length_s = counts.length_s;
        for row in counts.rows.chunks_exact(counts.width) {
            let cell = |node: usize, column: usize| -> f64 { (0..2).map(|c| row[(node * 2 + c) * WIDTH + column]).sum() };
            let (present, busy) = (|node| cell(node, 8) / length_s, |node| cell(node, 9) / length_s);
            let inside: f64 = (0..k).map(present).sum();
            let waiting: f64 = (k + 1..k + 3).map(|l| present(l) - busy(l)).sum();
            // At stations or waiting for a limit is in a pass; a pass may also wait outside for room.
            prop_assert!(inside + waiting <= present(k) + 1e-9);
            prop_assert!(present(k) <= 7.0 + 1e-9);
            prop_assert!(think || present(k) >= 7.0 - 1e-9);
            for (i, (_, servers, capacity, kind)) in stations.iter().enumerate() {
                let seats = match kind { 0 => 7.0, 2 => 1.0, _ => f64::from(*servers) };
                // Fork-join credits its work at the end of a visit, so that a short batch may hold more.
                prop_assert!(*kind == 1 || busy(i) <= seats + 1e-9, "{i}: {}", busy(i));
                prop_assert!(*kind < 5 || present(i) <= f64::from(*capacity) + 1e-9);
                prop_assert!(present(i) >= -1e-9 && busy(i) >= -1e-9);
            }
            prop_assert!(busy(k + 1) <= f64::from(limit) + 1e-9 && busy(k + 2) <= f64::from(limit) + 1.0 + 1e-9);
        }
    }

    #[test]
    fn forward_networks_are_the_same_for_both_engines(
        stations in prop::collection::vec((0..2usize, 1..4u32), 1..5), seed: u64,
    ) {
        let k = stations.len();
        let all: Vec<Value> = stations.iter().enumerate().map(|(i, (kind, servers))| match kind {
            0 => json!({"name": format!("s{i}"), "kind": "delay"}),
            _ => queue(&format!("s{i}"), json!({"servers": servers})),
        }).collect();
        let next = |i: usize| json!({"node": i, "class": 0, "to": [[i + 1, 0, 0.75], [k, 0, 0.25]]});
        let mut routes: Vec<Value> = (0..k).map(next).collect();
        routes.push(json!({"node": k, "class": 0, "to": [[0, 0, 0.5], [k - 1, 0, 0.5]]}));
        let mut config = json!({"seed": seed, "stations": all, "classes": [{"name": "a", "arrivals": variable()}],
            "service": vec![json!([exponential(0.8)]); k], "routes": routes, "batch_s": 3.0, "batches": 64});
        let mut a = make(&config);
        config["engine"] = json!("events");
        let mut b = make(&config);
        a.run(Some(2000.0), None, None);
        b.run(Some(2000.0), None, None);
        prop_assert_eq!(a.engine(), "recursion");
        prop_assert_eq!(a.completions(), b.completions());
        for (x, y) in a.batches().rows.iter().zip(b.batches().rows) {
            prop_assert!((x - y).abs() <= 1e-7 * (1.0 + y.abs()), "{} and {}", x, y);
        }
    }
}
