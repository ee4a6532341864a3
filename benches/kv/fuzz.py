"""Mutated bytes by a seed, for a bounded time: at the protocol's parser alone, then at a live proxy of each design.

    python benches/kv/fuzz.py --seconds 600 --seed 1

Half of the time for the parser, a quarter for each design, half of that before one server and half before three with
multi-gets in shares. crates/memproto/examples/fuzz has what is checked of each
stream; here, that the proxy meanwhile answers others rightly and that its memory stays. Needs cargo. Fails (exit code 1)
if a check does. Results go to benches/kv/fuzz/DATE: machine.json, raw.json, memory-DESIGN-SERVERS.csv, summary.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from folder import new_folder
from memory import RULE, Memory
from probes import Probe

from sojourn_cases.common.memcached import Memcached, version
from sojourn_cases.kv.middleware.kv_proxy import KvProxy, ProxyOptions

ROOT = Path(__file__).resolve().parents[2]
LEAST_S = 32
TARGET = ROOT / "target/fuzz"
PROXIES = [(design, servers) for design in ("direct", "staged") for servers in (1, 3)]
Json = dict[str, Any]


def build() -> Path:
    """The fuzzer, optimised, but with the checks of arithmetic that a debug build has."""
    checked = [f"--config=profile.release.{name}=true" for name in ("overflow-checks", "debug-assertions")]
    command = ["cargo", "build", "--release", "--quiet", "-p", "sojourn-memproto", "--example", "fuzz", *checked]
    subprocess.run([*command, "--target-dir", str(TARGET)], cwd=ROOT, check=True)
    return TARGET / "release/examples/fuzz"


def fuzz(program: Path, words: list[str], seconds: int, seed: int) -> Json:
    """What it counted; with `fault` where it found one."""
    command = [str(program), *words, "--seconds", str(seconds), "--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60)
    if done.returncode != 0:
        return {"fault": done.stderr.strip() or f"ended with {done.returncode}"}
    counts: Json = json.loads(done.stdout)
    return counts


def verbose_server(stack: ExitStack) -> Memcached:
    """A client may tell it to be verbose: what it says is read, or it would wait for that for ever."""
    server = Memcached(memory_bytes=64 << 20)
    stack.callback(server.stop)
    threading.Thread(target=lambda: [None for _ in server.process.stderr or ()], daemon=True).start()
    return server


def live(program: Path, design: str, servers: int, seconds: int, seed: int, folder: Path) -> Json:
    """A proxy under the fuzzer's clients and one that knows its answers."""
    with ExitStack() as stack:
        addresses = tuple(verbose_server(stack).address for _ in range(servers))
        options = ProxyOptions(listen="127.0.0.1:0", servers=addresses, design=design, workers=8, sharded=servers > 1)
        proxy = KvProxy(options)
        stack.callback(proxy.close)
        # Streams have a flush_all now and then: what was stored may be gone at any time.
        probe = Probe(proxy.address, 0, seed, lambda begin, end: False, lambda begin, end: True)
        memory = Memory(proxy.pid)
        probe.start()
        memory.start()
        found = fuzz(program, ["live", proxy.address], seconds, seed)
        tally = probe.stop()
        memory.stop()
        memory.write(folder / f"memory-{design}-{servers}.csv", memory.samples[0][0])
        alive = proxy.worker.process.poll() is None
        done = proxy.stop() if alive else {}
    found |= {"alive": alive, "flat": memory.is_flat(), "memory": memory.told(), "probe_faults": tally.faults}
    return found | {"probe_batches": tally.batches, "proxy_by_kind": done.get("by_kind"), "server": done.get("servers")}


def is_good(found: Json) -> bool:
    return (
        "fault" not in found and found.get("alive", True) and found.get("flat", True) and not found.get("probe_faults")
    )


def summary(asked: Json, results: dict[str, Json]) -> str:
    lines = [
        f"# Fuzz of the memcached protocol and the proxy before {version()}", "",
        f"Seed {asked['seed']}, {asked['seconds']} s: half for the parser, an eighth for each proxy, by "
        "`python benches/kv/fuzz.py`. What is checked: benches/kv/fuzz.py and crates/memproto/examples/fuzz.", "",
        f"Memory of a proxy: {RULE}.", "", "| part | good | counts |", "|---|---|---|",
    ]  # fmt: skip
    for name, found in results.items():
        counts = {key: value for key, value in found.items() if key not in ("proxy_by_kind", "server", "fault")}
        told = "; ".join(f"{key} {value}" for key, value in counts.items())
        lines.append(f"| {name} | {'yes' if is_good(found) else 'NO'} | {told} |")
    faults = [f"{name}:\n\n    {found['fault']}" for name, found in results.items() if "fault" in found]
    return "\n".join([*lines, "", *faults])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    if asked.seconds < LEAST_S:
        parser.error(f"--seconds {asked.seconds}: give at least {LEAST_S}")
    program, folder = build(), new_folder("fuzz")
    results = {"parser": fuzz(program, ["parse"], asked.seconds // 2, asked.seed)}
    for design, servers in PROXIES:
        name = f"{design}, {servers} server{'s' * (servers > 1)}"
        results[name] = live(program, design, servers, asked.seconds // 8, asked.seed, folder)
    (folder / "raw.json").write_text(json.dumps(results, indent=1) + "\n")
    text = summary(vars(asked), results)
    (folder / "summary.md").write_text(text)
    print(text)
    return 0 if all(is_good(found) for found in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
