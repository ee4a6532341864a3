"""Named outcomes of a simulation; the text says what happened and what to do."""

from __future__ import annotations

TEXT = {
    "ok": "the requested precision was reached",
    "too_short": (
        "the run is too short for the requested precision; the estimates are kept, but intervals of a short run contain "
        "the truth less often than their level says, because the run estimates its own variance poorly: simulate as long as the "
        "message says before relying on them"
    ),
    "interrupted": "stopped before its end; the estimates use everything simulated until then",
    "no_moment": (
        "the mean is infinite, because the times that it depends on have no moment of the order that it needs: a longer run only "
        "gives a larger number. Use quantiles, which exist; or bound the times in the model (a timeout, recorded times "
        "as kind empirical), or share the server (ps), whose means need fewer moments"
    ),
    "heavy_tail": (
        "times so long that a run hardly has any make a part of this mean that counts: the value is what this run happened to "
        "see, mostly too small, and an interval by batch means would not hold the truth as often as its level says, so none is "
        "given. Use the exact value where the message has one, a run as long as it says, or quantiles"
    ),
    "unstable": (
        "more arrives than can be served: the numbers present grow as long as the run lasts, and stationary means do "
        "not exist; lower the rate or add servers"
    ),
}
