//! Single stations against their closed forms; means within four standard errors, seeds fixed.

mod common;

use common::{closed, exponential, near, open, queue, run, variable, with};
use serde_json::{json, Value};

/// One open class of rate `rate` at one station.
fn one(extra: Value, rate: f64, service: Value) -> Value {
    open(&[queue("q", extra)], &[rate], json!([[service]]))
}

/// Erlang's C formula.
fn erlang_c(m: u32, load: f64) -> f64 {
    let b = (1..=m).fold(1.0, |b, k| load * b / (f64::from(k) + load * b));
    let rho = load / f64::from(m);
    b / (1.0 - rho * (1.0 - b))
}

#[test]
fn mm1_has_its_mean_second_moment_waiting_and_utilisation() {
    // Kleinrock, Queueing Systems 1 (1975), 3.2: T = 1/(mu - lambda), exponential; U = P(wait) = rho.
    let out = run(&one(json!({}), 0.8, exponential(1.0)), 400_000);
    near(out.response(0, 0), 5.0);
    near(out.ratio(0, 0, "response_s2", "completions"), 50.0);
    near(out.waiting(0, 0), 4.0);
    near(out.ratio(0, 0, "waited", "completions"), 0.8);
    near(out.ratio(0, 0, "busy", "time"), 0.8);
    near(out.ratio(0, 0, "present", "time"), 4.0);
    near(out.response(1, 0), 5.0);
}

#[test]
fn mm8_waits_by_erlang_c() {
    // Kleinrock (1975), 3.5: W = C / (m mu - lambda).
    for extra in [json!({"servers": 8}), json!({"servers": 8, "discipline": "ps"})] {
        let out = run(&one(extra, 7.2, exponential(1.0)), 400_000);
        near(out.response(0, 0), 1.0 + erlang_c(8, 7.2) / 0.8);
        near(out.ratio(0, 0, "busy", "time"), 7.2);
    }
}

#[test]
fn mg1_waits_by_pollaczek_and_khinchine() {
    // Kleinrock (1975), 5.6: W = lambda E[S²] / (2 (1 - rho)); scv 0, 1/4, 4, and a Weibull of shape 2 (4/π - 1).
    let cases = [
        (json!({"kind": "deterministic", "mean": 1.0}), 0.0),
        (json!({"kind": "erlang", "mean": 1.0, "shape": 4}), 0.25),
        (variable(), 4.0),
        (json!({"kind": "weibull", "mean": 1.0, "shape": 2.0}), 4.0 / std::f64::consts::PI - 1.0),
        (json!({"kind": "lognormal", "mean": 1.0, "scv": 0.5}), 0.5),
        (json!({"kind": "uniform", "low": 0.5, "high": 1.5}), 1.0 / 12.0),
        (json!({"kind": "empirical", "values": [0.5, 1.5]}), 0.25),
        (json!({"kind": "phase_type", "start": [1.0, 0.0], "rates": [[-2.0, 2.0], [0.0, -2.0]]}), 0.5),
        (json!({"kind": "pareto", "mean": 1.0, "shape": 6.0}), 1.0 / 24.0),
    ];
    for (service, scv) in cases {
        let out = run(&one(json!({}), 0.7, service), 300_000);
        near(out.waiting(0, 0), 0.7 * (1.0 + scv) / 0.6);
    }
}

#[test]
fn sharing_and_last_come_first_do_not_depend_on_the_distribution() {
    // Kleinrock, Queueing Systems 2 (1976), 4.4: T = S / (1 - rho) for any distribution; LCFS-PR the same.
    for discipline in ["ps", "lcfs_pr"] {
        let out = run(&one(json!({"discipline": discipline}), 0.7, variable()), 400_000);
        near(out.response(0, 0), 1.0 / 0.3);
        near(out.ratio(0, 0, "busy", "time"), 0.7);
    }
}

