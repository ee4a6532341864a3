"""The rate, the latency and the price of the block load: a local file and the same file over NBD (qemu-nbd), and fio beside it.

    python benches/blockload/run.py OUT [--seconds 3]

Writes runs.csv and machine.json into OUT. Needs qemu-nbd (qemu-utils) and fio, a file system with O_DIRECT, and a machine at rest.
"""

from __future__ import annotations

import argparse
import csv
import json
import platform
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sojourn.load.block_load import block_load
from sojourn.measure.execute_run import execute

RATES = (500, 4000, 12000)
SPAN = "256m"
COLUMNS = (
    "generator", "path", "quick_ack", "asked_iops", "due", "completed", "sigmas", "mean_us", "p99_us", "cpu_us_per_io",
    "process_us_per_io", "reaps_per_io", "stalled_share", "cache_share", "status",
)  # fmt: skip


def ours(folder: Path, path: str, url: str, image: Path, rate: float, seconds: float, quick: bool) -> dict[str, Any]:
    """A run of ours as a row."""
    local = path == "local"
    config = block_load(
        url, iops=rate, read=0.7, block="4k", span=SPAN, direct=local, duration_s=seconds, timeout_s=5.0, quick_ack=quick,
        cache_of=None if local else image, seed=int(rate),
    )  # fmt: skip
    run = execute(folder / f"{path}-{rate}-{quick}", config, what={"name": path})
    told = run.manifest["storage"]
    done = max(told["completed"], 1)
    return {
        "generator": "sojourn", "path": path, "quick_ack": "" if local else quick, "asked_iops": rate, "due": told["due"],
        "completed": told["completed"], "sigmas": (told["completed"] - rate * seconds) / (rate * seconds) ** 0.5,
        "mean_us": 1e6 * told["latency_s"], "p99_us": 1e6 * (told["p99_s"] or 0), "status": " ".join(told["status"]),
        "cpu_us_per_io": 1e6 * told["generator_cpu_s"] / done, "process_us_per_io": 1e6 * told["process_cpu_s"] / done,
        "reaps_per_io": told["reaps"] / done, "stalled_share": told["stalled_share"], "cache_share": told["cache_share"],
    }  # fmt: skip


def fio(image: Path, rate: int, seconds: float, log: Path | None = None) -> dict[str, Any]:
    """A run of fio as a row: the same shares, rate and depth; its CPU time is that of its job. With `log` it writes a row an I/O there."""
    words = [
        "fio", "--name=x", f"--filename={image}", f"--size={SPAN}", "--rw=randrw", "--rwmixread=70", "--bs=4k", "--direct=1",
        "--ioengine=io_uring", "--iodepth=128", "--thread", "--rate_process=poisson", "--time_based", f"--runtime={seconds:g}",
        f"--rate_iops={round(0.7 * rate)},{round(0.3 * rate)}", "--output-format=json",
    ]  # fmt: skip
    words += [f"--write_lat_log={log}"] if log else []
    text = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout
    job = json.loads(text[text.index("{") :])["jobs"][0]
    done = job["read"]["total_ios"] + job["write"]["total_ios"]
    cpu_s = (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] / 1e3
    mean_ns = sum(job[kind]["lat_ns"]["mean"] * job[kind]["total_ios"] for kind in ("read", "write")) / done
    p99_ns = max(job[kind]["clat_ns"]["percentile"]["99.000000"] for kind in ("read", "write"))
    return {
        "generator": "fio with a log" if log else "fio", "path": "local", "asked_iops": rate, "completed": done, "mean_us": mean_ns / 1e3,
        "p99_us": p99_ns / 1e3, "cpu_us_per_io": 1e6 * cpu_s / done,
        "sigmas": (done - rate * seconds) / (rate * seconds) ** 0.5,
    }  # fmt: skip


def qemu_nbd(image: Path) -> tuple[subprocess.Popen[bytes], str]:
    """qemu-nbd on the image, past the page cache; its URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [
        "qemu-nbd",
        "--format=raw",
        "--cache=none",
        "--aio=native",
        "--persistent",
        "--shared=4",
        "--bind=127.0.0.1",
    ]
    server = subprocess.Popen([*words, f"--port={port}", str(image)])
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return server, f"nbd://127.0.0.1:{port}"
        time.sleep(0.05)
    server.kill()
    raise SystemExit("qemu-nbd does not listen")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=3.0)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory(dir=given.out) as scratch:
        image = Path(scratch, "img")
        execute(
            Path(scratch, "made"),
            block_load(f"file:{image}", iops=10, duration_s=0.2, span=SPAN),
            what={"name": "made"},
        )
        server, url = qemu_nbd(image)
        try:
            for rate in RATES:
                rows.append(ours(Path(scratch), "local", f"file:{image}", image, rate, given.seconds, True))
                rows.append(fio(image, rate, given.seconds))
                rows += [ours(Path(scratch), "nbd", url, image, rate, given.seconds, quick) for quick in (True, False)]
        finally:
            server.terminate()
            server.wait()
    with (given.out / "runs.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        short = [{k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows]
        writer.writerows(short)
    versions = {
        name: subprocess.run([name, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
        for name in ("fio", "qemu-nbd")
    }
    machine = {"kernel": platform.release(), "machine": platform.machine(), "seconds": given.seconds, **versions}
    (given.out / "machine.json").write_text(json.dumps(machine, indent=1) + "\n")
    print((given.out / "runs.csv").read_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
