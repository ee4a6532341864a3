//! Hand-worked cases of the virtual host: every time is followed on paper.

use sojourn_des::host::{simulate, Config, SimulatedRun};

fn run(text: &str) -> SimulatedRun {
    let config: Config = serde_json::from_str(text).expect("a configuration");
    simulate(&config).expect("it can be simulated")
}

/// One core and one NIC; `more` are further keys.
fn one_core(times: &str, interrupt_s: f64, page_s: f64, more: &str) -> SimulatedRun {
    run(&format!(
        r#"{{"cores": 1, "nics": 1, "load": {{"kind": "open", "arrivals": {{"kind": "trace", "times_s": {times}}}}},
            "interrupt": {{"kind": "deterministic", "mean": {interrupt_s}}},
            "page": {{"kind": "deterministic", "mean": {page_s}}},
            "duration_s": 100, "sample_s": 1, "seed": 1{more}}}"#
    ))
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-12, "{found:?} is not {expected:?}");
    }
}

fn last(column: &[f64]) -> f64 {
    *column.last().expect("a sample")
}

#[test]
fn an_interrupt_preempts_a_page_which_resumes() {
    // 0: interrupt 0-1, page from 1; the second interrupt 3-4; the first page until 1 + 4 + 1 = 6, then the second
    let run = one_core("[0, 3]", 1.0, 4.0, "");
    close(&run.records.ready_s, &[1.0, 4.0]);
    close(&run.records.start_s, &[1.0, 6.0]);
    close(&run.records.done_s, &[6.0, 10.0]);
    assert_eq!(run.end_s, 10.0);
    close(&[run.samples.user_s[3], run.samples.softirq_s[3]], &[2.0, 1.0]);
    close(&[last(&run.samples.user_s), last(&run.samples.softirq_s)], &[8.0, 2.0]);
}