#[test]
fn random_order_spreads_waiting_but_keeps_its_mean() {
    // Kingman, On queues in which customers are served in random order (1962): E[W²] is 2/(2 - rho) times that of FCFS;
    // for M/M/1 FCFS E[W²] = 2 rho / (1 - rho)².
    let out = run(&one(json!({"discipline": "siro"}), 0.7, exponential(1.0)), 500_000);
    near(out.waiting(0, 0), 0.7 / 0.3);
    near(out.ratio(0, 0, "waiting_s2", "completions"), 2.0 * 0.7 / 0.09 * 2.0 / 1.3);
}

#[test]
fn priorities_wait_by_cobham() {
    // Kleinrock (1976), 3.2 (Cobham): W1 = W0/(1 - rho1), W2 = W0/((1 - rho1)(1 - rho)); 3.4 preemptive-resume:
    // T2 = s/(1 - rho1) + W0/((1 - rho1)(1 - rho)).
    let model = |discipline| {
        let station = queue("q", json!({"discipline": discipline}));
        open(&[station], &[0.3, 0.4], json!([[exponential(1.0), exponential(1.0)]]))
    };
    let out = run(&model("priority"), 500_000);
    near(out.waiting(0, 0), 0.7 / 0.7);
    near(out.waiting(0, 1), 0.7 / (0.7 * 0.3));
    let out = run(&model("priority_preemptive"), 500_000);
    near(out.response(0, 0), 1.0 / 0.7);
    near(out.response(0, 1), 1.0 / 0.7 + 0.7 / (0.7 * 0.3));
}

#[test]
fn priorities_are_ordered_whatever_numbers_they_are() {
    // Cobham as above: only the order of the numbers counts.
    for discipline in ["priority", "priority_preemptive"] {
        let station = queue("q", json!({"discipline": discipline}));
        let mut config = open(&[station], &[0.3, 0.4], json!([[exponential(1.0), exponential(1.0)]]));
        let small = run(&config, 20_000).waiting(0, 1);
        for priority in [1 << 20, u32::MAX] {
            config["classes"][1]["priority"] = json!(priority);
            assert_eq!(run(&config, 20_000).waiting(0, 1), small, "{discipline} {priority}");
        }
    }
}

#[test]
fn preemption_with_many_servers_leaves_the_first_class_alone() {
    // Class a sees M/M/3 with its own load only; equal exponential services: the whole is M/M/3.
    let station = queue("q", json!({"servers": 3, "discipline": "priority_preemptive"}));
    let out = run(&open(&[station], &[1.5, 1.0], json!([[exponential(1.0), exponential(1.0)]])), 400_000);
    near(out.response(0, 0), 1.0 + erlang_c(3, 1.5) / 1.5);
    let whole = 2.5 * (1.0 + erlang_c(3, 2.5) / 0.5);
    let own = 1.5 * (1.0 + erlang_c(3, 1.5) / 1.5);
    near(out.ratio(0, 1, "present", "time"), whole - own);
}

#[test]
fn a_delay_serves_all_at_once() {
    // M/G/inf: number Poisson with mean lambda E[S].
    let out = run(&open(&[json!({"name": "d", "kind": "delay"})], &[5.0], json!([[variable()]])), 300_000);
    near(out.ratio(0, 0, "present", "time"), 5.0);
    near(out.response(0, 0), 1.0);
    assert_eq!(out.total(0, 0, "waiting_s"), 0.0);
}

#[test]
fn load_dependent_stations_are_birth_and_death() {
    // p(n) ∝ Π lambda/rate(i) with rates 1, 1.8, 2.4, 2.4, … and lambda = 1.5, summed here.
    let rates = [1.0, 1.8, 2.4];
    let (mut p, mut sum, mut number) = (1.0, 1.0, 0.0);
    for n in 1..500 {
        p *= 1.5 / rates[(n - 1).min(2)];
        sum += p;
        number += n as f64 * p;
    }
    for discipline in ["fcfs", "ps"] {
        let station =
            json!({"name": "l", "kind": "load_dependent", "rates": rates, "discipline": discipline});
        let out = run(&open(&[station], &[1.5], json!([[exponential(1.0)]])), 300_000);
        near(out.ratio(0, 0, "present", "time"), number / sum);
        near(out.ratio(0, 0, "busy", "time"), 1.0 - 1.0 / sum);
    }
}

