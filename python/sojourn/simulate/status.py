"""Named outcomes of a simulation; the text says what happened and what to do."""

from __future__ import annotations

TEXT = {
    "ok": "the precision asked for was reached",
    "too_short": (
        "the run is too short for the precision asked for; the estimates are kept, their intervals are as wide as they "
        "are shown"
    ),
    "interrupted": "stopped before its end; the estimates are those of what was done until then",
    "unstable": (
        "more arrives than can be served: numbers present grow as long as the run goes on, and stationary means do not "
        "exist; lower the rate or add servers"
    ),
}
