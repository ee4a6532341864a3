//! Networks: product forms, blocking, limits, choices, changing classes, arrivals; the order of things; laws.

mod common;

use common::{closed, exponential, make, near, open, queue, run, with, Outcome};
use serde_json::{json, Value};

fn queues(n: usize) -> Vec<Value> {
    (0..n).map(|i| queue(&format!("q{i}"), json!({}))).collect()
}

/// Exact MVA of one class: throughput and residence times (Reiser and Lavenberg 1980).
fn mva(demands: &[f64], think_s: f64, population: u32) -> (f64, Vec<f64>) {
    let mut numbers = vec![0.0; demands.len()];
    let mut answer = (0.0, vec![]);
    for n in 1..=population {
        let residence: Vec<f64> = demands.iter().zip(&numbers).map(|(d, q)| d * (1.0 + q)).collect();
        let x = f64::from(n) / (think_s + residence.iter().sum::<f64>());
        numbers = residence.iter().map(|r| x * r).collect();
        answer = (x, residence);
    }
    answer
}

#[test]
fn a_closed_cycle_agrees_with_mva() {
    let means = [0.020, 0.018, 0.016, 0.014, 0.012, 0.010];
    let service: Vec<Value> = means.iter().map(|m| json!([exponential(*m)])).collect();
    let config = with(closed(&queues(6), 50, None, json!(service)), "batch_s", json!(0.1));
    let out = run(&config, 100_000);
    let (x, residence) = mva(&means, 0.0, 50);
    near(out.throughput(6, 0), x);
    (1..6).for_each(|k| near(out.response(k, 0), residence[k]));
    // Little's law over the whole is exact: 50 customers at all times.
    let (number, _) = out.ratio(6, 0, "present", "time");
    assert!((number - 50.0).abs() < 1e-9, "{number}");
}

#[test]
fn a_pass_without_think_time_is_counted_at_its_end() {
    let config =
        closed(&queues(2), 5, Some(exponential(2.0)), json!([[exponential(0.3)], [exponential(0.5)]]));
    let out = run(&config, 200_000);
    let (x, residence) = mva(&[0.3, 0.5], 2.0, 5);
    near(out.throughput(2, 0), x);
    near(out.response(2, 0), residence.iter().sum());
}

#[test]
fn who_cannot_go_on_blocks_the_server() {
    // Two customers, rates 1 and 2, one place at the second: states (2,0), (1,1), (blocked,1) have weights 2, 1, 1/2.
    let mut stations = queues(2);
    stations[1]["capacity"] = json!(1);
    stations[1]["on_full"] = json!("block");
    let out = run(&closed(&stations, 2, None, json!([[exponential(1.0)], [exponential(0.5)]])), 200_000);
    near(out.throughput(2, 0), 2.0 * 1.5 / 3.5);
    near(out.ratio(0, 0, "busy", "time"), 3.0 / 3.5);
    near(out.ratio(0, 0, "present", "time"), (4.0 + 1.0 + 0.5) / 3.5);
}

#[test]
fn a_circle_of_full_stations_ends() {
    // Each holds one that wants to go to the other: nothing can happen any more, and the simulation says so.
    let mut stations = queues(2);
    for station in &mut stations {
        station["capacity"] = json!(1);
        station["on_full"] = json!("block");
    }
    let config =
        closed(&stations, 2, Some(exponential(1.0)), json!([[exponential(1.0)], [exponential(1.0)]]));
    let routes = json!([{"node": 2, "class": 0, "to": [[0, 0, 1.0]]}, {"node": 0, "class": 0, "to": [[1, 0, 1.0]]},
                        {"node": 1, "class": 0, "to": [[0, 0, 0.5], [2, 0, 0.5]]}]);
    let mut simulation = make(&with(config, "routes", routes));
    simulation.run(None, Some(1000), None);
    assert!(simulation.ended());
}

#[test]
fn a_region_that_loses_is_erlangs_b() {
    // Three places over two delays in a row, load 2: B = (8/6) / (1 + 2 + 2 + 8/6).
    let stations: Vec<Value> = ["x", "y"].map(|n| json!({"name": n, "kind": "delay"})).to_vec();
    let config = open(&stations, &[2.0], json!([[exponential(0.4)], [exponential(0.6)]]));
    let region = json!([{"name": "r", "size": 3, "stations": [0, 1], "on_full": "lose"}]);
    let out = run(&with(config, "limits", region), 200_000);
    near(out.ratio(3, 0, "losses", "arrivals"), (8.0 / 6.0) / (5.0 + 8.0 / 6.0));
    near(out.ratio(2, 0, "losses", "arrivals"), (8.0 / 6.0) / (5.0 + 8.0 / 6.0));
}

