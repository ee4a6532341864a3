"""The distribution's memcached as a server that lab starts and stops; the embedded one where it is missing."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from sojourn.errors import InputError, ServiceError
from sojourn.lab import EmbeddedKv

PROGRAM = "memcached"
STARTED_S = 5.0
ENDED_S = 5.0
CLAIMS = 5
OWN_FILES = 64


class Memcached:
    """A running memcached on loopback: where, which process, how to stop it."""

    kind = "memcached"

    def __init__(
        self,
        *,
        port: int | None = None,
        memory_bytes: int = 256 << 20,
        value_bytes: int = 1 << 20,
        threads: int = 1,
        connections: int = 4096,
        core: int | None = None,
        network: str | None = None,
        address: str = "127.0.0.1",
        cgroup: str | None = None,
    ) -> None:
        """Starts it with `threads` threads, on `port` or a free one, pinned to `core` where given, in the network
        namespace at the path `network` where given, in the control group at `cgroup` where given.

        Raises:
            ServiceError: memcached is not installed, or does not start.
        """
        program = shutil.which(PROGRAM)
        if program is None:
            raise ServiceError(f"{PROGRAM} is not installed", "lab", "install the distribution's package memcached")
        if memory_bytes < 1 << 20 or not 1024 <= value_bytes <= memory_bytes // 2:
            raise InputError(f"memory {memory_bytes}, values {value_bytes}", "memcached", "give at least 1 MiB, and "
                             "values of 1 KiB to half of that")  # fmt: skip
        _, files = resource.getrlimit(resource.RLIMIT_NOFILE)  # it may not be raised by whom memcached runs as
        connections = min(connections, max(files - OWN_FILES, 1))
        self._command = [program, "-l", address, "-U", "0", "-m", str(memory_bytes >> 20), "-I", str(value_bytes),
                         "-t", str(threads), "-c", str(connections)]  # fmt: skip
        self._host, self._network, self._cgroup, self._core = address, network, cgroup, core
        self._claim(port)

    def _claim(self, port: int | None) -> None:
        """Starts it at `port`; without one at a free port, which may be taken before memcached has it: then another."""
        for claim in range(CLAIMS):
            self.port = port or free_port(self._host)
            try:
                return self._begin()
            except ServiceError:
                self.close()
                if port or claim == CLAIMS - 1:
                    raise
            except BaseException:
                self.close()
                raise

    def _begin(self) -> None:
        # It ends with this process, however that ends; a change of user afterwards would undo that.
        nobody = ["--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []
        arguments = ["setpriv", *nobody, "--pdeathsig=TERM", *self._command, "-p", str(self.port)]
        if self._core is not None:  # before its threads are made: they inherit it
            arguments = ["taskset", "--cpu-list", str(self._core), *arguments]
        if self._network:
            arguments = ["nsenter", f"--net={self._network}", *arguments]
        self.process = subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip
        if self._cgroup:
            Path(self._cgroup, "cgroup.procs").write_text(str(self.process.pid))
        self._await(self._network)

    def start(self) -> None:
        """Starts it again, empty, at the port that it had. It ends with the thread that calls this.

        Raises:
            ServiceError: it runs, or does not start: the port may have been taken meanwhile.
        """
        if self.process.poll() is None:
            raise ServiceError(f"memcached at {self.address} runs", "lab", "stop it first")
        self._claim(self.port)

    def freeze(self) -> None:
        """Stops all its threads (SIGSTOP), so that its kernel still accepts connections and it says nothing; returns
        when they have stopped.

        Raises:
            ServiceError: it has ended, or goes on.
        """
        self.process.send_signal(signal.SIGSTOP)
        deadline = time.monotonic() + ENDED_S
        while not self._is_frozen():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise ServiceError(f"memcached at {self.address} cannot be frozen", "lab", "see whether it runs")
            time.sleep(0.001)

    def _is_frozen(self) -> bool:
        with suppress(OSError):
            tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
            return all("\nState:\tT" in (task / "status").read_text() for task in tasks)
        return False

    def thaw(self) -> None:
        """Lets it go on; nothing where it was not frozen, or has ended."""
        self.process.send_signal(signal.SIGCONT)

    def _await(self, network: str | None) -> None:
        """Waits until it answers; in another namespace until it has listened for a moment without an error."""
        deadline = time.monotonic() + STARTED_S
        patience = time.monotonic() + 0.3
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                said = self.process.stderr.read().decode(errors="replace").strip() if self.process.stderr else ""
                raise ServiceError(f"memcached at {self.address}: {said or self.process.returncode}", "lab",
                                   "choose another port")  # fmt: skip
            if network:
                if time.monotonic() > patience:
                    return
            elif self._answers():
                return
            time.sleep(0.01)
        raise ServiceError(f"memcached at {self.address} does not answer", "lab", "see whether the port is filtered")

    def _answers(self) -> bool:
        """Whether it is our process that answers there, and no other that had the port before."""
        host, port = self.address.rsplit(":", 1)
        try:
            with socket.create_connection((host, int(port)), timeout=1.0) as talk:
                talk.sendall(b"stats\r\nquit\r\n")
                said = b"".join(iter(lambda: talk.recv(65536), b""))
        except OSError:
            return False
        return f"STAT pid {self.process.pid}\r\n".encode() in said

    @property
    def address(self) -> str:
        return f"{self._host}:{self.port}"

    @property
    def url(self) -> str:
        return f"memcached://{self.address}"

    @property
    def pids(self) -> dict[str, int]:
        return {f"memcached {self.port}": self.process.pid}

    def stop(self) -> dict[str, Any]:
        """Ends it, frozen or not; says what it was."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.thaw()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(ENDED_S)
        self.close()
        return {"kind": self.kind, "version": version()}

    def close(self) -> None:
        """Makes sure that the process is gone."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stderr:
            self.process.stderr.close()


def version() -> str | None:
    """`memcached 1.6.18`, or None where it is not installed."""
    program = shutil.which(PROGRAM)
    if program is None:
        return None
    return subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10).stdout.strip()


def free_port(address: str = "127.0.0.1") -> int:
    """A TCP port that nobody had at that moment."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        return int(probe.getsockname()[1])


def start_server(**options: Any) -> Memcached | EmbeddedKv:
    """memcached with the options of `Memcached`; the embedded server, whose `kind` says so, where it is missing.

    Raises:
        ServiceError: memcached is there and does not start, or the embedded one does not.
    """
    if shutil.which(PROGRAM):
        return Memcached(**options)
    known = {"port", "memory_bytes", "value_bytes", "core", "network", "address"}
    return EmbeddedKv(**{name: value for name, value in options.items() if name in known})
