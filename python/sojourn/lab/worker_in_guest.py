"""A worker in a guest: a service of ours in a virtual machine with NICs of its own, as `WorkerProcess` is one beside us.

Its counters come through a virtio port into a file, orders and answers through another; both clocks are compared by asking.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sojourn.errors import InputError, LabError
from sojourn.lab import guest_main
from sojourn.lab.guest import Guest, guest
from sojourn.lab.guest_command import GuestShape, address
from sojourn.lab.guest_parts import UML, WHAT, GuestParts
from sojourn.lab.guest_python import interpreter, python_files

ANSWER_S = 20.0
OTHERS = "others"
ASKED = 9  # times for the clock
RAN, WAITED = 0, 1  # fields of schedstat
# Below the load generator's 10: a request is sent on time. QEMU's own threads above the virtual CPUs: these wait for what those carry.
VIRTUAL_CPU_PRIORITY, OTHERS_PRIORITY = 2, 3
RUNTIME = "sys/kernel/sched_rt_runtime_us"  # -1: real-time threads may keep all others from a core for good
PORTS = {"control": guest_main.CONTROL, "samples": guest_main.SAMPLES}


@dataclass
class GuestWorker:
    """`samples`: the guest's counters, a line each; `cores`: of the host, of each virtual CPU; `real_time`: its threads come before all
    others there but the load generator's."""

    guest: Guest
    samples: Path
    cores: Sequence[int]
    real_time: bool
    _socket: socket.socket
    _summary: Any = field(default=None)

    def ask(self, order: str, limit_s: float = ANSWER_S) -> Any:
        """An answer of the guest, within `limit_s`.

        Raises:
            LabError: it does not answer: it is frozen, or gone.
        """
        self._socket.settimeout(limit_s)
        try:
            self._socket.sendall(order.encode() + b"\n")
            answer = b""
            while not answer.endswith(b"\n"):
                data = self._socket.recv(1 << 16)
                if not data:
                    raise LabError("the guest is gone", WHAT, "see its console")
                answer += data
        except OSError as error:
            raise LabError(f"the guest does not answer: {error}", WHAT, "start it again") from None
        return json.loads(answer)

    def do(self, what: dict[str, Any], limit_s: float = ANSWER_S) -> Any:
        """What the guest's `answers` makes of `what`.

        Raises:
            LabError: it does not answer, or failed there.
        """
        answer = self.ask(f"do {json.dumps(what)}", limit_s)
        if isinstance(answer, dict) and "error" in answer:
            raise LabError(str(answer["error"]), "in the guest", "see what it says")
        return answer

    def clock_offset_s(self) -> tuple[float, float]:
        """What to add to times of the guest to have CLOCK_MONOTONIC of the host, and by how much that can be wrong: of some questions
        the one answered soonest (Cristian, Distributed Computing 3, 1989, p. 146)."""
        best = (0.0, float("inf"))
        for _ in range(ASKED):
            before_s = time.monotonic()
            there_s = float(self.ask("clock"))
            half_s = (time.monotonic() - before_s) / 2
            best = min(best, (before_s + half_s - there_s, half_s), key=lambda one: one[1])
        return best

    def interrupts(self) -> dict[str, list[int]]:
        """NIC → its interrupts so far, by virtual CPU."""
        told = self.ask("interrupts")
        return nic_interrupts(told["text"], told["lines"])

    def cpu_s(self) -> dict[str, float]:
        """CPU time on the host so far, s: of the thread of each virtual CPU ("CPU 0"), and of all other threads ("others")."""
        return thread_cpu_s(self.guest.pid)

    def wait_s(self) -> dict[str, float]:
        """As `cpu_s`, the time for which it could have run and had no core."""
        return thread_cpu_s(self.guest.pid, field=WAITED)

    def move(self, cores: Sequence[int]) -> None:
        """Puts its virtual CPUs on other cores of the host, one each."""
        pin(self.guest.pid, cores)
        self.cores = cores

    def stop(self) -> Any:
        """Ends the service in good order; its own summary."""
        if self._summary is None:
            self._summary = self.ask("stop")
        return self._summary


def nic_interrupts(text: str, lines: dict[str, list[int]]) -> dict[str, list[int]]:
    """NIC → its interrupts by CPU, of /proc/interrupts: a head of CPUs, then a row a line: number, a count a CPU, names."""
    cpus = len(text.splitlines()[0].split())
    rows = {words[0].rstrip(":"): words[1 : 1 + cpus] for words in map(str.split, text.splitlines()[1:]) if words}
    return {
        nic: [sum(int(rows[str(line)][cpu]) for line in own if str(line) in rows) for cpu in range(cpus)]
        for nic, own in lines.items()
    }


