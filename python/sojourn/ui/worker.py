"""What runs in a worker process of the workbench: a question answered, within a limit of memory; whatever goes wrong is an answer."""

from __future__ import annotations

import resource
from functools import cache
from typing import Any

from sojourn.ui.model_answers import answered

MOST_BYTES = 16 << 30  # of addresses, of which libraries reserve some GiB that they never use


def in_worker(function: Any, *arguments: Any) -> dict[str, Any]:
    """As `answered`. A panic of a library written in Rust, which is no Exception, is an error of the file that it read."""
    _limit()
    try:
        return answered(function, *arguments)
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return {"error": {"value": str(error)[:200], "place": "", "remedy": "the file is damaged", "line": None}}


@cache
def _limit() -> None:
    """Once a process: a model of a billion customers is a MemoryError, and not the end of others."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = MOST_BYTES if hard == resource.RLIM_INFINITY else min(MOST_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
