"""What a client of a closed loop does between an answer and its next request, on average over a run's window."""

from __future__ import annotations

from typing import Any

import polars as pl

# classes of a load on messages
EMPTY, ACKNOWLEDGE = 2, 3


def mean_think_s(load: dict[str, Any], inside: pl.DataFrame) -> float:
    """Mean time in s that a client was idle before its next request; 0 for an open loop.

    `load` is the generator's configuration, `inside` the requests of the window. For messages the share of takes that
    found nothing is counted in the run, as only these wait the retry delay, and a message that must be acknowledged is
    so at once.
    """
    closed = [lane["closed"] for lane in load["lanes"] if lane.get("closed")]
    think_s: float = closed[0].get("think", {}).get("mean", 0.0) if closed else 0.0
    messages = load.get("messages")
    if not closed or messages is None or inside.is_empty():
        return think_s
    empty, acknowledged = (float((inside["class"] == which).mean() or 0.0) for which in (EMPTY, ACKNOWLEDGE))  # type: ignore[arg-type]
    return float(messages.get("retry_delay_s", 0.1)) * empty + think_s * (1.0 - empty - acknowledged)