#[test]
fn a_full_station_loses() {
    // M/M/1/3 at rho = 0.8: p(3) = rho³ (1 - rho)/(1 - rho⁴); Erlang's B at two servers and load 2: 2/5.
    let out = run(&one(json!({"capacity": 3}), 0.8, exponential(1.0)), 300_000);
    let p3 = 0.8f64.powi(3) * 0.2 / (1.0 - 0.8f64.powi(4));
    near(out.ratio(0, 0, "losses", "arrivals"), p3);
    near(out.throughput(1, 0), 0.8 * (1.0 - p3));
    near(out.ratio(1, 0, "losses", "arrivals"), p3);
    let out = run(&one(json!({"capacity": 2, "servers": 2}), 2.0, variable()), 300_000);
    near(out.ratio(0, 0, "losses", "arrivals"), 0.4);
}

#[test]
fn two_branches_fork_and_join() {
    // Flatto and Hahn (1984), Nelson and Tantawi (1988): R = (12 - rho)/8 / (mu - lambda), exact for two.
    let station = json!({"name": "f", "kind": "fork_join", "branches": 2});
    let out = run(&open(&[station], &[0.6], json!([[exponential(1.0)]])), 400_000);
    near(out.response(0, 0), (12.0 - 0.6) / 8.0 / 0.4);
    near(out.ratio(0, 0, "busy", "time"), 1.2);
}

#[test]
fn a_server_that_breaks_down() {
    // Avi-Itzhak and Naor (1963), Mitrani and Avi-Itzhak (1968), one server: with availability A = β/(α+β),
    // L = λ/(Aμ - λ) (1 + αμ/(α+β)²).
    let (lambda, alpha, beta) = (0.5, 0.1, 0.4);
    let breakdowns = json!({"up": exponential(1.0 / alpha), "down": exponential(1.0 / beta)});
    for discipline in ["fcfs", "ps", "lcfs_pr", "siro"] {
        let extra = json!({"breakdowns": breakdowns, "discipline": discipline});
        let out = run(&one(extra, lambda, exponential(1.0)), 400_000);
        let level = lambda / (beta / (alpha + beta) - lambda) * (1.0 + alpha / (alpha + beta).powi(2));
        near(out.ratio(0, 0, "present", "time"), level);
        near(out.ratio(0, 0, "busy", "time"), 0.5);
    }
}

#[test]
fn machines_under_repair() {
    // M/M/2//4, Z = S = 1: birth and death with rates 4, 3, 2, 1 and 1, 2, 2, 2.
    let p = [1.0, 4.0, 6.0, 6.0, 3.0];
    let sum: f64 = p.iter().sum();
    let throughput = (p[1] + 2.0 * (p[2] + p[3] + p[4])) / sum;
    let station = queue("repair", json!({"servers": 2}));
    let config = closed(&[station], 4, Some(exponential(1.0)), json!([[exponential(1.0)]]));
    let out = run(&config, 300_000);
    near(out.throughput(0, 0), throughput);
    near(out.response(1, 0), 4.0 / throughput - 1.0);
    // The same with a pool of two over a delay, and with a region.
    let config = closed(
        &[json!({"name": "d", "kind": "delay"})],
        4,
        Some(exponential(1.0)),
        json!([[exponential(1.0)]]),
    );
    let pool = json!([{"name": "pool", "size": 2, "stations": [0]}]);
    let out = run(&with(config, "limits", pool), 300_000);
    near(out.throughput(1, 0), throughput);
    near(out.response(0, 0), 1.0);
    near(out.response(1, 0), 4.0 / throughput - 1.0);
    near(out.ratio(2, 0, "waiting_s", "completions"), 4.0 / throughput - 2.0);
    near(out.ratio(2, 0, "busy", "time"), throughput);
}
