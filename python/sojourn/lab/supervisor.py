"""The process that keeps a user's own program: starts it, waits until it is ready, and ends it with all that it started.

It is the parent of every process of the service (PR_SET_CHILD_SUBREAPER, prctl(2)): one that puts itself into the
background, in whatever session, comes back to it and is found by its parent. When sojourn ends, however it ends, the kernel
tells the supervisor (PR_SET_PDEATHSIG), which then ends them all; when the supervisor is killed too, the next start finds them by
their control group and the mark in their environment (cleanup_registry.py).
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from sojourn import _native
from sojourn.lab.capped_log import CappedLog, last_lines
from sojourn.lab.process_tree import (
    GONE_S,
    POLL_S,
    PR_SET_PDEATHSIG,
    descendants,
    how_ended,
    name_of,
    send,
    wait_until,
)
from sojourn.lab.readiness import problem

PR_SET_CHILD_SUBREAPER = 36
WATCH_S = 0.1
LEFT_S = 1.0  # for workers to see that their master has ended
Config = dict[str, Any]
Emit = Callable[..., None]


def keep(config: Config, emit: Emit) -> dict[str, Any]:
    """Runs `config["argv"]` until this process is told to stop; what became of it.

    `config`: argv, environment (all of it), folder, cores (or null), groups (folders of control groups), ready
    ({"url"} or {"address"}), ready_s, stop_signal, grace_s, log, log_bytes, secrets.

    Raises:
        RuntimeError: it cannot be started, ends before it is ready, or never is; nothing of it is left then.
    """
    _adopt()
    output = CappedLog(Path(config["log"]), config["secrets"], config["log_bytes"])
    service = ProcessTree(config, output)
    try:
        service.wait_ready()
        emit(
            "ready", pid=service.pid, after_s=service.age_s(), processes=service.processes(), grouped=service.grouped()
        )
        service.watch()
    finally:
        service.end()
    return service.account()


def _adopt() -> None:
    library = ctypes.CDLL(None, use_errno=True)
    library.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    library.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)  # worker_main.py had asked for SIGKILL


class ProcessTree:
    """A running program and its descendants."""

    def __init__(self, config: Config, output: CappedLog) -> None:
        self._config = config
        self._output = output
        self._died_s: float | None = None
        self._left: list[str] = []
        self._killed = False
        self._full = ""
        self._began_s = time.monotonic()
        try:
            self._process = self._start()
        except BaseException as error:
            output.close()
            if isinstance(error, OSError):
                raise RuntimeError(f"{config['argv'][0]}: {error.strerror}; give a program that runs here") from None
            raise
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
        self._reader.start()

    def _start(self) -> subprocess.Popen[bytes]:
        cores, groups = self._config["cores"], self._config["groups"]

        def prepare() -> None:
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if cores:
                os.sched_setaffinity(0, cores)
            for group in groups:
                with suppress(OSError):  # `grouped` tells
                    Path(group, "cgroup.procs").write_text("0")

        return subprocess.Popen(
            self._config["argv"], env=self._config["environment"], cwd=self._config["folder"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True, preexec_fn=prepare,
        )  # fmt: skip

    def _read(self, pipe: IO[bytes]) -> None:
        while data := os.read(pipe.fileno(), 65536):
            try:
                self._output.add(data)
            except OSError as error:  # it is read on: a program that nobody reads stops
                self._full = f"{error.strerror}: {self._config['log']}"
                self._output.left_out += len(data)

    @property
    def pid(self) -> int:
        return self._process.pid

    def age_s(self) -> float:
        """Since its start."""
        return time.monotonic() - self._began_s

    def processes(self) -> dict[str, int]:
        """All its processes but the first, by number and name of the program."""
        return {f"service {pid} {name_of(pid)}": pid for pid in descendants(os.getpid()) if pid != self.pid}

    def grouped(self) -> bool:
        """Whether it is in its control groups."""
        with suppress(OSError):
            text = Path(f"/proc/{self.pid}/cgroup").read_text()
            return bool(self._config["groups"]) and all(Path(g).name in text for g in self._config["groups"])
        return False

    def wait_ready(self) -> None:
        """Returns when it answers.

        Raises:
            RuntimeError: it ended first, or did not in time.
        """
        deadline, ready_s = time.monotonic() + self._config["ready_s"], self._config["ready_s"]
        while why := problem(self._config["ready"]):
            if self._gone():
                raise RuntimeError(self._ended_early())
            if self._full:
                raise RuntimeError(f"{self._full}; make room for what it prints")
            if _native.stopped():
                raise RuntimeError("it was stopped before it was ready; start it again")
            if time.monotonic() > deadline:
                self.end()
                said = self._said()
                raise RuntimeError(f"not ready after {ready_s:g} s: {why}{said}; fix `ready`, or increase `ready_s`")
            time.sleep(POLL_S)
        if self._gone():
            raise RuntimeError(self._ended_early())

    def _gone(self) -> bool:
        """Whether the program itself has ended; other children that have are reaped."""
        while True:
            with suppress(ChildProcessError):
                found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if found is not None and found.si_pid != self.pid:
                    os.waitpid(found.si_pid, 0)
                    continue
            return self._process.poll() is not None

    def _ended_early(self) -> str:
        left = self.processes()
        self.end()
        if left and self._process.returncode == 0:
            names = ", ".join(sorted(name.removeprefix("service ") for name in left))
            return (
                f"the program ended with 0 and left {len(left)} processes behind ({names}), which were stopped{self._said()}; "
                "start it in the foreground (nginx: -g 'daemon off')"
            )
        return f"the program {how_ended(self._process.returncode)} before it was ready{self._said()}; fix what the message says"

    def _said(self) -> str:
        said = last_lines(Path(self._config["log"]))
        return f"; its last lines: {said}" if said else "; it printed nothing"

    def watch(self) -> None:
        """Waits until this process is told to stop; notes when the program ends before that."""
        while not _native.stopped():
            if self._gone() and self._died_s is None:
                self._died_s = time.monotonic()
            time.sleep(WATCH_S)

    def end(self) -> None:
        """Ends the program by its signal, then all that is left of it; returns when nothing is."""
        if not self._gone():
            send([self.pid], signal.Signals[self._config["stop_signal"]])
            if not wait_until(self._gone, self._config["grace_s"]):
                self._killed = True
                send([self.pid], signal.SIGKILL)
                wait_until(self._gone, GONE_S)
        if not wait_until(self._alone, LEFT_S):
            self._left = [name_of(pid) for pid in descendants(os.getpid())]
            send(descendants(os.getpid()), signal.SIGTERM)
            wait_until(self._alone, LEFT_S)
        while not self._alone():
            send(descendants(os.getpid()), signal.SIGKILL)
            time.sleep(POLL_S)
        self._reader.join(LEFT_S)
        self._output.close()

    def _alone(self) -> bool:
        self._gone()
        return not descendants(os.getpid())

    def account(self) -> dict[str, Any]:
        """What became of it: `died_s` of CLOCK_MONOTONIC and `how` where it ended by itself, `killed` where it did not heed
        its signal, `left`: processes that were there when it had ended."""
        found = {"killed": self._killed, "left": self._left, "output_left_out_bytes": self._output.left_out}
        if self._died_s is not None:
            said = last_lines(Path(self._config["log"]))
            found |= {"died_s": self._died_s, "how": how_ended(self._process.returncode), "last_lines": said}
        return found
