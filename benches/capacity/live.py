"""`sojourn capacity` on services that run here, each beside a truth that is measured apart.

    python benches/capacity/live.py --out FOLDER [NAME …] [--beside]

In this order, for each service: a closed loop of 64 users tells where it saturates (the better of two runs); one run at 75 % of that
gives the limit of the objective, mean or p99; then `sojourn capacity` is asked with that limit and nothing else; and then the truth: runs
of 8 s at 45 to 99 % of saturation, each rate twice in random order. The truth lies between the largest rate up to which all runs met the
limit and the smallest from which on none did. `inside`: the interval of the answer holds the middle of that bracket; `touches`: some of
the bracket.

FOLDER/raw.csv gets a row a service as soon as it is there, FOLDER/NAME the runs. `--beside`: a process that computes for half of the time
runs all along. Puts load on loopback for some five minutes a service. Services whose program is not installed are left out, and said.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sojourn as sj
from sojourn.errors import Busy
from sojourn.query.objectives import judge, read_objectives

HERE = Path(__file__).resolve().parent
OURS = HERE.parents[1] / "tests/live/services"
PORT = 18491
USERS, SHARE = 64, 0.75
WAITS = 300  # for another measurement to end, s
SHARES = (0.45, 0.55, 0.62, 0.68, 0.73, 0.78, 0.83, 0.88, 0.93, 0.99)
HTTPS = "server { listen 127.0.0.1:%d ssl; ssl_certificate cert.pem; ssl_certificate_key key.pem; root .; }"
HALF = (
    "import time\nwhile True:\n end = time.monotonic() + 0.05\n while time.monotonic() < end: pass\n time.sleep(0.05)"
)


@dataclass(frozen=True)
class Service:
    """`command` with {port} and {folder}; the program that it needs; `figure` of the objective; how it is built, if it is."""

    command: tuple[str, ...]
    needs: str
    figure: str = "p99"
    build: tuple[str, ...] = ()
    path: str = "/"
    tls: bool = False


QUEUE = (sys.executable, str(OURS / "queueing.py"), "--port", "{port}", "--workers")
GO = ("go", "build", "-o", "{folder}/work", str(HERE / "services/work.go"))
SERVICES = {
    "go-1": Service(("{folder}/work", "{port}", "1"), "go", "mean", GO),
    "go-2": Service(("{folder}/work", "{port}", "2"), "go", "p99", GO),
    "python": Service((sys.executable, str(HERE / "services/handler.py"), "{port}"), "python3", "mean"),
    "node": Service(("node", str(HERE / "services/pauses.js"), "{port}"), "node", "p99"),
    "java": Service(("java", "-cp", "{folder}", "Work", "{port}", "4"), "javac", "mean",
                    ("javac", "-d", "{folder}", str(HERE / "services/Work.java"))),
    "nginx": Service(("nginx", "-p", "{folder}", "-c", "nginx.conf"), "nginx", "p99", path="/page"),
    "nginx-https": Service(("nginx", "-p", "{folder}", "-c", "nginx.conf"), "nginx", "mean", path="/page", tls=True),
    "sqlite": Service((*QUEUE, "3", "--rows", "1500", "--rounds", "2000"), "python3", "mean"),
    "waits": Service((*QUEUE, "3", "--sleep-ms", "5"), "python3", "p99"),
    "exponential": Service((*QUEUE, "2", "--sleep-ms", "6", "--law", "exponential"), "python3", "mean"),
    "pool": Service((*QUEUE, "16", "--connections", "4", "--sleep-ms", "12", "--law", "exponential"), "python3", "p99"),
    "two-cores": Service((*QUEUE, "2", "--rounds", "6000"), "python3", "mean"),
    "lock": Service((*QUEUE, "4", "--loops", "60000"), "python3", "mean"),
}  # fmt: skip


@contextmanager
def running(service: Service, folder: Path) -> Iterator[str]:
    """The service, and its URL."""
    folder.mkdir(parents=True)
    filled = {"port": str(PORT), "folder": str(folder)}
    if service.build:
        subprocess.run([part.format(**filled) for part in service.build], check=True)
    if service.needs == "nginx":
        (folder / "page").write_text("x" * 1024)
        conf = (OURS / "static/nginx.conf").read_text()
        listen = HTTPS % PORT if service.tls else f"server {{ listen 127.0.0.1:{PORT}; root .; }}"
        head, _, _ = conf.partition("    server {")
        (folder / "nginx.conf").write_text(head + "    " + listen + "\n}\n")
    if service.tls:
        command = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost"
        subprocess.run(command.split(), cwd=folder, check=True, stderr=subprocess.DEVNULL)
    command_line = [part.format(**filled) for part in service.command]
    with open(folder / "service.log", "w") as log:
        process = subprocess.Popen(command_line, stdout=log, stderr=log, start_new_session=True)
    try:
        time.sleep(2)
        yield f"{'https' if service.tls else 'http'}://127.0.0.1:{PORT}{service.path}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(10)


@contextmanager
def beside(wanted: bool) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-c", HALF]) if wanted else None
    try:
        yield
    finally:
        if process is not None:
            process.kill()
            process.wait()


def run(name: str, out: Path, other: bool) -> dict[str, Any]:
    """A service: limit, answer, truth."""
    service, folder = SERVICES[name], out / name
    more: dict[str, Any] = {"insecure": True} if service.tls else {}
    with beside(other), running(service, folder / "service") as url:
        full = max(_closed(url, folder / f"full-{number}", more) for number in (1, 2))
        limit = _figure(url, folder / "limit", SHARE * full, service.figure, more)
        limit_s = float(f"{limit:.3g}")
        objective = f"{service.figure} < {limit_s * 1e3:.4g}ms"
        found = _asked(url, objective, folder / "capacity", service.tls)
        low, high = _truth(url, folder / "truth", full, objective, more)
        after = _closed(url, folder / "full-3", more)
    rate = found.get("rate_per_s") or {}
    least, upper = rate.get("low"), rate.get("high")
    width, inside, touches = None, False, False
    if high is not None and least is not None and upper is not None:
        width = (upper - least) / 2 / rate["value"]
        inside, touches = least <= (low + high) / 2 <= upper, least <= high and low <= upper
    most = max([one["rate_per_s"] for one in found.get("runs", ())], default=0.0)
    return {
        "service": name, "beside": other, "objective": objective, "saturation": full, "saturation_after": after, "truth_low": low,
        "truth_high": high, "value": rate.get("value"), "low": least, "high": upper,
        "half_width": width, "inside": inside, "touches": touches, "told_saturation": (found.get("saturation_per_s") or {}).get("value"),
        "most": most / full, "runs": len(found.get("runs", ())), "requests": found.get("requests"), "took_s": found.get("wall_s"),
        "exit": found.get("exit"), "limits": (found.get("limit") or {}).get("text"), "model": found.get("model"),
        "stopped": found.get("stopped"), "notes": " | ".join([*found.get("notes", ()), found.get("why", "")]),
    }  # fmt: skip


def _closed(url: str, out: Path, more: dict[str, Any]) -> float:
    (folder,) = _measured(url, out, users=[USERS], duration_s=6.0, **more)
    return float(folder.metrics().value("throughput"))


def _measured(url: str, out: Path, **load: Any) -> list[sj.RunFolder]:
    """As `measure`, as soon as nobody else measures on this machine."""
    for _ in range(WAITS):
        try:
            return sj.measure(url, out, **load)
        except Busy:
            time.sleep(1)
    return sj.measure(url, out, **load)


def _figure(url: str, out: Path, rate: float, figure: str, more: dict[str, Any]) -> float:
    (folder,) = _measured(url, out, rates_per_s=[rate], duration_s=15.0, **more)
    (found,) = judge(folder, read_objectives([f"{figure} < 1s"]), whole=False)
    return float(found["value"])


def _asked(url: str, objective: str, out: Path, tls: bool) -> dict[str, Any]:
    command = [sys.executable, "-m", "sojourn", "capacity", url, "--objective", objective, "--json", "--out", str(out)]
    for _ in range(WAITS):  # it goes on with the runs that it has
        began = time.monotonic()
        done = subprocess.run([*command, *(["--insecure"] if tls else [])], capture_output=True, text=True)
        if done.returncode != Busy.exit_code:
            break
        time.sleep(1)
    (out.parent / "capacity.log").write_text(done.stdout + done.stderr)
    told = json.loads(done.stdout) if done.stdout.startswith("{") else {"why": done.stderr.strip().split("\n")[-1]}
    return {**told, "wall_s": time.monotonic() - began, "exit": done.returncode}


def _truth(url: str, out: Path, full: float, objective: str, more: dict[str, Any]) -> tuple[float, float | None]:
    """The largest rate up to which all runs met it, the smallest from which on none did."""
    asked = [(share * full, number) for share in SHARES for number in (1, 2)]
    random.Random(5).shuffle(asked)
    met: dict[float, list[bool]] = {}
    for rate, number in asked:
        (folder,) = sj.measure(
            url, out / f"{number}-{rate:.4g}", rates_per_s=[rate], duration_s=8.0, seed=number * 101, **more
        )
        (one,) = judge(folder, read_objectives([objective]), whole=False)
        met.setdefault(rate, []).append(one["met"])
    rates = sorted(met)
    good = max((r for r in rates if all(all(met[q]) for q in rates if q <= r)), default=0.0)
    bad = min((r for r in rates if not any(any(met[q]) for q in rates if q >= r)), default=None)
    return good, bad


def main(names: Sequence[str], out: Path, other: bool) -> None:
    for name in names:
        if shutil.which(SERVICES[name].needs) is None:
            print(f"{name}: left out, {SERVICES[name].needs} is not installed", flush=True)
            continue
        found = run(name, out, other)
        new = not (out / "raw.csv").exists()
        with open(out / "raw.csv", "a", newline="") as file:
            writer = csv.DictWriter(file, list(found), lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in found.items()})
        print(found, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="; ".join(SERVICES))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--beside", action="store_true", help="beside a process that computes for half of the time")
    given = parser.parse_args()
    main(given.names or list(SERVICES), given.out.resolve(), given.beside)
