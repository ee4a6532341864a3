"""The embedded memcached-compatible server (`crates/kv`, Rust), in a process of its own.

For tests, and for machines where memcached cannot be had; its speed says nothing about memcached's, so a comparison
that is published never uses it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sojourn.lab.cpu_affinity import pin
from sojourn.lab.worker_process import WorkerProcess


class EmbeddedKv:
    """A running embedded server: where, which process, how to stop it."""

    kind = "embedded"

    def __init__(
        self,
        *,
        port: int | None = None,
        memory_bytes: int = 256 << 20,
        value_bytes: int = 1 << 20,
        core: int | None = None,
        network: str | None = None,
        address: str = "127.0.0.1",
        log: Path | int | None = None,
    ) -> None:
        """Starts it on `port` or a free one, pinned to `core` and in the namespace `network` where given, complaints to `log`.

        Raises:
            ServiceError: the port is taken …
        """
        config = {"listen": f"{address}:{port or 0}", "memory_bytes": memory_bytes, "value_bytes": value_bytes}
        self.worker = WorkerProcess("kv", {"network": network, "kv": config}, log=log)
        self.address: str = self.worker.ready()["address"]
        self.port = int(self.address.rsplit(":", 1)[1])
        try:
            if core is not None:
                pin([self.worker.process.pid], [core])
        except BaseException:
            self.worker.close()
            raise

    @property
    def url(self) -> str:
        return f"memcached://{self.address}"

    @property
    def pids(self) -> dict[str, int]:
        return {f"embedded kv {self.port}": self.worker.process.pid}

    def stop(self) -> dict[str, Any]:
        """Ends it; its own account of what it did, with `kind`."""
        done = self.worker.stop() or {}
        return {"kind": self.kind, **(done.get("summary") or {})}

    def close(self) -> None:
        self.worker.close()