@contextmanager
def guest_worker(
    parts: GuestParts,
    way: str,
    shape: GuestShape,
    call: str | None,
    config: dict[str, Any],
    *,
    cores: Sequence[int],
    interrupt_cores: Sequence[int],
    setup: str = "",
    more_files: Mapping[str, tuple[bytes, int]] | None = None,
    real_time: bool = True,
    other_cores: Sequence[int] | None = None,
    modules: Sequence[str] | None = None,
    answers: str | None = None,
    interval_s: float = 0.1,
    ready_s: float = 120.0,
) -> Iterator[GuestWorker]:
    """A guest in which the worker `call` ("module:function") runs with `config` and has said that it is ready. `cores`: of the host,
    one for each virtual CPU; `interrupt_cores`: the virtual CPU of each NIC's interrupts; of its second queue the
    next one, and so on. `setup`: what the guest's shell does first. `more_files`: path without a leading / → content and mode.
    `real_time`: priority on the host, where it can be had. `other_cores`: of the host, of all other threads, by default `cores`.
    `modules`: of the kernel, beside those of virtio. `answers` ("module:function"): what `GuestWorker.do` asks there; `call` may
    then be None.

    Raises:
        InputError: no such guest. LabError: it cannot be had, or did not become ready.
    """
    if way == UML:
        raise InputError("user-mode-linux has no virtio ports", WHAT, "take a guest of QEMU: kvm or tcg")
    files, path = python_files([one.partition(":")[0] for one in (call, answers) if one])
    each = range(max(shape.queues, 1))
    nics = [
        {"name": f"eth{k}", "cores": [(core + queue) % shape.cpus for queue in each]}
        for k, core in enumerate(interrupt_cores)
    ]
    told = {"path": path, "call": call, "config": config, "answers": answers, "nics": nics, "interval_s": interval_s}
    files |= {**(more_files or {}), "guest.json": (json.dumps(told).encode(), 0o644)}
    with (
        guest(parts, way, shape, script(len(nics), setup), files, ready_s, PORTS, modules) as booted,
        _control(booted) as control,
    ):
        pin(booted.pid, cores, others=other_cores)
        # two virtual CPUs of one core would wait for each other: the one that runs does not let go
        first = real_time and len(set(cores)) >= shape.cpus and put_first(booted.pid)
        yield GuestWorker(booted, booted.console.parent / "samples", cores, first, control)


def script(nics: int, setup: str = "") -> str:
    """What the guest's shell does: its NICs, `setup`, then our program, which says `ready`."""
    up = "".join(f"$b ifconfig eth{k} {address(k + 1)} netmask 255.255.255.0 up\n" for k in range(nics))
    begin = "$b ifconfig lo 127.0.0.1 up\nexport PYTHONDONTWRITEBYTECODE=1\nulimit -n 65536\n"
    return f"{up}{begin}{setup}{interpreter()} -S -E {guest_main.__file__}\ntell ended\n$b poweroff -f\n"


@contextmanager
def _control(booted: Guest) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as control:
        control.settimeout(ANSWER_S)
        control.connect(str(booted.console.parent / "control"))
        yield control


def _threads(pid: int, proc: Path) -> Iterator[tuple[int, str]]:
    """Thread → "CPU K" of one of a virtual CPU (QEMU names it "CPU 0/TCG" or "CPU 0/KVM"), else "others"."""
    for task in (proc / str(pid) / "task").iterdir():
        with suppress(OSError):  # it has ended meanwhile
            name = (task / "comm").read_text().partition("/")[0].strip()
            yield int(task.name), name if name.startswith("CPU ") else OTHERS


def thread_cpu_s(pid: int, proc: Path = Path("/proc"), field: int = RAN) -> dict[str, float]:
    """See `GuestWorker.cpu_s`: run time of proc_pid_schedstat, ns; or the time on a run queue (`WAITED`)."""
    used: dict[str, float] = {}
    for thread, name in _threads(pid, proc):
        with suppress(OSError):
            time_ns = (proc / str(pid) / "task" / str(thread) / "schedstat").read_text().split()[field]
            used[name] = used.get(name, 0.0) + int(time_ns) / 1e9
    return used


def pin(pid: int, cores: Sequence[int], proc: Path = Path("/proc"), others: Sequence[int] | None = None) -> None:
    """Each virtual CPU's thread on its core of the host; all others of the machine on any of them, or of `others`."""
    for thread, name in _threads(pid, proc):
        number = name.removeprefix("CPU ")
        own = {cores[int(number) % len(cores)]} if number.isdigit() else set(others or cores)
        os.sched_setaffinity(thread, own)


def put_first(pid: int, proc: Path = Path("/proc")) -> bool:
    """Gives the threads of a virtual machine real-time priority (SCHED_FIFO, sched(7)), so that no other program takes a virtual CPU's
    core while its guest is busy. Only where the kernel keeps a part of each second for others; whether they have it."""
    try:
        if int((proc / RUNTIME).read_text()) < 0:
            return False
        for thread, name in _threads(pid, proc):
            priority = OTHERS_PRIORITY if name == OTHERS else VIRTUAL_CPU_PRIORITY
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(priority))
    except (PermissionError, FileNotFoundError):  # not for this user; a kernel without this limit
        return False
    return True
