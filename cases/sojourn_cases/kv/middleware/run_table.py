"""Run folders of the system as a table, a row a run: what analyses and the model template read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from sojourn.runs import RunFolder, recorded_work_s
from sojourn_cases.kv.middleware.affinity import assigned

CONFIGURATION = ("design", "servers", "proxies", "workers", "workload", "sharded", "value_bytes", "client_hosts")
FACTORS = {
    "design": pl.String, "servers": pl.Int64, "proxies": pl.Int64, "workers": pl.Int64, "workload": pl.String,
    "sharded": pl.Boolean, "value_bytes": pl.Int64, "client_hosts": pl.Int64, "clients": pl.Int64,
}  # fmt: skip
# column → metric, station, quantile
METRICS: dict[str, tuple[str, str, float | None]] = {
    "throughput_per_s": ("throughput", "", None),
    "response_s": ("response_time", "", None),
    **{f"p{round(100 * q)}_s": ("response_time_quantile", "", q) for q in (0.25, 0.5, 0.75, 0.9, 0.99)},
    "own_s": ("residence_time", "client", None),
    "mw_throughput_per_s": ("throughput", "middleware", None),
    "mw_response_s": ("response_time", "middleware", None),
    "queue_s": ("waiting_time", "middleware", None),
    "service_s": ("service_time", "middleware", None),
    "queue_length": ("queue_length", "middleware", None),
    "net_s": ("service_time", "net thread", None),
    "net_cpu_s": ("service_demand", "net thread", None),
    "worker_cpu_s": ("service_demand", "workers", None),
    "server_cpu_s": ("service_demand", "servers", None),
    "client_cpu_s": ("service_demand", "client", None),
    "client_share": ("utilisation", "client", None),
}
BY_CLASS = {
    "set_response_s": ("set",),
    "get_response_s": ("get", "multi-get"),
}  # column → classes of which a run has one
WORK = ("client_work_s", "server_work_s", "proxy_work_s")
SAID = {
    "misses": pl.Int64, "errors": pl.Int64, "server_shares": pl.Float64, "startup_s": pl.Float64, "mw_whole_per_s": pl.Float64,
    "server_sent_bit_per_s": pl.Float64, "server_rate_bit_per_s": pl.Float64, "proxy_sent_bit_per_s": pl.Float64,
    "proxy_rate_bit_per_s": pl.Float64, "client_sent_bit_per_s": pl.Float64, "client_rate_bit_per_s": pl.Float64,
    "server_cores": pl.Float64, "server_throttled": pl.Float64, "client_throttled": pl.Float64, "pinned": pl.Boolean,
}  # fmt: skip
SCHEMA: dict[str, Any] = {
    "run": pl.String, "section": pl.String, **FACTORS, "repetition": pl.Int64, "valid": pl.Boolean, "disturbed": pl.Boolean,
    **dict.fromkeys((*METRICS, *BY_CLASS, *WORK, "queue_length_error", "other_processes_cores"), pl.Float64), **SAID,
}  # fmt: skip
NORMAL = 1.96
USUAL_BYTES = 1024  # of a value
WHERE_NO_FACTOR = {"value_bytes": USUAL_BYTES, "client_hosts": 1}


def frame(folders: Sequence[RunFolder]) -> pl.DataFrame:
    """A row a run, columns as in SCHEMA; null where a run has no such part. Times are means for an operation, s:
    `response_s` until the answer is at the client's host, of sets and gets apart `set_response_s`, `get_response_s`; `own_s` from there
    until the client has read it; client side and CPU times by process, `mw_…` and the following by the middlewares (`reading`).
    `…_work_s`: of the recorder's piece of work on the cores of the client, the servers and the middlewares. `queue_length_error` is a
    standard error."""
    return pl.DataFrame([_row(folder) for folder in folders], schema=SCHEMA)


def _row(folder: RunFolder) -> dict[str, Any]:
    manifest = folder.manifest
    said = {**WHERE_NO_FACTOR} | manifest.get("conditions", {}).get("load", {})  # it was no factor before
    found = {name: manifest["factors"].get(name, said.get(name)) for name in FACTORS}
    found |= {"run": folder.path.name, "section": manifest["section"], "repetition": manifest.get("repetition", 1)}
    found |= {"valid": manifest["valid"], "disturbed": any(r.startswith("disturbed") for r in manifest["reasons"])}
    found |= {"other_processes_cores": manifest["checks"].get("others"), **{k: manifest["kv"].get(k) for k in SAID}}
    metrics = folder.frame("metrics")
    every = list(metrics.iter_rows(named=True)) if metrics is not None else []
    known = {(row["metric"], row["station"], row["q"]): row for row in every if row["class"] == ""}
    of_class = {row["class"]: row["value"] for row in every if (row["metric"], row["station"]) == ("response_time", "")}
    found |= {name: of_class[one] for name, classes in BY_CLASS.items() for one in classes if one in of_class}
    found |= {name: known[key]["value"] for name, key in METRICS.items() if key in known}
    found |= work_of(folder)
    length = known.get(METRICS["queue_length"])
    if length is not None and length["high"] is not None:
        found["queue_length_error"] = (length["high"] - length["value"]) / NORMAL
    return found


def work_of(folder: RunFolder) -> dict[str, float]:
    """The columns WORK of a run: means over the cores that each kind of process may use; none where nothing was recorded."""
    each, manifest = recorded_work_s(folder), folder.manifest
    cores = [core for core in manifest["kv"].get("cores", ()) if core in each]
    if not cores:
        return {}
    sets = [cores] * len(WORK)
    if manifest["kv"].get("pinned"):
        servers, proxies = (int(manifest["factors"][name]) for name in ("servers", "proxies"))
        own = assigned(manifest["kv"]["cores"], servers, proxies)
        sets = [[*own.client], [c for one in own.servers for c in one], [c for one in own.proxies for c in one]]
    return {
        name: float(np.mean([each[core] for core in of if core in each]))
        for name, of in zip(WORK, sets, strict=True)
        if any(core in each for core in of)
    }


def point_frame(factors: Mapping[str, Any]) -> pl.DataFrame:
    """One row with the factors of a point, as `frame` has them; WORK too where it is given."""
    given = {**WHERE_NO_FACTOR, **dict.fromkeys(WORK), **factors}
    schema = {**FACTORS, **dict.fromkeys(WORK, pl.Float64)}
    return pl.DataFrame([{name: given[name] for name in schema}], schema=schema)


def configurations(rows: pl.DataFrame) -> list[tuple[dict[str, Any], pl.DataFrame]]:
    """The rows of each configuration (all sections together), ordered by clients."""
    parts = rows.sort(*CONFIGURATION, "clients", "repetition").partition_by(
        CONFIGURATION, as_dict=True, maintain_order=True
    )
    return [(dict(zip(CONFIGURATION, key, strict=True)), own) for key, own in parts.items()]


def name_of(configuration: dict[str, Any]) -> str:
    """Short text for tables: "staged, 2 servers, 1 proxy, 8 workers, get"; the size of values where it is not 1024 bytes."""
    c = configuration
    count = lambda n, word: f"{n} {word}{'s' * (n != 1)}"  # noqa: E731
    parts = [str(c["design"]), count(c["servers"], "server")]
    if c["design"] != "none":
        parts += [f"{c['proxies']} prox{'y' if c['proxies'] == 1 else 'ies'}"]
    if c["design"] == "staged":
        parts += [count(c["workers"], "worker")]
    parts += [str(c["workload"])] + (["sharded"] if c["sharded"] else [])
    parts += [count(c["client_hosts"], "client host")] if c.get("client_hosts", 1) > 1 else []
    size = c.get("value_bytes", USUAL_BYTES)
    return ", ".join([*parts, *([f"{size} bytes"] if size != USUAL_BYTES else [])])
