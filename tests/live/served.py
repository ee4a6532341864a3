"""A service of ours in a process of its own, as the live tests hold it."""

from __future__ import annotations

from typing import Any

from sojourn.lab.worker_process import WorkerProcess


class Served:
    """Ended by SIGTERM, with a summary, or closed."""

    worker: WorkerProcess

    def stop(self) -> dict[str, Any]:
        """SIGTERM; the summary."""
        done = self.worker.stop()
        assert done is not None and done["event"] == "done", done
        summary: dict[str, Any] = done["summary"]
        return summary

    def close(self) -> None:
        self.worker.close()
