"""A service above the knee with its interrupts on one core: `python benches/control/steering.py [seconds]`, as root, 11 minutes, two cores.

Two hosts with two NICs between them, each request packet costs 1.5 ms in the soft interrupt, and at the start both NICs interrupt core 0.
First the saturation rate of that is measured (closed loop, 10 s). From it the policy `configurations` gets what `one core` and `spread`
carry: the training is of `one core` alone, `spread` is predicted. DATE-steering/prediction.json is on disk before the load begins.
Then Poisson arrivals: below the knee, above it, at the edge of what one core carries, below it again; `sojourn control live --act`
sees only the service's /metrics, every 2 s, and steers.

A core serves its requests one by one: saturation 1 / D, and as M/M/1 a tail of ln 100 / (1 / D - rate) at 99 %. One core: core 0 has
D = A + C, where A is the interrupt and C what thread and client need there (at least 0); spread: each core has A + 2 C of each request
that is its own.
"""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.lab.backends import NamespaceBackend, environment
from sojourn.lab.service_placement import ServicePlacement
from sojourn.lab.worker_process import WorkerProcess
from sojourn.runs.record_logs import read_log
from sojourn_cases.web.web_service import BackendOptions, KnownDemand, WebOptions, WebTestbed

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from record import describe  # noqa: E402

INTERRUPT_S = 1.5e-3 + 51.7e-6  # the work at a packet, and the network's own (README, "A study with known demands")
LIMIT_S, BACKEND_S, PERIOD_S, CONNECTIONS = 0.05, 0.001, 2.0, 256
SECONDS = float(sys.argv[1]) if sys.argv[1:] else 600.0
KEPT = SECONDS >= 180  # a shorter one is a trial
HOLD_S = 60.0 if SECONDS >= 600 else 30.0
FOLDER = (HERE if KEPT else Path(tempfile.gettempdir())) / (time.strftime("%Y-%m-%d") + "-steering")
TAIL = math.log(100) / (LIMIT_S - BACKEND_S)


def main() -> None:
    with staged() as (place, lanes, steered, folder):
        steered.set({"packet_steering": "one core"})
        one_core = saturation(place, lanes, folder)
        said = prediction(one_core)
        describe(FOLDER, {})
        (FOLDER / "prediction.json").write_text(json.dumps(said, indent=1) + "\n")
        print(json.dumps(said), flush=True)
        rows = controlled(place, lanes, said, folder)
        print("steering at the end:", steered.read(), flush=True)
    told(said, rows)


@contextmanager
def staged() -> Iterator[tuple[NamespaceBackend, list[dict[str, Any]], ServicePlacement, Path]]:
    """The service on two hosts: the place, a lane of load for each NIC, what steers, a folder for its time."""
    options = WebOptions(
        port=18480,
        path="/wait",
        backend=BackendOptions(service_s=BACKEND_S, law="deterministic", workers=64, cap=100_000, control=None),
    )
    with tempfile.TemporaryDirectory() as temporary, environment("namespaces") as place:
        assert isinstance(place, NamespaceBackend)
        folder = Path(temporary)
        backend = options.backend.model_copy(update={"control": str(folder / "socket")}) if options.backend else None
        options = options.model_copy(update={"backend": backend})
        placement = place.arrange(2, 2)
        service = WebTestbed.start(place, placement, options, KnownDemand(interrupt_s=1.5e-3, page_s=0.0), 1, None)
        try:
            lanes = [{"targets": [{"url": url}], "connections": CONNECTIONS, "cpu": core}
                     for url, core in zip(service.urls, placement.client, strict=True)]  # fmt: skip
            yield place, lanes, ServicePlacement(service.pids["service"]), folder
        finally:
            service.stop()


def load(place: NamespaceBackend, lanes: list[dict[str, Any]], out: Path, **config: Any) -> WorkerProcess:
    whole = {"lanes": lanes, "realtime": True, "seed": 1, **config}
    return WorkerProcess("load", {"network": place.client_network, "load": whole, "out": str(out)})


def saturation(place: NamespaceBackend, lanes: list[dict[str, Any]], folder: Path, for_s: float = 12.0) -> float:
    """Answers a second under users who do not think."""
    users = [{**lane, "closed": {"users": 8, "think": {"kind": "exponential", "mean": 0.0}}}
             for lane in lanes]  # fmt: skip
    generator = load(place, users, folder / "saturated", duration_s=for_s)
    try:
        generator.finish(for_s + 60)
    finally:
        generator.stop()
    rows, _ = read_log(folder / "saturated" / "requests.rec")
    done = rows["done_s"].to_numpy() - rows["intended_s"].min()
    return float(((done > 2) & (done <= for_s)).sum() / (for_s - 2))