#[test]
fn shared_pages_each_get_half() {
    // the first alone until 1, then both at half speed: 2 left of it take until 5; then 1 left of the second
    let run = one_core("[0, 1]", 0.0, 3.0, r#", "threads_per_core": 0"#);
    close(&run.records.done_s, &[5.0, 6.0]);
}

#[test]
fn turns_of_a_second() {
    // a 0-1, b 1-2, a 2-3, b 3-4, a 4-4.5, b 4.5-5
    let run = one_core("[0, 0]", 0.0, 2.5, r#", "threads_per_core": 0, "quantum_s": 1"#);
    close(&run.records.done_s, &[4.5, 5.0]);
}

#[test]
fn turning_to_another_page_costs_core_time() {
    // 0.5 before each of the two pages, counted as system time
    let run = one_core("[0, 0]", 0.0, 1.0, r#", "switch_s": 0.5"#);
    close(&run.records.done_s, &[1.5, 3.0]);
    close(&[last(&run.samples.system_s), last(&run.samples.user_s)], &[1.0, 2.0]);
}

#[test]
fn a_third_request_finds_no_room() {
    // interrupts 0-1 and 1-2, pages 2-6 and 6-10
    let run = one_core("[0, 0.5, 0.6, 20]", 1.0, 4.0, r#", "capacity": 2"#);
    assert_eq!(run.records.refused, [0, 0, 1, 0]);
    close(&run.records.done_s, &[6.0, 10.0, 0.6, 25.0]);
}

#[test]
fn with_two_threads_the_third_page_waits() {
    // the first two share until 4; the third then has the core alone
    let run = one_core("[0, 0, 0]", 0.0, 2.0, r#", "threads_per_core": 2"#);
    close(&run.records.start_s, &[0.0, 0.0, 4.0]);
    close(&run.records.done_s, &[4.0, 4.0, 6.0]);
}

#[test]
fn a_page_that_crosses_is_delayed_and_leaves_the_first_core_to_interrupts() {
    let run = run(r#"{"cores": 2, "nics": 1,
        "load": {"kind": "open", "arrivals": {"kind": "trace", "times_s": [0, 0.5]}},
        "interrupt": {"kind": "deterministic", "mean": 1}, "page": {"kind": "deterministic", "mean": 2},
        "placement": {"policy": "pinned", "stay": 0}, "crossing_s": 0.25, "duration_s": 9, "sample_s": 1,
        "seed": 1}"#);
    assert_eq!(run.records.core, [1, 1]);
    close(&run.records.start_s, &[1.25, 3.25]);
    close(&run.records.done_s, &[3.25, 5.25]);
}

#[test]
fn least_loaded_takes_the_next_free_core() {
    let run = run(r#"{"cores": 3, "nics": 1,
        "load": {"kind": "open", "arrivals": {"kind": "trace", "times_s": [0, 0, 0]}},
        "interrupt": {"kind": "deterministic", "mean": 1}, "page": {"kind": "deterministic", "mean": 9},
        "placement": {"policy": "least-loaded"}, "duration_s": 9, "sample_s": 1, "seed": 1}"#);
    // core 0 has interrupts waiting when the first two pages begin, and none for the third
    assert_eq!(run.records.core, [1, 2, 0]);
}

#[test]
fn users_of_a_closed_loop_send_again_when_answered() {
    let run = run(r#"{"cores": 1, "nics": 1,
        "load": {"kind": "closed", "users": 1, "think": {"kind": "deterministic", "mean": 1}},
        "interrupt": {"kind": "deterministic", "mean": 0.5}, "page": {"kind": "deterministic", "mean": 0.5},
        "duration_s": 6, "sample_s": 1, "seed": 1}"#);
    close(&run.records.intended_s, &[0.0, 2.0, 4.0]);
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_another() {
    let text = |seed: u32| {
        format!(
            r#"{{"cores": 4, "nics": 2,
            "load": {{"kind": "open", "arrivals": {{"kind": "poisson", "rate_per_s": 500}}}},
            "interrupt": {{"kind": "exponential", "mean": 0.0005}}, "page": {{"kind": "exponential", "mean": 0.003}},
            "threads_per_core": 0, "quantum_s": 0.004, "duration_s": 5, "sample_s": 0.1, "seed": {seed}}}"#
        )
    };
    let (a, b, c) = (run(&text(1)), run(&text(1)), run(&text(2)));
    assert_eq!(a.records.done_s, b.records.done_s);
    assert_ne!(a.records.done_s, c.records.done_s);
    // all work that was drawn was done, and nothing else
    let done: f64 = a.samples.user_s.iter().rev().take(4).sum();
    let drawn: f64 = a.records.page_s.iter().sum();
    assert!((done - drawn).abs() < 1e-9 * drawn);
}

#[test]
fn bad_values_name_place_value_and_remedy() {
    let base = |more: &str| {
        format!(
            r#"{{"load": {{"kind": "open", "arrivals": {{"kind": "poisson", "rate_per_s": 1}}}},
            "interrupt": {{"kind": "exponential", "mean": 1}}, "page": {{"kind": "exponential", "mean": 1}},
            "duration_s": 5, "sample_s": 1, "seed": 1, {more}}}"#
        )
    };
    for (more, said) in [
        (r#""cores": 0, "nics": 1"#, "cores = 0"),
        (r#""cores": 2, "nics": 3"#, "nics = 3"),
        (r#""cores": 1, "nics": 1, "crossing_s": -1"#, "crossing_s = -1"),
        (r#""cores": 1, "nics": 1, "switch_s": 1, "threads_per_core": 0"#, "switch_s = 1"),
        (r#""cores": 1, "nics": 1, "capacity": 0"#, "capacity = 0"),
        (r#""cores": 1, "nics": 1, "placement": {"policy": "pinned", "stay": 2}"#, "stay = 2"),
    ] {
        let config: Config = serde_json::from_str(&base(more)).expect("a configuration");
        let error = simulate(&config).expect_err(more).to_string();
        assert!(error.starts_with(said) && error.contains("give"), "{error}");
    }
}
