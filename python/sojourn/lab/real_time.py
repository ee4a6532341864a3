"""Real-time priority: whether this process may have it, and what grants it."""

from __future__ import annotations

import os
from contextlib import suppress

GRANT = "`sudo prlimit --pid $$ --rtprio=10`, (in the shell that runs sojourn),"  # as high as the generator asks for


def real_time() -> str:
    """That it is allowed. OSError: it is not."""
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    with suppress(OSError):
        os.sched_setscheduler(0, *before)
    return "SCHED_FIFO is allowed"
