"""The web study's service on a virtual host: what a study may set, and how one point of it is simulated.

The host is `simulate/host.py`; here are only the keys of `[service]` and `[demand]`, and what the truth is in the
letters of the two-class model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sojourn.measure.folder import RunFolder
from sojourn.simulate.host import Host, simulate_host, write_host_run


class VirtualOptions(BaseModel):
    """`[service]` of a study on a virtual host: how it places and runs threads. Times in s."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    placement: str = Field(default="pinned", pattern="^(pinned|uniform|least-loaded)$")
    stay: float | None = Field(default=None, ge=0, le=1)
    threads_per_core: int = Field(default=1, ge=0, le=100_000)
    quantum_s: float = Field(default=0.0, ge=0, le=1)
    switch_s: float = Field(default=0.0, ge=0, le=0.1)
    crossing_s: float = Field(default=0.0, ge=0, le=1)
    capacity: int | None = Field(default=None, ge=1)
    steering: str = Field(default="hash", pattern="^(hash|even)$")


class VirtualDemand(BaseModel):
    """`[demand]`: the work of a request, s, and its distributions."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    interrupt_s: float = Field(gt=0, le=1)
    page_s: float = Field(gt=0, le=10)
    interrupt: str = Field(default="deterministic", pattern="^(deterministic|exponential)$")
    page: str = Field(default="exponential", pattern="^(deterministic|exponential)$")


class VirtualTestbed:
    """How a study runs one point on a virtual host."""

    options_type = VirtualOptions
    demand_type = VirtualDemand

    @staticmethod
    def host(cores: int, nics: int, options: VirtualOptions, demand: VirtualDemand) -> Host:
        """The host that a configuration asks for."""
        placement: dict[str, Any] = {"policy": options.placement}
        if options.placement == "pinned":
            placement["stay"] = options.stay
        given = options.model_dump(exclude={"placement", "stay"})
        interrupt = {"kind": demand.interrupt, "mean": demand.interrupt_s}
        page = {"kind": demand.page, "mean": demand.page_s}
        return Host(cores, nics, interrupt, page, placement, **given)

    @staticmethod
    def run(
        path: Path, host: Host, *, rate_per_s: float | None, users: int, duration_s: float, timeout_s: float,
        seed: int, manifest: dict[str, Any],
    ) -> RunFolder:  # fmt: skip
        """One run: open loop at `rate_per_s`, or, where that is None, `users` in a closed loop without think time."""
        load = {"rate_per_s": rate_per_s} if rate_per_s else {"users": users}
        done = simulate_host(host, duration_s=duration_s, seed=seed, **load)
        return write_host_run(
            path, done, manifest | {"load": _load(host.nics, rate_per_s, users, duration_s)}, timeout_s
        )

    @staticmethod
    def truth(host: Host) -> dict[str, float]:
        """The parameters of the two-class model that this host has, where it has them: the host's own demands and
        delays (`switch_s` counts to the page: with one thread a core it comes once a page), p where threads are
        pinned. A host whose threads are placed by load has no p: the model's rule m/n stands in."""
        page_s = host.page["mean"] + host.switch_s
        found = {"mu1_per_s": 1 / host.interrupt["mean"], "mu2_per_s": 1 / page_s, "crossing_s": host.crossing_s}
        found["interrupt_scv"] = 1.0 if host.interrupt["kind"] == "exponential" else 0.0
        drawn = host.page["mean"] if host.page["kind"] == "exponential" else 0.0
        found["page_scv"] = (drawn / page_s) ** 2
        if host.capacity is not None:
            found["capacity"] = host.capacity
        if host.placement["policy"] == "pinned" and host.placement.get("stay") is not None:
            found["p"] = host.placement["stay"]
        return found


def _load(nics: int, rate_per_s: float | None, users: int, duration_s: float) -> dict[str, Any]:
    """The load as the manifest of a measured run has it: a lane for each NIC."""
    if rate_per_s:
        lane: dict[str, Any] = {"arrivals": {"kind": "poisson", "rate_per_s": rate_per_s / nics}}
        return {"lanes": [lane] * nics, "duration_s": duration_s}
    think = {"kind": "deterministic", "mean": 0.0}
    each = [users // nics + (nic < users % nics) for nic in range(nics)]
    return {"lanes": [{"closed": {"users": n, "think": think}} for n in each], "duration_s": duration_s}