def prediction(one_core: float) -> dict[str, Any]:
    """From the saturation rate of one core: what both carry, the phases, and what will be seen."""
    rest_s = max(1 / one_core - INTERRUPT_S, 0.0)
    spread = 2 / (1 / one_core + rest_s)
    carries = {"one core": one_core - TAIL, "spread": 2 * (spread / 2 - TAIL)}
    part = SECONDS / 10
    phases = [
        {"name": "below", "until_s": part, "rate_per_s": 0.6 * one_core},
        {"name": "above", "until_s": 5.5 * part, "rate_per_s": 1.3 * one_core},
        {"name": "edge", "until_s": 7.5 * part, "rate_per_s": 0.97 * carries["one core"]},
        {"name": "below again", "until_s": SECONDS, "rate_per_s": 0.6 * one_core},
    ]
    return {
        "trained_on": {"saturation_one_core_per_s": one_core}, "saturation_spread_per_s": spread, "carries_per_s": carries,
        "phases": phases, "changes": ["spread", "one core"] if KEPT else ["spread"],
        "spread_within_s": [part, part + 3 * PERIOD_S], "one_core_within_s": [7.5 * part + HOLD_S - 20.0, 7.5 * part + HOLD_S + 15.0],
        "late_at_most": {"below": 0.01, "above, 20 s after the step": 0.01, "edge": 0.01, "below again": 0.01},
    }  # fmt: skip


def controlled(place: NamespaceBackend, lanes: list[dict[str, Any]], said: dict[str, Any], folder: Path) -> Any:
    """The load under control; its requests."""
    policy = folder / "policy.toml"
    choices = [
        f'{{ packet_steering = "{name}", carries_per_s = {rate} }}' for name, rate in said["carries_per_s"].items()
    ]
    policy.write_text(
        'policy = "configurations"\nobjective = "p99 < 50ms"\n[rails]\nsettings = ["packet_steering"]\n[options]\n'
        f"period_s = {PERIOD_S}\nhold_s = {HOLD_S}\nchoices = [{', '.join(choices)}]\n"
    )
    due, begin_s = arrivals(said), time.monotonic() + 8.0
    split = [
        {**lane, "arrivals": {"kind": "trace", "times_s": due[k :: len(lanes)].tolist()}}
        for k, lane in enumerate(lanes)
    ]
    generator = load(place, split, folder / "run", duration_s=SECONDS, start_at_s=begin_s)
    host = lanes[0]["targets"][0]["url"].removesuffix("/wait")
    controller = subprocess.Popen(
        ["nsenter", f"--net={place.client_network}", sys.executable, "-m", "sojourn", "control", "live", str(policy), host, "--act",
         "--skip-simulated-check", "--out", str(folder / "log"), "--stop-after", f"{SECONDS + 12:g}s"],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        generator.finish(SECONDS + 90)
        print(controller.communicate(timeout=90)[0], flush=True)
    finally:
        generator.stop()
        controller.kill()
        controller.wait()
    log = (folder / "log" / "decisions.ndjson").read_text()
    (FOLDER / "decisions.ndjson").write_text(log)
    said["begin_s"] = begin_s
    return read_log(folder / "run" / "requests.rec")[0]


def arrivals(said: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Poisson, s from the start, by the phases' rates."""
    rng, begin, found = np.random.default_rng(17), 0.0, []
    for phase in said["phases"]:
        length = phase["until_s"] - begin
        found.append(begin + np.sort(rng.uniform(0, length, rng.poisson(phase["rate_per_s"] * length))))
        begin = phase["until_s"]
    return np.concatenate(found)


def told(said: dict[str, Any], rows: Any) -> None:
    """raw.csv (10 s a row) and summary.md."""
    due = rows["intended_s"].to_numpy() - said["begin_s"]
    took = (rows["done_s"] - rows["intended_s"]).to_numpy()
    late = ~(took <= LIMIT_S) | (rows["status"].to_numpy() != 200)
    with open(FOLDER / "raw.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["from_s", "requests", "late", "mean_s", "p99_s"])
        for at in range(0, math.ceil(SECONDS), 10):
            inside = (due >= at) & (due < at + 10)
            if inside.any():
                taken = took[inside]
                writer.writerow([at, int(inside.sum()), f"{late[inside].mean():.5f}", f"{np.nanmean(taken):.6f}",
                                 f"{np.nanquantile(taken, 0.99):.6f}"])  # fmt: skip
    decisions = [json.loads(line) for line in (FOLDER / "decisions.ndjson").read_text().splitlines()]
    changed = [
        (row["observed"]["window_end_s"] - said["begin_s"], row["others"]["packet_steering"], row["reason"])
        for row in decisions
        if row.get("others", {}).get("packet_steering") != row.get("observed", {}).get("packet_steering")
    ]
    lines = [f"Predicted changes: {', '.join(said['changes'])}; made:", ""]
    lines += [f"- {at:.1f} s: {to} ({why})" for at, to, why in changed]
    lines += ["", "| phase | rate, 1/s | requests | late | mean, ms | p99, ms |", "|" + "---|" * 6]
    begin = 0.0
    for phase in said["phases"]:
        settle = 20.0 if phase["name"] == "above" else 0.0
        for name, low, high in (
            (phase["name"] + ", first 20 s", begin, begin + settle),
            (phase["name"], begin + settle, phase["until_s"]),
        ):
            inside = (due >= low) & (due < high)
            if inside.any():
                lines.append(
                    f"| {name} | {phase['rate_per_s']:.0f} | {inside.sum()} | {100 * late[inside].mean():.2f} % "
                    f"| {1e3 * np.nanmean(took[inside]):.2f} | {1e3 * np.nanquantile(took[inside], 0.99):.1f} |"
                )
        begin = phase["until_s"]
    text = "\n".join(lines) + "\n"
    (FOLDER / "summary.md").write_text(text)
    print(text, flush=True)


if __name__ == "__main__":
    main()
