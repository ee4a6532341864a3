//! The recursion against the engine by events: the same streams, so the same customers, one by one.

mod common;

use common::{exponential, make, queue, variable, with};
use serde_json::{json, Value};

/// Splits, a merge, many servers, a delay, a class that changes.
fn forward() -> Value {
    let stations = json!([queue("in", json!({"servers": 3})), queue("left", json!({})),
                          {"name": "right", "kind": "delay"}, queue("out", json!({}))]);
    json!({"seed": 5, "stations": stations, "batch_s": 5.0, "batches": 64,
        "classes": [{"name": "a", "arrivals": exponential(1.0)}, {"name": "b", "arrivals": variable()}],
        "service": [[exponential(1.0), variable()], [exponential(0.5), exponential(0.7)],
                    [variable(), exponential(2.0)], [exponential(0.3), exponential(0.3)]],
        "histograms": ["out/a", "/"],
        "routes": [{"node": 4, "class": 0, "to": [[0, 0, 1.0]]}, {"node": 4, "class": 1, "to": [[0, 1, 0.7], [3, 1, 0.3]]},
                   {"node": 0, "class": 0, "to": [[1, 0, 0.5], [2, 0, 0.5]]},
                   {"node": 0, "class": 1, "to": [[1, 1, 0.2], [2, 0, 0.4], [4, 1, 0.4]]},
                   {"node": 1, "class": 0, "to": [[3, 0, 1.0]]}, {"node": 1, "class": 1, "to": [[3, 1, 1.0]]},
                   {"node": 2, "class": 0, "to": [[3, 0, 0.5], [4, 0, 0.5]]},
                   {"node": 3, "class": 0, "to": [[4, 0, 1.0]]}, {"node": 3, "class": 1, "to": [[4, 1, 1.0]]}]})
}

#[test]
fn both_engines_count_the_same_in_every_batch() {
    let (mut a, mut b) = (make(&forward()), make(&with(forward(), "engine", json!("events"))));
    assert_eq!((a.engine(), b.engine()), ("recursion", "events"));
    for until_s in [777.0, 20_000.0] {
        a.run(Some(until_s), None, None);
        b.run(Some(until_s), None, None);
        assert_eq!((a.now_s(), a.completions(), a.customers()), (b.now_s(), b.completions(), b.customers()));
        assert_eq!(a.batches().length_s, b.batches().length_s);
        assert_eq!(a.batches().rows.len(), b.batches().rows.len());
        for (i, (x, y)) in a.batches().rows.iter().zip(b.batches().rows).enumerate() {
            assert!((x - y).abs() <= 1e-7 * (1.0 + y.abs()), "row {i}: {x} and {y} at {until_s}");
        }
        assert_eq!(a.histogram("/").unwrap().1, b.histogram("/").unwrap().1);
        assert_eq!(a.histogram("out/a").unwrap().1, b.histogram("out/a").unwrap().1);
    }
}

#[test]
fn where_the_flow_comes_back_events_run() {
    let mut config = forward();
    config["routes"][5] = json!({"node": 1, "class": 1, "to": [[0, 1, 0.5], [3, 1, 0.5]]});
    assert_eq!(make(&config).engine(), "events");
    let told = with(config, "engine", json!("recursion"));
    let refused = sojourn_des::network::Simulation::from_json(&told.to_string()).unwrap_err();
    assert!(refused.to_string().starts_with("engine: recursion"), "{refused}");
}
