//! The collector end to end: on this machine's `/proc` and on a fake one.

mod fake_proc;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fake_proc::FakeProc;
use serde_json::Value;
use sojourn_hostmetrics::{collect, CollectError, Config, Summary};

fn collect_for(config: &Config, time: Duration) -> Result<Summary, CollectError> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let collector = scope.spawn(|| collect(config, &stop));
        std::thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        collector.join().unwrap()
    })
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn config(json: Value) -> Config {
    serde_json::from_value(json).unwrap()
}

#[test]
fn this_machine() {
    let fake = FakeProc::new();
    let out = fake.root().join("host.ndjson");
    let own = std::process::id();
    let summary = collect_for(
        &config(serde_json::json!({"out": out, "interval_s": 0.02, "pids": [own]})),
        Duration::from_millis(300),
    )
    .unwrap();
    let lines = lines(&out);
    assert_eq!(lines.len() as u64, summary.samples + 1);
    assert_eq!(std::fs::metadata(&out).unwrap().len(), summary.bytes);
    assert_eq!(lines[0]["format"], "sojourn-host");
    let (first, last) = (&lines[1], &lines[lines.len() - 1]);
    for core in lines[0]["cores"].as_array().unwrap() {
        let idle = |line: &Value| line["cpu"][core.to_string()]["idle"].as_f64().unwrap();
        assert!(idle(last) >= idle(first));
    }
    assert!(last["t_s"].as_f64() > first["t_s"].as_f64());
    assert!(last["ctxt"].as_u64() >= first["ctxt"].as_u64());
    assert!(last["procs"][own.to_string()]["threads"][own.to_string()]["name"].is_string());
    assert!(last["mem"]["available_bytes"].as_u64() > Some(0));
    let perf_absent =
        lines[0]["absent"].as_array().unwrap().iter().any(|a| a.as_str().unwrap().starts_with("perf: "));
    assert_eq!(perf_absent, last.get("perf").is_none());
    assert!(summary.own_cpu_s > 0.0 && summary.own_share > 0.0);
}

#[test]
fn the_speed_of_each_core_is_that_of_a_piece_of_work() {
    let fake = FakeProc::new();
    let out = fake.root().join("host.ndjson");
    let config = config(serde_json::json!({"out": out, "interval_s": 0.05, "core_speed": true}));
    let summary = collect_for(&config, Duration::from_millis(400)).unwrap();
    let lines = lines(&out);
    let last = &lines[lines.len() - 1];
    for core in lines[0]["cores"].as_array().unwrap() {
        let work = &last["speed"][core.to_string()];
        let each_s = work["cpu_s"].as_f64().unwrap() / work["pieces"].as_f64().unwrap();
        // 40 datagrams and 500 reads: 100 ns and 10 us each are too short and too long for any
        assert!((5e-6..1e-2).contains(&each_s), "{work}");
    }
    assert!(summary.samples > 2);
}

