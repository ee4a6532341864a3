"""Two commands, run in turn on this machine: the time that each takes, and the CPU time of it and of all that it waited for."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from sojourn.compare.compare import check_range, compare_values
from sojourn.compare.comparison import Comparison
from sojourn.compare.interleaved import SIDES, InterleavedLimits, interleaved
from sojourn.compare.run_values import RunValues
from sojourn.errors import InputError, ServiceError
from sojourn.lab.capped_log import last_lines
from sojourn.lab.process_tree import how_ended
from sojourn.measure.cpu_residual import children_cpu_s
from sojourn.units import seconds

TIMEOUT_S = 600.0
Words = Sequence[str]


def compare_commands(
    a: str | Words, b: str | Words, *, limits: InterleavedLimits | None = None, warm_up: int = 1, timeout_s: float = TIMEOUT_S,
    metrics: Sequence[str] = (), margin: float = 0.05, level: float = 0.9, names: tuple[str, str] = ("A", "B"),
    told: Callable[[str], None] = lambda _line: None,
) -> Comparison:  # fmt: skip
    """Runs two commands in turn, each once a block, and says whether B takes longer than A.

    Args:
        a, b: words, or a text that is split like a shell's (pipes need `sh -c '…'`). Their output is thrown away.
        limits: how many blocks, how long in all. warm_up: runs of each beforehand that do not count.
        timeout_s: after which a command is ended and the comparison stops, above 0.
        metrics: what the verdict is about [`time`]: `time`, `cpu`. margin, level: as of `compare`.

    Raises:
        InputError: a command that cannot be started, a value out of range. ServiceError: a command ended with another code than 0, or did
        not end in time.
    """
    check_range(margin, level)
    limits = limits or InterleavedLimits()
    if warm_up < 0 or not timeout_s > 0:
        raise InputError(
            f"{warm_up} runs, {timeout_s:g} s", "--warm-up, --timeout", "give 0 or more runs, a time above 0"
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
        runs_a, runs_b, metrics=metrics, margin=margin, level=level, names=names, notes=[stopped] if stopped else []
    )


def _words(command: str | Words) -> list[str]:
    try:
        words = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as error:
        raise InputError(f"{command!r}: {error}", "--run", "close the quotation") from None
    if not words:
        raise InputError(repr(command), "--run", "give a command")
    return words


def run_command(words: Words, timeout_s: float = TIMEOUT_S) -> dict[str, float]:
    """Runs it to its end: `time` and `cpu` (user and system, of children that it waited for, too), s. It ends with this process.

    Raises:
        InputError: it cannot be started. ServiceError: it ended with another code than 0, or not within `timeout_s`.
    """
    with tempfile.TemporaryDirectory(prefix="sojourn-compare-") as place:
        log = Path(place, "stderr")
        with log.open("wb") as errors:
            cpu_s, began = children_cpu_s(), time.monotonic()
            try:
                process = subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
                )
            except OSError as error:
                raise InputError(f"{words[0]}: {error.strerror}", "--run", "give a program that runs here") from None
            late = threading.Event()
            timer = threading.Timer(timeout_s, lambda: _end(process, late))
            timer.daemon = True
            timer.start()
            try:
                code = process.wait()
                took_s = time.monotonic() - began
            finally:
                timer.cancel()
                _end(process)
                process.wait()
        if late.is_set():
            raise ServiceError(f"not done within {seconds(timeout_s)}", shlex.join(words), "--timeout allows more")
        if code:
            said = last_lines(log)
            raise ServiceError(
                f"it {how_ended(code)}{f'; its last lines: {said}' if said else ''}", shlex.join(words), "mend it first"
            )
    return {"time": took_s, "cpu": children_cpu_s() - cpu_s}


def _end(process: subprocess.Popen[bytes], late: threading.Event | None = None) -> None:
    """With all that it started in its session; `late` is set, where it is the time that ends it."""
    if late is not None:
        late.set()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