#[test]
fn nested_limits_are_kept_and_given_back() {
    let service = json!([[exponential(0.3)], [exponential(0.5)], [exponential(0.2)]]);
    let mut stations = queues(3);
    stations[2]["capacity"] = json!(2);
    stations[2]["on_full"] = json!("block");
    let limits = json!([{"name": "outer", "size": 3, "stations": [0, 1, 2]},
                        {"name": "inner", "size": 2, "stations": [1, 2]}]);
    let config = with(closed(&stations, 8, Some(exponential(1.0)), service), "limits", limits);
    let mut simulation = make(&config);
    simulation.run(None, Some(100_000), None);
    let out = Outcome::new(&simulation);
    assert!(!simulation.ended());
    let (inside, _) = out.ratio(4, 0, "busy", "time");
    let (inner, _) = out.ratio(5, 0, "busy", "time");
    let number = |k: usize| out.ratio(k, 0, "present", "time").0;
    assert!(inside <= 3.0 && inner <= 2.0);
    // Places of the inner limit are held by those at its stations; of the outer also by those who wait for the inner.
    assert!((inner - number(1) - number(2)).abs() < 1e-6);
    let waiting = out.ratio(5, 0, "present", "time").0 - inner;
    assert!((inside - number(0) - number(1) - number(2) - waiting).abs() < 1e-6);
}

fn choice(policy: &str, d: usize) -> Value {
    let config = open(&queues(2), &[1.4], json!([[exponential(1.0)], [exponential(1.0)]]));
    let routes = json!([{"node": 2, "class": 0, "choice": {"policy": policy, "to": [0, 1], "d": d}},
                        {"node": 0, "class": 0, "to": [[2, 0, 1.0]]}, {"node": 1, "class": 0, "to": [[2, 0, 1.0]]}]);
    with(config, "routes", routes)
}

#[test]
fn choices_are_made_by_their_policy() {
    // Random: M/M/1 at 0.7. Round robin: E2/M/1, T = 1/(1 - sigma) with sigma = (1.4/(1.4 + 1 - sigma))², Kleinrock 6.4.
    near(run(&choice("random", 2), 300_000).response(2, 0), 1.0 / 0.3);
    let sigma = (0..200).fold(0.5f64, |s, _| (1.4 / (2.4 - s)).powi(2));
    near(run(&choice("round_robin", 2), 300_000).response(2, 0), 1.0 / (1.0 - sigma));
    // The shorter of two: at least the M/M/2 time 1/(1 - 0.49), less than round robin; power of two is the same here.
    let jsq = run(&choice("jsq", 2), 300_000).response(2, 0);
    assert!(jsq.0 > 1.0 / 0.51 && jsq.0 < 1.0 / (1.0 - sigma));
    let power = run(&choice("power", 2), 300_000).response(2, 0);
    assert!((power.0 - jsq.0).abs() < 4.0 * power.1.hypot(jsq.1));
}

#[test]
fn a_class_changes_and_the_pass_is_counted_where_it_began() {
    // Half of class a come back as class b: M/M/1 with load 0.4 + 0.2, product form (equal exponential services).
    let station = queues(1);
    let config = json!({"seed": 3, "stations": station, "batch_s": 10.0, "batches": 64,
        "classes": [{"name": "a", "arrivals": exponential(2.5)}, {"name": "b"}],
        "service": [[exponential(1.0), exponential(1.0)]],
        "routes": [{"node": 1, "class": 0, "to": [[0, 0, 1.0]]},
                   {"node": 0, "class": 0, "to": [[1, 0, 0.5], [0, 1, 0.5]]},
                   {"node": 0, "class": 1, "to": [[1, 1, 1.0]]}]});
    let out = run(&config, 300_000);
    near(out.throughput(0, 1), 0.2);
    near(out.response(1, 0), 1.5 / 0.4);
    assert_eq!(out.total(1, 1, "completions"), 0.0);
}