#[test]
fn a_bare_machine_says_what_is_absent() {
    let fake = FakeProc::new();
    fake.write("stat", "cpu0 100 0 50 1000 0 0 25 0 0 0\nctxt 5\n");
    let out = fake.root().join("host.ndjson");
    let config = config(serde_json::json!({"out": out, "proc_root": fake.root(), "sys_root": fake.root()}));
    let summary = collect_for(&config, Duration::from_millis(50)).unwrap();
    let lines = lines(&out);
    let absent: Vec<&str> =
        lines[0]["absent"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect();
    for item in
        ["softnet: ", "softirqs: ", "interrupts: ", "nics: ", "disks: ", "mem: ", "psi: ", "topology: "]
    {
        assert!(absent.iter().any(|a| a.starts_with(item)), "{item} {absent:?}");
    }
    let hz = lines[0]["hz"].as_f64().unwrap();
    assert_eq!(lines[1]["cpu"]["0"]["softirq"].as_f64(), Some(25.0 / hz));
    assert!(lines[1].get("psi").is_none() && lines[1].get("nics").is_none());
    assert!(summary.packets_per_s.is_empty());
}

#[test]
fn errors_name_value_place_and_remedy() {
    let fake = FakeProc::new();
    fake.write("stat", "cpu0 100 0 50 1000 0 0 25 0 0 0\n");
    let out = fake.root().join("host.ndjson");
    let message = |mut json: Value| {
        for (key, value) in [("out", out.to_str()), ("proc_root", fake.root().to_str())] {
            if json.get(key).is_none() {
                json[key] = value.into();
            }
        }
        collect(&config(json), &AtomicBool::new(true)).unwrap_err().to_string()
    };
    let has = |text: &str, parts: &[&str]| assert!(parts.iter().all(|p| text.contains(p)), "{text}");
    has(&message(serde_json::json!({"interval_s": 0.001})), &["interval_s = 0.001", "0.01 to 10 s"]);
    has(&message(serde_json::json!({"pids": [7]})), &["no process 7", "check pids"]);
    has(&message(serde_json::json!({"cpu": 4096})), &["core 4096", "online"]);
    let cgroups = serde_json::json!({"cgroups": ["no.slice"], "sys_root": fake.root()});
    has(&message(cgroups), &["control group no.slice", "below /sys/fs/cgroup"]);
    has(&message(serde_json::json!({"out": "/dev/full"})), &["/dev/full", "free space"]);
    let nowhere = fake.root().join("nowhere");
    has(&message(serde_json::json!({"proc_root": nowhere})), &["nowhere/stat", "proc is mounted"]);
    let unknown = serde_json::from_value::<Config>(serde_json::json!({"out": "x", "every_s": 1}));
    has(&unknown.unwrap_err().to_string(), &["every_s", "interval_s"]);
}

#[test]
fn a_file_that_breaks_while_collecting_ends_it_and_keeps_complete_lines() {
    let fake = FakeProc::new();
    let good = "cpu0 100 0 50 1000 0 0 25 0 0 0\nctxt 5\n";
    fake.write("stat", good);
    let out = fake.root().join("host.ndjson");
    let config = config(serde_json::json!({"out": out, "proc_root": fake.root(), "interval_s": 0.01}));
    let stop = AtomicBool::new(false);
    let error = std::thread::scope(|scope| {
        let collector = scope.spawn(|| collect(&config, &stop));
        std::thread::sleep(Duration::from_millis(100));
        fake.write("stat", "cpu0 100 0\n");
        collector.join().unwrap().unwrap_err()
    });
    assert!(error.to_string().contains("ends before system"), "{error}");
    assert!(lines(&out).len() >= 2);
}

#[test]
fn control_groups_of_both_versions() {
    let fake = FakeProc::new();
    let stat = "usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\nnr_periods 7\n";
    fake.write("stat", "cpu0 100 0 50 1000 0 0 25 0 0 0\n");
    fake.write("fs/cgroup/app.slice/cpu.stat", stat).write("fs/cgroup/unified/b/cpu.stat", stat);
    fake.write("fs/cgroup/cpuacct/old/x/cpuacct.usage", "1500000000\n");
    // Version 2 without its cpu controller has the file and not the lines.
    fake.write("fs/cgroup/empty/cpu.stat", "nr_periods 7\n");
    let out = fake.root().join("host.ndjson");
    let with = |names: &[&str]| {
        config(serde_json::json!({
            "out": out, "proc_root": fake.root(), "sys_root": fake.root(), "cgroups": names,
        }))
    };
    collect_for(&with(&["app.slice", "/b/", "old/x"]), Duration::from_millis(50)).unwrap();
    let lines = lines(&out);
    assert_eq!(lines[0]["cgroups"], serde_json::json!(["app.slice", "/b/", "old/x"]));
    let groups = &lines[1]["cgroups"];
    let whole = serde_json::json!({"usage_s": 2.5, "user_s": 2.0, "system_s": 0.5});
    assert_eq!((&groups["app.slice"], &groups["/b/"]), (&whole, &whole));
    assert_eq!(groups["old/x"], serde_json::json!({"usage_s": 1.5}));
    let error = collect(&with(&["empty"]), &AtomicBool::new(true)).unwrap_err();
    assert!(matches!(error, CollectError::Cgroup { .. }), "{error}");
}
