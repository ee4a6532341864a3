"""CPU time an operation of the proxy's process, beside nutcracker and memcached's own proxy doing what they can of the same.

    python benches/kv/run.py proxy
    BEFORE=FOLDER python benches/kv/run.py proxy     # also a version of before (record.version_of)

nutcracker is Debian's package. memcached's proxy is memcached built with `./configure --enable-proxy` (Debian's binary is not),
`MEMCACHED_PROXY` says where; what is not there is left out.

`bare staged` is `bare_staged.c`: the design of `staged` and nothing else, so what it costs at least.

Closed loop of 16 connections, values of 1 KB, each cell for some seconds, alternated, medians of 5 rounds. Each proxy
has one serving thread (staged: its network thread and 8 workers). Results go to benches/kv/proxy/DATE.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from record import compiled, cpu_s, listens, running, version_of

from sojourn.lab.worker_process import WorkerProcess
from sojourn.load.kv_load import kv_load
from sojourn_cases.common.memcached import Memcached, free_port, version

HERE = Path(__file__).resolve().parent
ROUNDS = int(os.environ.get("ROUNDS", "5"))
SECONDS = float(os.environ.get("RUN_SECONDS", "2"))
CONNECTIONS, KEYS, VALUE_BYTES = 16, 1000, 1024
WORKERS, BATCH = 8, 16
Row = dict[str, float | str | int]
# operation → weights of sets and gets, keys of a get
OPERATIONS = {"get": (0, 1, None), "set": (1, 0, None), "multi-get of 6": (0, 1, 6)}
NUTCRACKER, OWN, BEFORE, BARE = "nutcracker", "memcached's proxy", "staged, before", "bare staged"
STAGED = ("staged", "staged, one at a time", BEFORE)
CELLS = [
    *((name, 1, "get") for name in (NUTCRACKER, "direct", *STAGED, BARE)),
    *((name, 1, "set") for name in (NUTCRACKER, "direct", *STAGED, BARE)),
    *((name, 3, "set") for name in (OWN, "direct", *STAGED, BARE)),
    (NUTCRACKER, 1, "multi-get of 6"), ("direct", 1, "multi-get of 6"), ("staged", 1, "multi-get of 6"),
    (BARE, 1, "multi-get of 6"),
]  # fmt: skip


def peer(count: int, operation: str) -> tuple[str, int, str]:
    """Whom a cell is compared with."""
    return (NUTCRACKER if count == 1 else OWN, count, operation)


@contextmanager
def peer_at(port: int, command: Sequence[str | Path]) -> Iterator[tuple[str, int]]:
    """A program that serves this port, for the time of the block: its address, its process."""
    with running(command, lambda: listens(port)) as pid:
        yield f"memcached://127.0.0.1:{port}", pid


@contextmanager
def nutcracker(server: Memcached, folder: Path) -> Iterator[tuple[str, int]]:
    port = free_port("127.0.0.1")
    text = f"""one:
  listen: 127.0.0.1:{port}
  hash: fnv1a_64
  distribution: ketama
  preconnect: true
  servers:
   - {server.address}:1
"""
    Path(folder, "nutcracker.yml").write_text(text)
    command = ["nutcracker", "-c", f"{folder}/nutcracker.yml", "-s", str(free_port("127.0.0.1")), "-o", f"{folder}/log"]
    with peer_at(port, command) as place:
        yield place


@contextmanager
def memcached_proxy(program: str, servers: list[Memcached], folder: Path) -> Iterator[tuple[str, int]]:
    """A set goes to all servers, and its answer is the first that is no success."""
    port, lua = free_port("127.0.0.1"), folder / "proxy.lua"
    places = [server.address.rsplit(":", 1) for server in servers]
    backends = "\n".join(f'  b{k} = mcp.backend("b{k}", "{host}", {at})' for k, (host, at) in enumerate(places))
    pools = ", ".join(f"mcp.pool({{b{k}}})" for k in range(len(servers)))
    lua.write_text(f"""function mcp_config_pools(old)
{backends}
  return {{ {pools} }}