fn arriving(arrivals: Value, service: Value) -> Value {
    let mut config = open(&queues(1), &[1.0], json!([[service]]));
    config["classes"][0]["arrivals"] = arrivals;
    config
}

#[test]
fn markovian_arrivals_and_steps() {
    // A MAP of two phases with one rate is Poisson; an Erlang-2 written as a MAP gives E2/M/1.
    let poisson = json!({"kind": "map", "D0": [[-1.7, 1.0], [1.0, -1.7]], "D1": [[0.7, 0.0], [0.0, 0.7]]});
    near(run(&arriving(poisson, exponential(1.0)), 300_000).response(0, 0), 1.0 / 0.3);
    let erlang = json!({"kind": "map", "D0": [[-1.4, 1.4], [0.0, -1.4]], "D1": [[0.0, 0.0], [1.4, 0.0]]});
    let sigma = (0..200).fold(0.5f64, |s, _| (1.4 / (2.4 - s)).powi(2));
    near(run(&arriving(erlang, exponential(1.0)), 300_000).response(0, 0), 1.0 / (1.0 - sigma));
    // Rates 1 and 3, 50 s each, again and again, in the time series too.
    let steps = json!({"kind": "steps", "steps": [[1.0, 50.0], [3.0, 50.0]]});
    let config = with(arriving(steps, exponential(0.01)), "period_s", json!(50.0));
    let mut simulation = make(&config);
    simulation.run(Some(20_000.0), None, None);
    let series = simulation.series().unwrap();
    let rows: Vec<f64> = series.rows.chunks_exact(series.width).map(|r| r[0]).collect();
    assert_eq!(rows.len(), 400);
    let low: f64 = rows.iter().step_by(2).sum();
    let high: f64 = rows.iter().skip(1).step_by(2).sum();
    // Poisson counts of 10000 and 30000; 4.5 standard deviations.
    assert!((low - 1e4).abs() < 450.0 && (high - 3e4).abs() < 780.0, "{low} {high}");
}

#[test]
fn a_trace_is_worked_off_by_hand() {
    // Service 1 s: arrivals at 0, 0.5, 4 leave at 1, 2, 5; then nothing happens any more.
    let trace = json!({"kind": "trace", "times_s": [0.0, 0.5, 4.0]});
    let config = arriving(trace, json!({"kind": "deterministic", "mean": 1.0}));
    let mut simulation = make(&with(config, "batch_s", json!(1.5)));
    simulation.run(None, None, None);
    assert!(simulation.ended());
    assert_eq!((simulation.now_s(), simulation.completions(), simulation.customers()), (5.0, 3, 0));
    simulation.run(Some(6.0), None, None);
    let counts = simulation.batches();
    assert_eq!(counts.rows.len() / counts.width, 3);
    let first = &counts.rows[..10];
    assert_eq!(first, [2.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 2.0, 1.5]);
}

#[test]
fn servers_come_and_go_by_the_schedule() {
    // Four at 0, services of 1 s: one server until 1.5, then three (0-1, 1-2, 1.5-2.5, 1.5-2.5).
    let trace = json!({"kind": "trace", "times_s": [0.0, 0.0, 0.0, 0.0]});
    let mut config = arriving(trace, json!({"kind": "deterministic", "mean": 1.0}));
    config["stations"][0]["schedule"] = json!([[0.0, 1], [1.5, 3]]);
    let mut simulation = make(&with(config, "batch_s", json!(10.0)));
    simulation.run(Some(10.0), None, None);
    let rows = simulation.batches().rows;
    assert_eq!((rows[1], rows[3], rows[9]), (4.0, 1.0 + 2.0 + 2.5 + 2.5, 4.0));
}

#[test]
fn the_same_seed_gives_the_same_bits_in_one_piece_or_many() {
    let config =
        closed(&queues(2), 5, Some(exponential(2.0)), json!([[exponential(0.3)], [exponential(0.5)]]));
    let (mut whole, mut pieces) = (make(&config), make(&config));
    whole.run(Some(5000.0), None, None);
    while pieces.now_s() < 5000.0 {
        let next = (pieces.now_s() + 333.3).min(5000.0);
        pieces.run(Some(next), None, None);
    }
    assert_eq!(whole.batches().rows, pieces.batches().rows);
    assert_eq!(whole.completions(), pieces.completions());
    let mut other = make(&with(config, "replication", json!(1)));
    other.run(Some(5000.0), None, None);
    assert_ne!(whole.batches().rows, other.batches().rows);
}

