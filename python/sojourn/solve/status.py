"""Named outcomes of a solver; the text says what happened and what to do. Rows carry the name, `Metrics.message` the
text."""

from __future__ import annotations

TEXT = {
    "ok": "solved",
    "saturated": (
        "the offered rate is at or above saturation, so no stationary response time exists. The given throughput is "
        "the maximum of the cores; lower the rate, or add cores"
    ),
    "trailing_unstable": (
        "the trailing cores are offered more pages than they can serve: their queues grow without bound; lower the rate, "
        "raise p, or add cores"
    ),
    "unstable": (
        "the offered rate is at or above the capacity of a station, so queues grow without bound; the message has the "
        "rate from which this is true"
    ),
    "idle": "no customers come here, so a mean over customers does not exist",
    "approximate": (
        "an approximation: the method's page says how large its error can be; to know, simulate, where `sojourn simulate` takes the model"
    ),
    "bounds": "no single value: the true value lies between low and high",
    "not_converged": "the iteration did not reach its tolerance: the values are those of its last step; simulate to know",
    "lost_on_the_way": (
        "some passes are lost after they took time: the residence times are known, but only the simulator gives the "
        "time of passes that are not lost"
    ),
    "not_answered": "no method solves this point in the allowed time: the message says why; simulate the point",
    "above_one": (
        "the paper's chain serves both classes at full rate at the same time, so the work of one core sums to more than one; "
        "use variant shared or priority for utilisations"
    ),
    "open_above": (
        "no upper limit: within the interval of the parameters, this rate may already be past saturation (if there is no value, it "
        "probably is); measure nearer to saturation to narrow the interval"
    ),
    "no_interval": (
        "the value is known, but the variation of a new run around it is unknown, because each configuration was run once; "
        "repeat runs"
    ),
    "no_moment": "infinite or not defined: the distribution has no such moment",
    "as_printed": "Prop. 3 as printed, which breaks flow balance (errata): for comparison with Chen et al. 2014 only",
}

# where there is no stationary answer: what a fitted model says so of was foretold to be overloaded
OVERLOADED = ("saturated", "unstable", "trailing_unstable")


def worst(names: set[str]) -> str:
    """The name that describes the whole table: `ok` unless a number is missing."""
    return next(
        (name for name in (*OVERLOADED, "not_converged", "bounds", "approximate") if name in names),
        "ok",
    )


def message(names: set[str]) -> str:
    """The texts of all names but `ok`, in the order of `TEXT`."""
    return "\n".join(f"{name}: {text}" for name, text in TEXT.items() if name in names and name != "ok")
