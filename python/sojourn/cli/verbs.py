"""The verbs as the list of `sojourn --help` shows them: groups, a line each, three examples each, and the options that come first."""

from __future__ import annotations

from dataclasses import dataclass

ASK, MODEL, DECIDE, STUDY, MACHINE = "Ask a service", "Model", "Decide", "Study", "Machine"
MOST_FIRST = 10  # options before those of the panel "More options"


@dataclass(frozen=True)
class Verb:
    """`line`: what it does, at most 60 characters; the first paragraph of its own help. `examples`: command lines that work as they
    stand where the files are there. `more`: options of the panel "More options"; none: all that are left after the first ten."""

    group: str
    line: str
    examples: tuple[str, str, str]
    more: tuple[str, ...] = ()


VERBS = {
    "capacity": Verb(
        ASK,
        "Finds the highest rate that still meets an objective.",
        (
            "sojourn capacity http://127.0.0.1:8080/ --objective 'p99 < 50ms'",
            "sojourn capacity http://127.0.0.1:8080/ --objective 'p99 < 50ms' --required-rate 200",
            "sojourn capacity --from-runs runs/week --objective 'p99 < 50ms'",
        ),
        ("max_runs", "connections", "seed", "wait", "timeout", "level"),
    ),
    "load": Verb(
        ASK,
        "Puts a known load on a service and prints response times.",
        (
            "sojourn load http://127.0.0.1:8080/ --rate 500 --for 10s",
            "sojourn load memcached://127.0.0.1:11211 --rate 9000 --get-weight 9 --set-weight 1",
            "sojourn load file:disk.img --iops 400 --read-fraction 0.7 --block-size 8k --direct",
        ),
        ("arrivals", "timeout_s", "threads"),
    ),
    "measure": Verb(
        ASK,
        "Measures a service and its host at several loads.",
        (
            "sojourn measure http://127.0.0.1:8080/ --rate 50..350:50 --out runs",
            "sojourn measure http://127.0.0.1:8080/ --users 1,2,4 --think 100ms",
            "sojourn measure http://127.0.0.1:8080/ --rate 200 --service-pids 4711,4712",
        ),
        ("arrivals", "every", "timeout_s", "wait"),
    ),
    "observe": Verb(
        ASK,
        "Turns logs and metrics you already have into runs.",
        (
            "sojourn observe requests.csv cpu.csv --out runs/week",
            "sojourn observe traces.json --out model.toml",
            "sojourn observe prometheus://127.0.0.1:9090 --metric-map shop.map.toml --from -7d --out runs/week",
        ),
    ),
    "compare": Verb(
        ASK,
        "Says whether B is slower than A, or cannot tell.",
        (
            "sojourn compare runs/before runs/after",
            "sojourn compare --service-urls http://127.0.0.1:8080/ http://127.0.0.1:8081/ --rate 200",
            "sojourn compare --commands 'sleep 0.05' 'sleep 0.1' --blocks 5",
        ),
    ),
    "check": Verb(
        ASK,
        "Finds numbers in load test results that cannot be true.",
        (
            "sojourn check results.json",
            "sojourn check wrk.txt --markdown check.md",
            "sojourn check k6.json host.json --json",
        ),
    ),
    "oscillation": Verb(
        ASK,
        "Finds a bottleneck that alternates between two resources.",
        (
            "sojourn oscillation runs/rate-300 --resource-a cpu --resource-b disk:vda",
            "sojourn oscillation samples.csv --resource-a cpu --resource-b disk --shares-in-percent",
            "sojourn oscillation runs/rate-300 --resource-a cpu --resource-b disk:vda --json",
        ),
    ),
    "fit": Verb(
        MODEL,
        "Fits models to measured runs.",
        (
            "sojourn fit runs --out fitted.toml",
            "sojourn fit runs --model shop.toml",
            "sojourn fit runs --model shop.toml --model fast.toml --out rivals.toml",
        ),
    ),
    "predict": Verb(
        MODEL,
        "Predicts response times and throughput, with intervals.",
        (
            "sojourn predict fitted.toml --rate 400..800:100",
            "sojourn predict fitted.toml --set workers=4 --rate 200",
            "sojourn predict fitted.toml --vary workers=1,2,4 --rate 200 --json",
        ),
    ),
    "validate": Verb(
        MODEL,
        "Compares a fitted model with measured runs.",
        (
            "sojourn validate later-runs --model fitted.toml",
            "sojourn validate runs --model fitted.toml --max-share-of-saturation-rate 0.8",
            "sojourn validate runs --model fitted.toml --level 0.95 --json",
        ),
    ),
    "solve": Verb(
        MODEL,
        "Solves a queueing model, exactly where that is possible.",
        (
            "sojourn solve shop.toml",
            "sojourn solve shop.toml --vary classes.user.population=1..200",
            "sojourn solve shop.toml --quantiles --json",
        ),
    ),
    "simulate": Verb(
        MODEL,
        "Simulates a queueing model, with intervals.",
        (
            "sojourn simulate shop.toml --precision 0.02",
            "sojourn simulate shop.toml --replications 4 --until 200s --output-format csv",
            "sojourn simulate shop.toml --until 60s --out run",
        ),
    ),
    "methods": Verb(
        MODEL,
        "Lists methods to solve a model, and which of them apply.",
        (
            "sojourn methods",
            "sojourn methods shop.toml",
            "sojourn methods shop.toml --all",
        ),
    ),
    "query": Verb(
        DECIDE,
        "Answers yes, no or cannot tell about runs or models.",
        (
            "sojourn query 'p99 < 50ms and errors < 0.1%' runs/rate-200",
            "sojourn query 'p95(waiting_time)' shop.toml",
            "sojourn query 'p99 < 50ms' run shop.toml --simulated-model shop.toml",
        ),
    ),
    "plan": Verb(
        DECIDE,
        "Finds the cheapest configuration that meets an objective.",
        (
            "sojourn plan fitted.toml --vary cores=1..16 --objective 'p99 < 50ms'",
            "sojourn plan desk.toml --vary servers=3..8 --cost 30*servers --load 8..12 --objective 'mean < 1s'",
            "sojourn plan fitted.toml --load 600+5%*12 --objective 'p99 < 50ms' --json",
        ),
    ),
    "control": Verb(
        DECIDE,
        "Tries a policy that sets the number of workers.",
        (
            "sojourn control simulate policy.toml --model pool.toml --load all --compare-with hpa.toml",
            "sojourn control replay policy.toml runs/web-07 --recorded-workers 8",
            "sojourn control live policy.toml service.toml --stop-after 1h",
        ),
    ),
    "calc": Verb(
        DECIDE,
        "Calculates staffing, merged queues and balance of load.",
        (
            "sojourn calc table --servers 8 --service-time 127us",
            "sojourn calc merge desk.toml counter.toml",
            "sojourn calc balance --centre-count 8 --pieces-per-item 11",
        ),
    ),
    "study": Verb(
        STUDY,
        "Runs a study: measure, fit, predict, check, report.",
        (
            "sojourn study workers --quick",
            "sojourn study my-study.toml",
            "sojourn study my-study.toml --check-only",
        ),
    ),
    "examples": Verb(
        STUDY,
        "Lists example models and studies, or copies one.",
        (
            "sojourn examples",
            "sojourn examples shop",
            "sojourn examples workers --out studies",
        ),
    ),
    "design": Verb(
        STUDY,
        "Makes and analyses designs of experiments.",
        (
            "sojourn design make 2^3 --factor cores=1,2 --factor cache=0,1 --factor workers=8,32",
            "sojourn design analyse runs.csv --response throughput",
            "sojourn design check results.csv",
        ),
    ),
    "report": Verb(
        STUDY,
        "Writes one HTML page about runs and a fitted model.",
        (
            "sojourn report runs",
            "sojourn report runs --model fitted.toml",
            "sojourn report runs --out report.html",
        ),
    ),
    "ui": Verb(
        STUDY,
        "Shows runs, models and studies in a browser.",
        (
            "sojourn ui",
            "sojourn ui runs",
            "sojourn ui --allow-saving --port 8000",
        ),
    ),
    "try": Verb(
        STUDY,
        "Measures, fits and predicts a small service, in a minute.",
        (
            "sojourn try",
            "sojourn try --out runs/try",
            "sojourn try --seed 7 --json",
        ),
    ),
    "doctor": Verb(
        MACHINE,
        "Says what works on this machine, and what to install.",
        (
            "sojourn doctor",
            "sojourn doctor --json",
            "sudo sojourn doctor",
        ),
    ),
    "lab": Verb(
        MACHINE,
        "Cores and caches; a slow disk; guests; cleaning up.",
        (
            "sojourn lab topology --measure-access-times",
            "sojourn lab disk --bytes-per-s 20M -- ls {}",
            "sojourn lab clean",
        ),
    ),
    "cpu": Verb(
        MACHINE,
        "Measures all CPU time that a command causes on a machine.",
        (
            "sojourn cpu -- sleep 1",
            "sojourn cpu --idle-duration 5s -- make test",
            "sojourn cpu --out cpu.json -- make test",
        ),
    ),
    "serve": Verb(
        MACHINE,
        "Starts a small service to try the other commands on.",
        (
            "sojourn serve kv",
            "sojourn serve kv --port 11211 --memory-mib 64",
            "sojourn serve --help",
        ),
    ),
}