#[test]
fn a_station_more_leaves_the_arrivals_as_they_are() {
    // Common random numbers: the first station sees the same arrivals and services in both models.
    let one = open(&queues(1), &[0.5], json!([[exponential(1.0)]]));
    let two = open(&queues(2), &[0.5], json!([[exponential(1.0)], [exponential(1.0)]]));
    let (mut a, mut b) = (make(&one), make(&two));
    a.run(Some(1000.0), None, None);
    b.run(Some(1000.0), None, None);
    let first = |s: &sojourn_des::network::Simulation| {
        let counts = s.batches();
        counts.rows.chunks_exact(counts.width).map(|r| r[..10].to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(first(&a), first(&b));
}

#[test]
fn histograms_hold_every_response_time() {
    let config =
        with(open(&queues(1), &[0.8], json!([[exponential(1.0)]])), "histograms", json!(["q0/a", "/"]));
    let mut simulation = make(&config);
    simulation.run(Some(100_000.0), None, None);
    let (edges, rows, group_s) = simulation.histogram("q0/a").unwrap();
    let counts: Vec<u64> = (0..edges.len() - 1).map(|i| rows.iter().map(|r| r[i]).sum()).collect();
    let all: u64 = counts.iter().sum();
    assert!((all as f64 / (group_s * rows.len() as f64) - 0.8).abs() < 0.02);
    // The 0.9 quantile of an exponential of mean 5 is 5 ln 10.
    let mut seen = 0;
    let bin = counts.iter().position(|c| {
        seen += c;
        seen as f64 >= 0.9 * all as f64
    });
    assert!((edges[bin.unwrap()] / (5.0 * 10f64.ln()) - 1.0).abs() < 0.1);
    assert!(simulation.histogram("/").is_some() && simulation.histogram("q0/b").is_none());
}

#[test]
fn a_pass_through_no_station_is_a_response_time_of_none() {
    let routes = json!([{"node": 1, "class": 0, "to": [[0, 0, 0.8], [1, 0, 0.2]]},
                        {"node": 0, "class": 0, "to": [[1, 0, 1.0]]}]);
    let config = with(open(&queues(1), &[0.8], json!([[exponential(1.0)]])), "routes", routes);
    for engine in ["events", "auto"] {
        let config = with(with(config.clone(), "histograms", json!(["/a"])), "engine", json!(engine));
        let mut simulation = make(&config);
        simulation.run(Some(100_000.0), None, None);
        let (edges, rows, group_s) = simulation.histogram("/a").unwrap();
        let count = |i: usize| rows.iter().map(|r| r[i]).sum::<u64>() as f64 / (group_s * rows.len() as f64);
        let all: f64 = (0..edges.len() - 1).map(count).sum();
        assert!(
            (count(0) - 0.16).abs() < 0.01 && (all - 0.8).abs() < 0.02,
            "{engine}: {} of {all}",
            count(0)
        );
    }
}

#[test]
fn mistakes_are_refused_with_place_and_remedy() {
    let good = open(&queues(1), &[0.8], json!([[exponential(1.0)]]));
    let refused = |config: &Value| {
        sojourn_des::network::Simulation::from_json(&config.to_string()).unwrap_err().to_string()
    };
    let bad = [
        (with(good.clone(), "batch_s", json!(0.0)), "batch_s"),
        (with(good.clone(), "service", json!([])), "service"),
        (with(good.clone(), "routes", json!([])), "classes.a.routes"),
        (with(good.clone(), "classes", json!([])), "classes"),
        (with(good.clone(), "histograms", json!(["x/a"])), "histograms"),
        (with(good.clone(), "limits", json!([{"name": "l", "size": 0, "stations": [0]}])), "limits.l.size"),
        (with(good.clone(), "stations", json!([queue("q", json!({"servers": 0}))])), "stations.q.servers"),
        (with(good.clone(), "stations", json!([queue("q", json!({"capacity": 0}))])), "stations.q.capacity"),
        (with(good, "colour", json!(1)), "colour"),
    ];
    for (config, names) in bad {
        assert!(refused(&config).contains(names), "{}", refused(&config));
    }
    let lost = closed(&[queue("q", json!({"capacity": 1}))], 2, None, json!([[exponential(1.0)]]));
    assert!(refused(&lost).contains("think_s"));
}
