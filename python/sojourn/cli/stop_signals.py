"""Ctrl-C, SIGTERM and a closed terminal end a command in good order, and do not interrupt the putting back."""

from __future__ import annotations

import os
import signal
from types import FrameType

WAIT = b"sojourn: putting things back; once more ends at once, and the next start removes what is left\n"


STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_in_good_order() -> None:
    """From now on the first such signal raises KeyboardInterrupt; the second is told to wait, the third raises again.

    A signal that the caller ignores (nohup, a background job) stays ignored.
    """
    count = 0

    def handler(_number: int, _frame: FrameType | None) -> None:
        nonlocal count
        count += 1
        if count == 2:
            os.write(2, WAIT)
        else:
            raise KeyboardInterrupt

    for number in STOPS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def too_late() -> None:
    """From now on such a signal changes nothing: everything is put back, and the exit code is decided."""
    for number in STOPS:
        signal.signal(number, signal.SIG_IGN)
