"""Worker processes: what runs as a service, a generator or a collector, each in a process of its own.

A worker says `started`, reads one JSON object from its standard input and answers with JSON lines: `ready`, `progress`, `done`
or `error`. It ends with its parent, however that ends (worker_main.py), and in good order on SIGTERM.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from sojourn.errors import FULL, InputError, LabError, ServiceError, SojournError, StorageFull

Event = dict[str, Any]
OURS = ("load", "host", "spin", "irqwork")  # their end says nothing of the service


class WorkerProcess:
    """One worker process of the given kind (`load`, `kv`, `host`, `spin`, `irqwork`, or one of a case)."""

    def __init__(
        self,
        kind: str,
        config: dict[str, Any] | None = None,
        *,
        log: Path | int | None = None,
        cgroup: str | None = None,
    ) -> None:
        """Starts the process; it does nothing before `begin`, which is called here where `config` is given.

        Its standard error goes to `log`, a file or the number of an open one.
        """
        self.kind = kind
        self._events: queue.Queue[Event | None] = queue.Queue()
        self._last: Event | None = None
        stderr = open(log, "ab") if isinstance(log, Path) else log or subprocess.DEVNULL  # noqa: SIM115
        try:
            # A session of its own: Ctrl-C reaches the parent alone, which then ends its workers in order.
            self.process = subprocess.Popen(
                [sys.executable, "-m", "sojourn.lab.worker_main", kind, str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,
            )
        finally:
            if not isinstance(stderr, int):
                stderr.close()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            if cgroup:
                Path(cgroup, "cgroup.procs").write_text(str(self.process.pid))
            if config is not None:
                self.begin(config)
        except BaseException:
            self.close()
            raise

    def begin(self, config: dict[str, Any]) -> None:
        """Tells the process what to do."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended; `ready` and `finish` say why
            self.process.stdin.write(json.dumps(config).encode() + b"\n")
            self.process.stdin.flush()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                self._events.put(json.loads(line))
            except ValueError:
                continue
        self._events.put(None)

    def ready(self, timeout_s: float = 20.0, grace_s: float = 0.0) -> Event:
        """Waits until the worker says that it is ready; one that does not is ended, within `grace_s` in good order.

        Raises:
            ServiceError: it ended or said an error first. LabError: it said nothing in time, or is not a service and ended.
        """
        try:
            return self._until("ready", timeout_s, None)
        except BaseException:
            if grace_s and self.process.poll() is None:
                self.process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    self.process.wait(grace_s)
            self.close()
            raise

    def started(self, timeout_s: float = 20.0) -> None:
        """Waits until the process has loaded its program, and would do at once what `begin` tells it. Raises as `ready` does."""
        self._until("started", timeout_s, None)

    def finish(self, timeout_s: float, progress: Callable[[Event], None] | None = None) -> Event:
        """Waits for `done`, handing progress on; returns its summary."""
        return self._until("done", timeout_s, progress)

    def ask_to_stop(self) -> None:
        """Asks the worker to end in good order; `result` waits for it, and may ask again."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)

    def result(self, timeout_s: float = 10.0) -> Event:
        """Ends the worker in good order; its summary.

        Raises:
            SojournError: it had ended by an error before, which this is.
        """
        self.ask_to_stop()
        try:
            return self.finish(timeout_s)
        finally:
            self.close()

    def stop(self, timeout_s: float = 10.0) -> Event | None:
        """Ends the worker in good order; its summary, or None if it had none. Raises no error of ours."""
        try:
            return self.result(timeout_s)
        except SojournError:
            return None

    def close(self) -> None:
        """Makes sure that the process is gone."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join(2.0)  # it ends with the process, and must not find its stream closed
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                with suppress(OSError):  # what was not sent to a dead process
                    stream.close()

    def _until(self, wanted: str, timeout_s: float, progress: Callable[[Event], None] | None) -> Event:
        deadline = time.monotonic() + timeout_s
        while (left := deadline - time.monotonic()) > 0:
            try:
                event = self._events.get(timeout=left)
            except queue.Empty:
                break
            if event is None:
                self._events.put(None)  # whoever asks next must not wait for it again
                code = self.process.wait()
                self.close()
                raised = LabError if self.kind in OURS else ServiceError
                raise raised(f"{self.kind} ended with {code}", "worker process", "see its log in the run folder")
            if event["event"] == wanted:
                return event
            if event["event"] == "error":
                self.close()
                raise _error(self.kind, event)
            if event["event"] == "progress" and progress:
                progress(event)
        raise LabError(f"{self.kind}: no '{wanted}' within {timeout_s:g} s", "worker process", "see its log; try again")


def _error(kind: str, event: Event) -> SojournError:
    """A native error, whose message ends with its remedy after a semicolon, as one of ours."""
    value, _, remedy = str(event["message"]).rpartition("; ")
    raised: type[SojournError] = InputError if event.get("type") == "ValueError" else ServiceError
    raised = StorageFull if any(full in value for full in FULL) else raised
    return raised(value or remedy, kind, remedy if value else "change what it names")
