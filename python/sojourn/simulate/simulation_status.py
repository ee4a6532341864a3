"""Named outcomes of a simulation; the text says what happened and what to do."""

from __future__ import annotations

TEXT = {
    "ok": "the requested precision was reached",
    "too_short": (
        "the run is too short for the requested precision. The estimates are kept, but intervals of a short run contain the true "
        "value less often than their level says, because the run estimates its own variance poorly. Simulate as long as the "
        "message says before you rely on the intervals"
    ),
    "interrupted": "stopped before its end; the estimates use everything simulated until then",
    "no_moment": (
        "the mean is infinite, because it needs a moment that its times do not have. A longer run only gives a larger "
        "number. Use quantiles, which exist; or bound the times in the model (a timeout, recorded times as kind empirical); or share "
        "the server (ps), whose means need fewer moments"
    ),
    "heavy_tail": (
        "a large part of this mean comes from times so long that a run has hardly any of them. The value comes from the few "
        "that this run had, and is mostly too small. An interval by batch means would contain the true value less often than its level "
        "says, so no interval is given. Use the exact value if the message has one, a run as long as the message says, or quantiles"
    ),
    "unstable": (
        "more requests arrive than can be served. The numbers present grow as long as the run lasts, and stationary means do "
        "not exist; lower the rate or add servers"
    ),
}
