"""Named outcomes of a simulation; the text says what happened and what to do."""

from __future__ import annotations

TEXT = {
    "ok": "the precision asked for was reached",
    "too_short": (
        "the run is too short for the precision asked for; the estimates are kept, but intervals of a short run hold the truth "
        "less often than their level says, because it knows its own spread badly: simulate as long as the message says before "
        "relying on them"
    ),
    "interrupted": "stopped before its end; the estimates are those of what was done until then",
    "no_moment": (
        "the mean is infinite, because the times that it depends on have no moment of the order that it needs: a longer run only "
        "gives a larger number. Ask for quantiles, which exist; or say in the model what bounds the times (a timeout, recorded "
        "times as kind empirical), or share the server (ps), whose means need less"
    ),
    "heavy_tail": (
        "times so long that a run hardly has any make a part of this mean that counts: the value is what this run happened to "
        "see, mostly too small, and an interval by batch means would not hold the truth as often as its level says, so none is "
        "given. Use the exact value where the message has one, a run as long as it says, or quantiles"
    ),
    "unstable": (
        "more arrives than can be served: numbers present grow as long as the run goes on, and stationary means do not "
        "exist; lower the rate or add servers"
    ),
}
