"""The web shop: what a study may set, how it is started, what to load.

The service itself is `cases/crates/web` (Rust); it runs in a process of its own on the server host.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sojourn.errors import LabError
from sojourn.lab import CorePlacement, Environment, WorkerProcess
from sojourn_cases.web.interrupt_times import table_of_times


class BackendOptions(BaseModel):
    """The backend behind the page `/wait`. It has `workers` servers that need no CPU, and a mean service time of `service_s`. `law` is
    the distribution of this time, exponential or deterministic. At most `cap` requests are present. Through the Unix socket `control`,
    these values can be changed later."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    service_s: float = Field(gt=0, le=60)
    law: str = Field(default="exponential", pattern="^(deterministic|exponential)$")
    workers: int = Field(default=4, ge=1, le=1024)
    cap: int = Field(default=10_000, ge=1, le=1_000_000)
    control: str | None = None

    def config(self) -> dict[str, Any]:
        """For the service."""
        return {
            "service": {"kind": self.law, "mean": self.service_s},
            "safe": {"workers": self.workers, "cap": self.cap},
            "control": self.control,
        }


class WebOptions(BaseModel):
    """What the web shop is started with, keys of `[system]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    port: int = Field(default=8080, ge=1, le=65535)
    path: str = Field(default="/item/7", pattern=r"^/\S*$")
    page_bytes: int = Field(default=8192, ge=1024, le=204800)
    pinned: bool = True
    threads_per_core: int = Field(default=1, ge=1, le=64)
    backend: BackendOptions | None = None


class KnownDemand(BaseModel):
    """`[system]`: the known work of a request, s; `auto` picks it from the number of cores."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    interrupt_s: float | str = "auto"
    page_s: float | str = "auto"
    interrupt: str = Field(default="deterministic", pattern="^(deterministic|exponential)$")
    page: str = Field(default="exponential", pattern="^(deterministic|exponential)$")


AUTO_INTERRUPT_S = {"deterministic": 1.5e-3, "exponential": 1e-3}  # no packet's work is above 10 ms


def choose_demand(demand: KnownDemand, cores: int) -> KnownDemand:
    """Fills in `auto`. Spreading the interrupts of n cores shows only where n > 1 + (A + client) / S, so
    A = S (n - 1) / 3 leaves a margin of three; S is in milliseconds so that hand-offs are small beside it.

    Raises:
        LabError: a value that is neither a number of seconds in [0, 0.01] nor `auto`.
    """
    interrupt_s = AUTO_INTERRUPT_S[demand.interrupt] if demand.interrupt_s == "auto" else demand.interrupt_s
    for name, value in (("interrupt_s", interrupt_s), ("page_s", demand.page_s)):
        if value != "auto" and not (isinstance(value, float) and 0 <= value <= 0.01):
            raise LabError(f"{name} = {value!r}", "[system]", "give seconds in [0, 0.01], or 'auto'")
    automatic = float(interrupt_s) * max(cores - 1, 1) / 3 or 0.5e-3
    page_s = automatic if demand.page_s == "auto" else demand.page_s
    return demand.model_copy(update={"interrupt_s": interrupt_s, "page_s": page_s})


class WebService:
    """A running web shop: what to load, which processes to watch, how to stop it."""

    def __init__(
        self, worker: WorkerProcess, work: WorkerProcess | None, ready: dict[str, Any], urls: list[str]
    ) -> None:
        self.worker = worker
        self._work = work
        self.ready = ready
        self.urls = urls

    @property
    def pids(self) -> dict[str, int]:
        pids = {"service": self.worker.process.pid}
        return pids | ({"interrupt work": self._work.process.pid} if self._work else {})

    def stop(self) -> dict[str, Any]:
        """Ends the service; its own account of what it did, and of the interrupt work done for it."""
        served = self.worker.stop() or {}
        worked = self._work.stop() if self._work else None
        return {"summary": served.get("summary"), "interrupt work": (worked or {}).get("summary")}


class WebTestbed:
    """How a study starts the web shop."""

    options_type = WebOptions

    @staticmethod
    def start(
        place: Environment,
        placement: CorePlacement,
        options: WebOptions,
        demand: KnownDemand,
        seed: int,
        out: Path | None,
        log: Path | int | None = None,
    ) -> WebService:
        """Starts the shop on the server host, with the interrupt work at its NICs; complaints to `log`.

        Raises:
            ServiceError: the port is taken …
        """
        nics = len(placement.interrupts)
        config = {
            "listen": [f"{address}:{options.port}" for address in place.addresses(nics)],
            "cores": list(placement.server),
            "leading": list(placement.interrupts),
            "pinned": options.pinned,
            "threads_per_core": options.threads_per_core,
            "page_bytes": options.page_bytes,
            "demand": {"kind": demand.page, "mean": demand.page_s} if demand.page_s else None,
            "seed": seed,
            "out": str(out) if out else None,
            "backend": options.backend.config() if options.backend else None,
        }
        worker = WorkerProcess("web", {"network": place.server_network, "web": config}, log=log)
        try:
            ready = worker.ready()
            table = table_of_times(float(demand.interrupt_s), demand.interrupt)
            work = place.interrupt_work(nics, options.port, table)
        except BaseException:
            worker.close()
            raise
        return WebService(worker, work, ready, WebTestbed.urls(place, placement, options))

    @staticmethod
    def urls(place: Environment, placement: CorePlacement, options: WebOptions) -> list[str]:
        """What to load, a URL for each NIC."""
        addresses = place.addresses(len(placement.interrupts))
        return [f"http://{address}:{options.port}{options.path}" for address in addresses]