end
function mcp_config_routes(pools)
  mcp.attach(mcp.CMD_SET, function(r)
    local answers = mcp.await(r, pools, #pools)
    for i = 1, #pools do if not answers[i]:ok() then return answers[i] end end
    return answers[1]
  end)
end
""")
    user = ["-u", "root"] if os.getuid() == 0 else []
    command = [program, *user, "-l", "127.0.0.1", "-p", str(port), "-U", "0", "-t", "1", "-o", f"proxy_config={lua}"]
    with peer_at(port, command) as place:
        yield place


@contextmanager
def bare_staged(servers: list[Memcached], folder: Path) -> Iterator[tuple[str, int]]:
    """What the staged design costs with nothing else in it."""
    port, program = free_port("127.0.0.1"), compiled(HERE / "bare_staged.c", folder, "-pthread")
    ports = [server.address.rsplit(":", 1)[1] for server in servers]
    with peer_at(port, [program, str(port), str(WORKERS), str(BATCH), *ports]) as place:
        yield place


@contextmanager
def ours(name: str, servers: list[Memcached]) -> Iterator[tuple[str, int]]:
    config = {"listen": "127.0.0.1:0", "servers": [server.address for server in servers], "workers": WORKERS}
    config |= {"design": name.split(",")[0]} | ({"batch": 1} if name.endswith("one at a time") else {})
    with version_of(os.environ["BEFORE"] if name == BEFORE else None):
        worker = WorkerProcess("kv-proxy", {"kv-proxy": config})
    try:
        yield f"memcached://{worker.ready(20.0)['address']}", worker.process.pid
    finally:
        worker.close()


def load(url: str, operation: str, seconds: float, populate: bool) -> dict[str, float]:
    sets, gets, multi = OPERATIONS[operation]
    config = kv_load(
        [url], connections=CONNECTIONS, duration_s=seconds, set_weight=sets, get_weight=gets, multi_get=multi,
        keys=KEYS, value_bytes=VALUE_BYTES, populate=populate, verify=False,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as out:
        worker = WorkerProcess("load", {"load": config, "out": out})
        summary = worker.finish(seconds + 60)["summary"]
        worker.close()
    assert summary["failures"] == {}, summary
    latency = summary["latency"]["from_sent"]["to_received"]
    return {"ok": summary["ok"], "p50_ms": 1e3 * latency["p50_s"], "p99_ms": 1e3 * latency["p99_s"]}


def measure() -> list[Row]:
    rows: list[Row] = []
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        servers = [Memcached() for _ in range(3)]
        for server in servers:
            stack.callback(server.stop)
            load(f"memcached://{server.address}", "get", 0.1, True)
        proxies: dict[tuple[str, int], tuple[str, int]] = {}
        for count in (1, 3):
            for name in ("direct", *STAGED):
                if name != BEFORE or os.environ.get("BEFORE"):
                    proxies[name, count] = stack.enter_context(ours(name, servers[:count]))
            proxies[BARE, count] = stack.enter_context(bare_staged(servers[:count], Path(folder)))
        if shutil.which(NUTCRACKER):
            proxies[NUTCRACKER, 1] = stack.enter_context(nutcracker(servers[0], Path(folder)))
        if program := os.environ.get("MEMCACHED_PROXY"):
            proxies[OWN, 3] = stack.enter_context(memcached_proxy(program, servers, Path(folder)))
        for round_ in range(ROUNDS):
            for name, count, operation in CELLS:
                if (name, count) not in proxies:
                    continue
                url, pid = proxies[name, count]
                before = cpu_s(pid)
                seen = load(url, operation, SECONDS, False)
                used = cpu_s(pid) - before
                row: Row = {"round": round_, "proxy": name, "servers": count, "operation": operation}
                row |= {"cpu_us": 1e6 * used / seen["ok"], "per_s": seen["ok"] / SECONDS}
                rows.append(row | {"p50_ms": seen["p50_ms"], "p99_ms": seen["p99_ms"]})
                print(rows[-1], file=sys.stderr, flush=True)
    return rows


def summary(rows: list[Row]) -> str:
    """Medians by cell, and each against its peer's."""
    figures = ("cpu_us", "per_s", "p50_ms", "p99_ms")
    medians = {
        cell: {
            f: statistics.median(float(r[f]) for r in rows if (r["proxy"], r["servers"], r["operation"]) == cell)
            for f in figures
        }
        for cell in CELLS
        if any((r["proxy"], r["servers"], r["operation"]) == cell for r in rows)
    }
    lines = [
        f"# Proxies before {version()}", "",
        f"Medians of {ROUNDS} rounds of {SECONDS:g} s, alternated; closed loop of {CONNECTIONS} connections, values of "
        f"{VALUE_BYTES} bytes. `cpu_us` is CPU time of the proxy's process an operation; the ratio is to nutcracker's on "
        "one server, and to memcached's own proxy's on three, for the same operation. raw.csv has each round.", "",
        "| proxy | servers | operation | cpu_us | ratio | per_s | p50_ms | p99_ms |", "|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for (name, count, operation), found in medians.items():
        base = medians.get(peer(count, operation))
        ratio = f"{found['cpu_us'] / base['cpu_us']:.2f}" if base else "-"
        lines.append(
            f"| {name} | {count} | {operation} | {found['cpu_us']:.2f} | {ratio} | {found['per_s']:.0f} | "
            f"{found['p50_ms']:.3f} | {found['p99_ms']:.3f} |"
        )
    loads = os.getloadavg()
    return "\n".join([*lines, "", f"Load average at the end: {loads[0]:.1f} ({os.cpu_count()} cores).", ""])
