"""`compare`: which model fits best, decided on rates that the fit had not seen, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import stdtr

from sojourn.errors import InputError
from sojourn.fit.fit import fit
from sojourn.fit.fitted import ERRORS, Fitted, Row
from sojourn.units import per_second, percent

CLEAR = 0.05  # level of all comparisons together
ALIKE = 0.005  # errors that are smaller than this are as good as each other
# In order of preference where data cannot tell: in a kernel interrupts preempt, and cores are not one queue.
ALL = ("priority", "shared", "paper", "mmm")


@dataclass(frozen=True)
class Comparison:
    """`fits` by name, smallest errors first. `best`: the one that was preferred beforehand, or, where others have smaller errors
    beyond chance, the best of these; `clear`: chance decided nothing; `why` in words, one line per model."""

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
    """Models of the same runs by their errors at held-out rates, given in order of preference. The first is the hypothesis: it
    stays unless another has smaller errors beyond chance. What is compared is fixed before any error is seen, so that no
    best is picked by looking: each other with the first, in pairs rate by rate, corrected for their number by Holm's method
    (S. Holm, Scand. J. Statist. 6 (1979), pp. 65-70).

    Raises:
        InputError: they were not judged at the same rates.
    """
    first, *others = fits
    order = sorted(fits, key=lambda name: score(fits[name]))
    told = _holm({name: _paired(fits[first], fits[name]) for name in others})
    better = [name for name, sign in told.items() if sign < 0]
    tied = [name for name, sign in told.items() if sign == 0]
    best = min(better, key=lambda name: score(fits[name]), default=first)
    lines = [_line(name, fits[name]) for name in order]
    if better:
        lines.append(
            f"{best} is taken: its errors are smaller than those of {first}, which was preferred, beyond chance"
        )
    elif tied:
        lines.append(
            f"{' and '.join([first, *tied])} cannot be told apart at these rates; {first} is taken because it was preferred "
            "beforehand, not because it is better"
        )
    return Comparison(
        {name: fits[name] for name in order}, best, len(better) == 1 or not (better or tied), "\n".join(lines)
    )


def score(fitted: Fitted) -> float:
    """Mean over the quantities measured (response time, throughput, utilisations) of the mean size of the relative
    errors at held-out rates. Sizes, not squares: near saturation a measurement is mostly noise."""
    sizes = {name: [abs(row[name]) for row in fitted.held_out if name in row] for name in ERRORS}
    return float(np.mean([np.mean(errors) for errors in sizes.values() if errors]))


def _paired(first: Fitted, other: Fitted) -> tuple[float, float]:
    """By how much the errors of `other` are larger (mean logarithm of their ratio, rate by rate), and the p-value of Student's
    paired test, two-sided. Ratios, so that one rate near saturation, where errors are large whatever the model, does not
    decide. Errors at rates held out share what was fitted, so that p is a guide and no exact level."""
    if [_rate(row) for row in first.held_out] != [_rate(row) for row in other.held_out]:
        raise InputError("models judged at different rates", "fits", "compare fits of the same runs")
    sizes = [[np.mean([abs(row[k]) for k in ERRORS if k in row]) for row in f.held_out] for f in (first, other)]
    ratio = np.log(np.hypot(sizes[1], ALIKE)) - np.log(np.hypot(sizes[0], ALIKE))
    mean, error = float(ratio.mean()), float(ratio.std(ddof=1)) / len(ratio) ** 0.5 if len(ratio) > 1 else np.inf
    return mean, float(2 * stdtr(len(ratio) - 1, -abs(mean) / error)) if error > 0 else float(mean == 0)


def _rate(row: Row) -> tuple[float, ...]:
    return row["cores"], row["nics"], row["rate_per_s"]


def _holm(found: Mapping[str, tuple[float, float]]) -> dict[str, int]:
    """-1 where the errors are smaller beyond chance, 1 where larger, else 0; from differences and p-values."""
    signs = dict.fromkeys(found, 0)
    for k, name in enumerate(sorted(found, key=lambda name: found[name][1])):
        difference, p = found[name]
        if p * (len(found) - k) >= CLEAR:
            break
        signs[name] = -1 if difference < 0 else 1
    return signs


def _line(name: str, fitted: Fitted) -> str:
    rows = [row for row in fitted.held_out if "response_time" in row]
    worst = max(rows, key=lambda row: abs(row["response_time"]))
    signed = float(np.mean([row["response_time"] for row in rows]))
    wrong = sum("saturated" in row for row in rows)
    called = f", {wrong} of {len(rows)} of them called saturated that were not" if wrong else ""
    busy, behind = (fitted.model_error_of(f"utilisation_{cores}") for cores in ("leading", "trailing"))
    trailing = f", of the other ones by {percent(behind)}" if behind else ""
    return (
        f"{name}: response times at held-out rates off by {percent(fitted.model_error)} "
        f"(mean {percent(signed, sign=True)}, worst {percent(worst['response_time'], sign=True)} "
        f"at {per_second(worst['rate_per_s'])}){called}, "
        f"utilisation of the cores with interrupts by {percent(busy)}{trailing}"
    )
