"""Ctrl-C, SIGTERM and a closed terminal end a command in good order, and do not interrupt the putting back."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

WAIT = b"sojourn: putting things back; once more ends at once, and the next start removes what is left\n"

LATER_S = 0.002
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_in_good_order() -> None:
    """From now on the first such signal raises KeyboardInterrupt; the second is told to wait, the third raises again.

    A signal that the caller ignores (nohup, a background job) stays ignored.
    """
    count = 0

    def handler(number: int, frame: FrameType | None) -> None:
        nonlocal count
        count += 1
        if count == 2:
            os.write(2, WAIT)
        else:
            interrupt(number, frame)

    def interrupt(_number: int, frame: FrameType | None) -> None:
        if _holds_a_lock(frame):
            signal.signal(signal.SIGALRM, interrupt)
            signal.setitimer(
                signal.ITIMER_REAL, LATER_S, LATER_S
            )  # again and again: one that comes just before a wait ends no wait
        else:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            raise KeyboardInterrupt

    for number in STOPS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def _holds_a_lock(frame: FrameType | None) -> bool:
    """Whether `subprocess` has just taken the lock of a process and not yet come to the `try` that gives it back: an interruption there
    leaves it taken, and whoever waits for that process waits for ever (CPython's Popen._internal_poll and _wait)."""
    popen = getattr(sys.modules.get("subprocess"), "Popen", None)  # None while it is imported, too
    if frame is None or popen is None or frame.f_code not in (popen._internal_poll.__code__, popen._wait.__code__):
        return False
    lock = getattr(frame.f_locals.get("self"), "_waitpid_lock", None)
    return lock is not None and bool(lock.locked())


def too_late() -> None:
    """From now on such a signal changes nothing: everything is put back, and the exit code is decided."""
    for number in STOPS:
        signal.signal(number, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, 0.0)  # of one that had to wait
