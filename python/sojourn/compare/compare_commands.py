"""Two commands, run in turn on this machine: the time that each takes, and the CPU time of it and of all that it waited for."""

from __future__ import annotations

import os
import resource
import select
import shlex
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from sojourn.compare.compare import check_blocks, check_metrics, check_range, compare_values
from sojourn.compare.comparison import Comparison
from sojourn.compare.interleaved import SIDES, InterleavedLimits, interleaved
from sojourn.compare.run_values import RunValues
from sojourn.errors import InputError, ServiceError
from sojourn.former_keyword import former_keyword
from sojourn.lab.capped_log import CappedLog, last_lines
from sojourn.lab.process_tree import GONE_S, descendants, how_ended, send, session, wait_until
from sojourn.units import USUAL_LEVEL, seconds

TIMEOUT_S, LOOK_MS = 600.0, 100
CHUNK_BYTES, MOST_TAKEN = 65_536, 1_000_000
METRICS = ("time", "cpu")
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
Words = Sequence[str]


@former_keyword(margin="equivalence_margin")
def compare_commands(
    a: str | Words, b: str | Words, *, limits: InterleavedLimits | None = None, warm_up: int = 1, timeout_s: float = TIMEOUT_S,
    metrics: Sequence[str] = (), equivalence_margin: float = 0.05, level: float = USUAL_LEVEL, names: tuple[str, str] = ("A", "B"),
    told: Callable[[str], None] = lambda _line: None,
) -> Comparison:  # fmt: skip
    """Runs two commands in turn, each once a block, and says whether B takes longer than A.

    Args:
        a, b: words, or a text that is split like a shell's (pipes need `sh -c '…'`). Their output is thrown away.
        limits: how many blocks, how long in all. warm_up: runs of each beforehand that do not count.
        timeout_s: after which a command is ended and the comparison stops, above 0.
        metrics: what the verdict is about [`time`]: `time`, `cpu`. equivalence_margin, level: as of `compare`.

    Raises:
        InputError: a command that cannot be started, a value out of range. ServiceError: a command ended with another code than 0, or did
        not end in time.
    """
    check_range(equivalence_margin, level)
    check_metrics(metrics, METRICS)
    limits = (limits or InterleavedLimits()).seeded()
    check_blocks(limits.blocks, metrics, level)
    if warm_up < 0 or not timeout_s > 0:
        raise InputError(
            f"{warm_up} runs, {timeout_s:g} s", "--warm-up-runs, --timeout", "give 0 or more runs, a time above 0"
        )
    words = dict(zip(SIDES, (_words(a), _words(b)), strict=True))
    for _ in range(warm_up):
        for side in SIDES:
            run_command(words[side], timeout_s)

    def run(side: str, block: int) -> RunValues:
        values = run_command(words[side], timeout_s)
        return RunValues(
            f"{side} {block}", {name: value for name, value in values.items() if value > 0}, {}, f"block-{block:02d}"
        )

    runs_a, runs_b, stopped = interleaved(run, limits, told)
    return compare_values(
        runs_a,
        runs_b,
        metrics=metrics,
        equivalence_margin=equivalence_margin,
        level=level,
        names=names,
        notes=[*([stopped] if stopped else []), limits.told()],
    )


def _words(command: str | Words) -> list[str]:
    try:
        words = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as error:
        raise InputError(f"{command!r}: {error}", "--commands", "close the quotation") from None
    if not words:
        raise InputError(repr(command), "--commands", "give a command")
    return words


def run_command(words: Words, timeout_s: float = TIMEOUT_S) -> dict[str, float]:
    """Runs it to its end: `time` and `cpu` (user and system, of children that it waited for, too), s. What it started is ended with it.

    Raises:
        InputError: it cannot be started. ServiceError: it ended with another code than 0, or not within `timeout_s`.
    """
    with tempfile.TemporaryDirectory(prefix="sojourn-compare-") as place, _Said(Path(place, "stderr")) as said:
        pid = 0
        held = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)  # an interrupted start must know what it started
        try:
            began = time.monotonic()
            pid = _start(words, said.write, held)
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
            if not _ends(pid, timeout_s, said):
                raise ServiceError(f"not done within {seconds(timeout_s)}", shlex.join(words), "--timeout allows more")
            took_s = time.monotonic() - began
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
            if pid:
                status, used = _end(pid)
        if code := os.waitstatus_to_exitcode(status):
            lines = said.lines()
            told = f"it {how_ended(code)}{f'; its last lines: {lines}' if lines else ''}"
            raise ServiceError(told, shlex.join(words), "fix it first")
    return {"time": took_s, "cpu": used.ru_utime + used.ru_stime}


class _Said:
    """Standard error of a command: a pipe that is read while the command runs, and a file of bounded size with its first and last lines."""

    def __init__(self, path: Path) -> None:
        self.path, self.log = path, CappedLog(path)
        self.read, self.write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(self.write, True)  # the command's end

    def take(self, most: int = MOST_TAKEN) -> None:
        """What is there; bounded, as somebody who left the session may go on writing."""
        with suppress(BlockingIOError):
            while most > 0 and (data := os.read(self.read, CHUNK_BYTES)):
                self.log.add(data)
                most -= len(data)

    def lines(self) -> str:
        self.take()
        self.log.close()
        return last_lines(self.path)

    def __enter__(self) -> _Said:
        return self

    def __exit__(self, *_: object) -> None:
        self.log.close()
        os.close(self.read)
        os.close(self.write)


def _start(words: Words, errors: int, mask: Iterable[int]) -> int:
    """Its process id; in a session of its own."""
    null = os.open(os.devnull, os.O_RDWR)
    try:
        actions = [(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, errors, 2)]
        return os.posix_spawnp(words[0], list(words), os.environ, file_actions=actions, setsid=True, setsigmask=mask)
    except OSError as error:
        raise InputError(f"{words[0]}: {error.strerror}", "--commands", "give a program that runs here") from None
    finally:
        os.close(null)


def _ends(pid: int, timeout_s: float, said: _Said) -> bool:
    """Whether it ends in time; it is not waited for. By poll: a wait for a process is restarted after a signal where a library wants it."""
    descriptor, waiting, deadline = os.pidfd_open(pid), select.poll(), time.monotonic() + timeout_s
    try:
        waiting.register(descriptor, select.POLLIN)
        waiting.register(said.read, select.POLLIN)
        while time.monotonic() < deadline:
            ready = [one for one, _ in waiting.poll(LOOK_MS)]
            if descriptor in ready:
                return True
            if ready:
                said.take()
        return False
    finally:
        os.close(descriptor)


def _end(pid: int) -> tuple[int, resource.struct_rusage]:
    """Ends it, all that is left in its session and what of its children left that; its status and what it used, with what it waited for.

    It is waited for last: until then nobody else can have its id, which is that of its session.
    """
    below = descendants(pid)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
        send(below, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    wait_until(partial(_gone, pid), GONE_S)
    _, status, used = os.wait4(pid, 0)
    return status, used


def _gone(leader: int) -> bool:
    """Whether nobody is left in its session, those of other process groups included, as a shell with job control makes them."""
    left = session(leader)
    with suppress(PermissionError):
        send(left, signal.SIGKILL)
    return not left
