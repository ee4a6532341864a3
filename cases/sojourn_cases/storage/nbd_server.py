"""The embedded network block device server (`cases/crates/nbd`, Rust), in a process of its own.

For tests, and for machines without qemu-nbd; a connection's I/Os are done one after the other, so its speed is not that of
qemu-nbd, and a report says which of them served.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sojourn.lab import WorkerProcess


class EmbeddedNbd:
    """A running embedded server: where, which process, how to stop it."""

    kind = "embedded"

    def __init__(
        self,
        *,
        port: int | None = None,
        memory_bytes: int | None = None,
        file: Path | str | None = None,
        direct: bool = False,
        delay_s: float = 0.0,
        network: str | None = None,
        address: str = "127.0.0.1",
        cgroup: str | None = None,
        log: Path | int | None = None,
    ) -> None:
        """Starts it on `port` or a free one, with `memory_bytes` of zeros or a `file` (with `direct` past the page cache); each
        answer is sent `delay_s` after its request was done.

        Raises:
            ServiceError: the port is taken, the file cannot be used, neither or both of memory and file.
        """
        config: dict[str, Any] = {"listen": f"{address}:{port or 0}", "direct": direct, "delay_s": delay_s}
        config |= {} if memory_bytes is None else {"memory_bytes": memory_bytes}
        config |= {} if file is None else {"file": str(file)}
        self.worker = WorkerProcess("nbd", {"network": network, "nbd": config}, cgroup=cgroup, log=log)
        ready = self.worker.ready()
        self.address: str = ready["address"]
        self.port = int(self.address.rsplit(":", 1)[1])
        self.size_bytes: int = ready["size_bytes"]

    @property
    def url(self) -> str:
        return f"nbd://{self.address}"

    @property
    def pid(self) -> int:
        return self.worker.process.pid

    @property
    def pids(self) -> dict[str, int]:
        return {f"embedded nbd {self.port}": self.pid}

    def stop(self) -> dict[str, Any]:
        """Ends it; its own account of what it did, with `kind`."""
        done = self.worker.stop() or {}
        return {"kind": self.kind, **(done.get("summary") or {})}

    def close(self) -> None:
        """Makes sure that the process is gone."""
        self.worker.close()
