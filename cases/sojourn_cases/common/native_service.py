"""A native service with an endpoint for metrics: in a process of its own, waited for, ended in good order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel

from sojourn.lab import WorkerProcess

Summary = dict[str, Any]


class NativeService:
    """A running service: where it listens, which process it is, how to stop it."""

    scheme = ""

    def __init__(
        self,
        kind: str,
        options: BaseModel,
        ready_s: float,
        *,
        network: str | None = None,
        log: Path | int | None = None,
        cgroup: str | None = None,
    ) -> None:
        """Starts it in the network namespace at the path `network` and the control group at `cgroup`, complaints to
        `log`, and waits until it accepts, `ready_s` at most.

        Raises:
            ServiceError: an address is taken, what it needs cannot be reached.
        """
        self.kind = kind
        config = options.model_dump(mode="json")
        self.worker = WorkerProcess(kind, {"network": network, kind: config}, log=log, cgroup=cgroup)
        self.ready = self.worker.ready(timeout_s=ready_s)
        self.address: str = self.ready["address"]
        self.metrics: str | None = self.ready["metrics"]

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.address}"

    @property
    def pid(self) -> int:
        return self.worker.process.pid

    @property
    def return_code(self) -> int | None:
        """None while it runs."""
        return self.worker.process.poll()

    @property
    def pids(self) -> dict[str, int]:
        """The process by kind and address: what a run has to watch."""
        return {f"{self.kind} {self.address}": self.pid}

    def stop(self) -> Summary:
        """Ends it in good order; what it did.

        Raises:
            SojournError: it had ended by an error before.
        """
        summary: Summary = self.worker.result()["summary"]
        return summary

    def close(self) -> None:
        """Makes sure that the process is gone."""
        self.worker.close()
