"""`compare`: which model fits best, decided on rates that the fit had not seen, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sojourn.errors import InputError
from sojourn.fit.fit import fit
from sojourn.fit.fitted import ERRORS, Fitted
from sojourn.units import per_second, percent

CLEAR = 0.05
# In order of preference where data cannot tell: in a kernel interrupts preempt, and cores are not one queue.
ALL = ("priority", "shared", "paper", "mmm")


@dataclass(frozen=True)
class Comparison:
    """`fits` by name, smallest errors first. `best`: the first, or, where its errors are not smaller beyond chance, the
    one that was preferred; `clear`: no such tie; `why` in words, one line per model."""

    fits: dict[str, Fitted]
    best: str
    clear: bool
    why: str


def compare(
    observations: pl.DataFrame,
    variants: Sequence[str] = ALL,
    given: Mapping[str, float | str] | None = None,
    level: float = 0.95,
    seed: int = 1,
    resamples: int = 300,
) -> Comparison:
    """Fits each of `variants` ("paper", "shared", "priority", "mmm") and ranks them by `score`: their errors at
    held-out rates in all that Table 3 compares. A model that has to bend the demands to get the response times right
    pays for it in the utilisations. `variants` are in order of preference, as `ranked` has it. Raises what `fit` raises,
    and InputError for no variant."""
    if not variants:
        raise InputError("none", "variants", f"give some of {', '.join(ALL)}")
    fits = {}
    for name in variants:
        model = "mmm" if name == "mmm" else "two-class"
        known = None if name == "mmm" else given
        fits[name] = fit(observations, model, name if model == "two-class" else "", known, level, seed, resamples)
    return ranked(fits)


def ranked(fits: Mapping[str, Fitted]) -> Comparison:
    """Models of the same runs by their errors at held-out rates, given in order of preference: where errors differ by no
    more than chance, the earlier is taken."""
    variants = list(fits)
    order = sorted(fits, key=lambda name: score(fits[name]))
    fits = {name: fits[name] for name in order}
    tied = [name for name in order if name == order[0] or not _clear(fits[order[0]], fits[name])]
    best = min(tied, key=variants.index)
    lines = [_line(name, fits[name]) for name in order]
    if len(tied) > 1:
        lines.append(
            f"{' and '.join(tied)} cannot be told apart at these rates; {best} is taken, the first in order of preference"
        )
    return Comparison(fits, best, len(tied) == 1, "\n".join(lines))


def score(fitted: Fitted) -> float:
    """Mean over the quantities measured (response time, throughput, utilisations) of the mean size of the relative
    errors at held-out rates. Sizes, not squares: near saturation a measurement is mostly noise."""
    sizes = {name: [abs(row[name]) for row in fitted.held_out if name in row] for name in ERRORS}
    return float(np.mean([np.mean(errors) for errors in sizes.values() if errors]))


def _clear(best: Fitted, second: Fitted) -> bool:
    """Wilcoxon's signed-rank test on the mean size of the errors, rate by rate: one rate near saturation, where errors
    are large whatever the model, must not decide. Fewer than five rates cannot pass that test; there it is clear if the
    errors are smaller at every rate, and half as large in the mean."""
    from scipy.stats import wilcoxon  # half a second to import

    sizes = [[np.mean([abs(row[k]) for k in ERRORS if k in row]) for row in f.held_out] for f in (second, best)]
    if len(sizes[0]) != len(sizes[1]) or sizes[0] == sizes[1]:
        return False
    if len(sizes[0]) < 5:
        smaller = all(b < s for s, b in zip(*sizes, strict=True))
        return bool(smaller and np.mean(sizes[1]) < np.mean(sizes[0]) / 2)
    return bool(wilcoxon(sizes[0], sizes[1], alternative="greater").pvalue < CLEAR)


def _line(name: str, fitted: Fitted) -> str:
    rows = [row for row in fitted.held_out if "response_time" in row]
    worst = max(rows, key=lambda row: abs(row["response_time"]))
    signed = float(np.mean([row["response_time"] for row in rows]))
    busy, behind = (fitted.model_error_of(f"utilisation_{cores}") for cores in ("leading", "trailing"))
    trailing = f", of the other ones by {percent(behind)}" if behind else ""
    return (
        f"{name}: response times at held-out rates off by {percent(fitted.model_error)} "
        f"(mean {percent(signed, sign=True)}, worst {percent(worst['response_time'], sign=True)} "
        f"at {per_second(worst['rate_per_s'])}), "
        f"utilisation of the cores with interrupts by {percent(busy)}{trailing}"
    )
