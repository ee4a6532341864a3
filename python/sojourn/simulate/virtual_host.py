"""A virtual host: what it is, a simulation of it, and the run folder made from that.

Requests arrive at NIC k, whose soft interrupts are served first on core k; then a page is made by a thread there or on
another core. After Chen et al., ICPE 2014, sections 3 and 4 (what is described there, not the model of it); the engine
is `crates/des/src/host`. Every demand is known, so that what a fit finds can be held against the truth.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn import _native
from sojourn.errors import InputError
from sojourn.runs.run_folder import RunFolder
from sojourn.simulate.simulated_folder import cpu_rows, write_run

Array = NDArray[np.float64]
Law = dict[str, Any]
SAMPLE_S = 0.1
REFUSED, TIMEOUT = 1, 4
CORE_STATES = ("user", "system", "softirq")


@dataclass(frozen=True)
class VirtualHost:
    """A virtual host; times in s.

    `interrupt`, `page`: distributions of a request's work, such as {"kind": "exponential", "mean": 0.003} (kinds:
    deterministic, exponential, erlang, hyperexponential, uniform, lognormal). `placement`: {"policy": "pinned",
    "stay": p} (the page stays with probability p, by default m/n, else goes to a core without a NIC), {"policy":
    "uniform"}, {"policy": "least-loaded"}. `threads_per_core` pages are worked at together (0: all), in turns of
    `quantum_s` (0: sharing the core exactly). `switch_s`: core time lost at each turn to another page. `crossing_s`:
    delay of a page that goes to another core. `capacity`: requests a core with a NIC has room for. `steering`: "hash"
    (each request to any NIC) or "even" (one after the other).
    """

    cores: int
    nics: int
    interrupt: Law
    page: Law
    placement: Law = field(default_factory=lambda: {"policy": "pinned"})
    threads_per_core: int = 1
    quantum_s: float = 0.0
    switch_s: float = 0.0
    crossing_s: float = 0.0
    capacity: int | None = None
    steering: str = "hash"


@dataclass(frozen=True)
class VirtualHostRun:
    """What a virtual host did. `requests` by name, shape (requests,): intended_s, ready_s (its interrupt was over),
    start_s, done_s, interrupt_s, page_s (work drawn), nic, core, user, refused. `sample_t_s` (samples,), and `states`:
    state → time of each core in it since the start, s, (samples, cores), the last row at `end_s`."""

    host: VirtualHost
    duration_s: float
    seed: int
    requests: dict[str, NDArray[Any]]
    sample_t_s: Array
    states: dict[str, Array]
    end_s: float
    events: int

    @property
    def response_s(self) -> Array:
        """Response times of the requests that were not refused, in order of arrival."""
        served = self.requests["refused"] == 0
        return np.asarray(self.requests["done_s"] - self.requests["intended_s"])[served]


def simulate_host(
    host: VirtualHost,
    *,
    rate_per_s: float | None = None,
    users: int | None = None,
    think_s: float = 0.0,
    arrivals: Law | None = None,
    duration_s: float,
    seed: int = 1,
    sample_s: float = SAMPLE_S,
) -> VirtualHostRun:
    """Simulates `host` from empty, under Poisson arrivals of `rate_per_s` at all NICs together, `users` in a closed loop
    (exponential think time of mean `think_s`), or an arrival process (`arrivals`, as the generator has them).

    Requests arrive until `duration_s`; those under way then are finished. Deterministic in `seed`; two hosts with one
    seed see the same arrivals and the same work. Raises InputError with value, place and remedy.
    """
    given = [name for name, value in (("rate_per_s", rate_per_s), ("users", users), ("arrivals", arrivals)) if value]
    if len(given) != 1:
        raise InputError(", ".join(given) or "none", "load", "give one of rate_per_s (above 0), users and arrivals")
    if users:
        kind = "exponential" if think_s else "deterministic"
        load: Law = {"kind": "closed", "users": users, "think": {"kind": kind, "mean": think_s}}
    else:
        load = {"kind": "open", "arrivals": arrivals or {"kind": "poisson", "rate_per_s": rate_per_s}}
    config = vars(host) | {"load": load, "duration_s": duration_s, "seed": seed, "sample_s": sample_s}
    try:
        out = _native.simulate_host(json.dumps(config))
    except ValueError as error:
        raise InputError(*error.args) from None
    states = {name: out[f"sample_{name}_s"].reshape(-1, host.cores) for name in CORE_STATES}
    columns = ("intended_s", "ready_s", "start_s", "done_s", "interrupt_s", "page_s", "nic", "core", "user", "refused")
    requests = {name: out[name] for name in columns}
    return VirtualHostRun(host, duration_s, seed, requests, out["sample_t_s"], states, out["end_s"], out["events"])


def write_host_run(
    path: Path | str, run: VirtualHostRun, manifest: dict[str, Any], timeout_s: float = 10.0
) -> RunFolder:
    """The run folder of a simulated host; an answer later than `timeout_s` is a failure, as with a client that gives
    up, but the host has done the work all the same. Raises what `write_run` raises."""
    filled = {
        "pids": {},
        "placement": host_placement(run.host.cores, run.host.nics),
        "duration_s": run.duration_s,
        "virtual host": vars(run.host),
        "service": {"interrupt work": _interrupt_work(run)},
        "seed": run.seed,
        "classes": ["page"],
        "at_rest": {},
        "machine": {"kernel": "virtual host", "architecture": "simulated", "cores": run.host.cores},
        "records": {"app": {"pages": ["page"], "weight": 1}},
    }
    idle = run.sample_t_s[:, None] - sum(run.states.values())
    host = cpu_rows(run.sample_t_s, run.states | {"idle": np.maximum(idle, 0.0)})
    return write_run(path, manifest=filled | manifest, requests=_client(run, timeout_s), host=host, app=_app(run))


def host_placement(cores: int, nics: int) -> dict[str, Any]:
    """Who runs where, as the manifest of a run has it; the client is elsewhere."""
    server = list(range(cores))
    return {"server": server, "interrupts": server[:nics], "client": [], "client_shares": False, "observer": -1}


def _client(run: VirtualHostRun, timeout_s: float) -> pl.DataFrame:
    seen = run.requests
    late = seen["done_s"] - seen["intended_s"] > timeout_s
    failure = np.where(seen["refused"] > 0, REFUSED, np.where(late, TIMEOUT, 0))
    done = np.where(late, seen["intended_s"] + timeout_s, seen["done_s"])
    columns = {"intended_s": seen["intended_s"], "done_s": done, "failure": failure, "lane": seen["nic"]}
    status = np.where(failure > 0, 0, 200)
    received = np.where(failure > 0, np.nan, done)
    return pl.DataFrame(columns | {"status": status, "received_s": received, "user": seen["user"]})


def _app(run: VirtualHostRun) -> pl.DataFrame:
    """The service's own account of what it served; `fixed_s` is the mean it lost by turning to other pages."""
    served = run.requests["refused"] == 0
    seen = {name: values[served] for name, values in run.requests.items()}
    pages = max(int(served.sum()), 1)
    lost = float(run.states["system"][-1].sum()) / pages
    frame = pl.DataFrame(
        {
            "received_s": seen["intended_s"],
            "start_s": seen["start_s"],
            "end_s": seen["done_s"],
            "drawn_s": seen["page_s"],
            "work_s": seen["done_s"] - seen["start_s"],
            "core": seen["core"],
            "nic": seen["nic"],
        }
    )
    constants = {"fixed_s": (lost, pl.Float64), "thread": (0, pl.UInt16), "status": (200, pl.UInt16)}
    constants |= {"bytes": (0, pl.UInt32), "page": (0, pl.UInt8), "weight": (1, pl.UInt32)}
    return frame.with_columns(**{name: pl.lit(value, dtype=kind) for name, (value, kind) in constants.items()})


def _interrupt_work(run: VirtualHostRun) -> dict[str, float]:
    served = run.requests["refused"] == 0
    return {"packets": int(served.sum()), "seconds": float(run.requests["interrupt_s"][served].sum())}
