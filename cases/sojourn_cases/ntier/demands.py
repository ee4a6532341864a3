"""`ntier.demands`: what the pages of each kind demand of each tier, by a regression over mixes drawn near the one that is asked for,
judged by runs of mixes that it has not seen.

Options: `section`, of the drawn mixes, and `held_out`, both at saturation of the same cores; `alone`: runs of one page each, shown
beside: pages cost more in company, where code and caches alternate. `groups`: name → pages that are taken for one kind.

A second regression is of demands at the usual speed of the cores, and predicts each run at the speed that its cores had: what is left is
not the host's doing. Where the recorder's piece of work takes w seconds instead of its usual w0, demands are (w/w0)^e of the usual
ones; e is the slope of the logarithms of busy times over their prediction, by least squares, drawn towards 1 where speeds hardly differed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import FitError, StudyError
from sojourn.fit import MixDemands, ParameterEstimate, completed_per_s, mix_demands
from sojourn.lab import split_cores
from sojourn.report import Cell, Section, Table
from sojourn.runs import RunFolder, recorded_work_s
from sojourn.study import Analysis
from sojourn.units import USUAL_LEVEL, percent
from sojourn_cases.ntier.tier_demands import CLIENT, CORES, tier_demands

if TYPE_CHECKING:
    from sojourn.study import CheckedStudy, StudyFindings

ROUNDS = 5
DOUBT = 0.5  # standard deviation of the exponent about 1 where nothing is known
OPTIONS = {"section", "held_out", "alone", "groups"}
Array = NDArray[np.float64]
Groups = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class HeldOutMix:
    """A run of a mix that was not fitted: completions a second, and what the regressions say of them, without and with the speed of
    its cores."""

    mix: str
    measured_per_s: float
    predicted_per_s: tuple[ParameterEstimate, ParameterEstimate]

    @property
    def errors(self) -> tuple[float, float]:
        plain, at_speed = self.predicted_per_s
        return plain.value / self.measured_per_s - 1, at_speed.value / self.measured_per_s - 1

    @property
    def inside(self) -> tuple[bool, bool]:
        plain, at_speed = self.predicted_per_s
        return plain.low <= self.measured_per_s <= plain.high, at_speed.low <= self.measured_per_s <= at_speed.high


@dataclass(frozen=True)
class CoreSpeed:
    """`usual_s`: w0 above; `exponent`: e."""

    usual_s: float
    exponent: float

    def slower(self, work_s: Array) -> Array:
        """By which factor demands are longer; 1 where `work_s` is NaN: a run as usual."""
        return np.nan_to_num(work_s / self.usual_s, nan=1.0) ** self.exponent

    @classmethod
    def of(cls, work_s: Array, usual_s: float, off: Array) -> CoreSpeed:
        """From what the pieces of work took, and the logarithms of busy times over their prediction; a value a run each."""
        x = np.log(cls(usual_s, 1.0).slower(work_s))
        x, y = x - x.mean(), off - off.mean()
        drawn = float(np.var(y - x)) / DOUBT**2
        return cls(usual_s, float((x @ y + drawn) / max(x @ x + drawn, 1e-12)))


@dataclass(frozen=True)
class Regressions:
    """Of all tiers together: of demands as they were, and at the usual speed of the cores. `busy`: seconds a second, in the mean."""

    plain: MixDemands
    usual: MixDemands
    speed: CoreSpeed
    busy: float
    groups: Groups

    @classmethod
    def of(cls, runs: Sequence[RunFolder], plain: MixDemands, groups: Groups) -> Regressions:
        """From the runs of `plain`, in their order."""
        work_s = np.array([_work_s(run) for run in runs])
        known = work_s[np.isfinite(work_s)]
        usual_s, corrected = float(np.median(known)) if len(known) else 1.0, plain
        for _ in range(ROUNDS):
            off = np.log(plain.busy_s_per_s / (plain.per_s @ corrected.demands_s))
            speed = CoreSpeed.of(work_s, usual_s, off)
            corrected = replace(plain, busy_s_per_s=plain.busy_s_per_s / speed.slower(work_s))
        return cls(plain, corrected, speed, float(plain.busy_s_per_s.mean()), groups)

    def judge(self, run: RunFolder) -> HeldOutMix:
        """A run of another mix on the same cores."""
        mix = {name: rate for name, rate in completed_per_s(run, self.groups).items() if name in self.plain.classes}
        slower = float(self.speed.slower(np.array([_work_s(run)]))[0])
        told = (self.plain.saturation_rate_per_s(mix, self.busy, USUAL_LEVEL),
                self.usual.saturation_rate_per_s(mix, self.busy / slower, USUAL_LEVEL))  # fmt: skip
        return HeldOutMix(str(run.manifest["factors"]["mix"]), tier_demands(run).per_s, told)


def _work_s(run: RunFolder) -> float:
    """What the recorder's piece of work took on the cores of the tiers; NaN where it was not recorded."""
    factors, recorded = run.manifest["factors"], recorded_work_s(run)
    own = split_cores(int(factors["cores"]), str(factors["placement"]))[0] if recorded else []
    told = [value for core, value in recorded.items() if core in own]
    return fmean(told) if told else float("nan")


def demands_analysis(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """Demands of kinds of pages, and the throughput that they predict of other mixes.

    Raises:
        StudyError: an option that is missing or unknown.
    """
    if set(options) - OPTIONS or not {"section", "held_out"} <= set(options):
        raise StudyError(f"options {dict(options)}", "[[analysis]] ntier.demands", "give section and held_out")
    groups: Groups = options.get("groups", {})
    runs = [run for run in found.of(options["section"]) if run.manifest["valid"]]
    if not runs:
        return Analysis()
    try:
        told = mix_demands(runs, groups)
    except FitError as error:
        return Analysis((f"demands of pages: not found, {error.value}: {error.remedy}",), warn=True)
    told = {name: one for name, one in told.items() if name not in (CLIENT, "all")}
    both = Regressions.of(runs, told[CORES], groups)
    judged, alone = (
        [both.judge(run) for run in found.of(name) if run.manifest["valid"]]
        for name in (options["held_out"], options.get("alone", ""))
    )
    tables = [_demands(told), _table("Mixes that were not fitted", judged)]
    tables += [_table("One page alone", alone)] if alone else []
    lead = (
        f"{len(runs)} runs; a run differs from the regression's prediction by {percent(both.plain.scatter)} (standard deviation), and by "
        f"{percent(both.usual.scatter)} where the speed of its cores is taken into account."
    )
    return Analysis(tuple(_lines(len(runs), judged, alone)), (Section("Demands of pages", lead, tuple(tables)),))


def _lines(fitted: int, judged: Sequence[HeldOutMix], alone: Sequence[HeldOutMix]) -> list[str]:
    if not judged:
        return []
    each = f"{len(judged)} runs of mixes that were not fitted"
    lines = [
        f"demands of pages, from {fitted} runs of mixes near the target: throughput of {each}: errors of {_errors(judged, 0)}"
    ]
    lines.append(f"with the speed of the cores in each run: errors of {_errors(judged, 1)}")
    return (
        [*lines, f"pages requested alone: errors of {_errors(alone, 1)}, at the speed of the cores"] if alone else lines
    )


def _errors(judged: Sequence[HeldOutMix], which: int) -> str:
    sizes = [abs(one.errors[which]) for one in judged]
    held = f"{sum(one.inside[which] for one in judged)} of {len(judged)} in their {percent(USUAL_LEVEL, 0)} intervals"
    return f"{percent(median(sizes))} in the median, {percent(max(sizes))} at most; {held}"


def _demands(told: Mapping[str, MixDemands]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for tier, one in told.items():
        for kind, value in one.estimates(USUAL_LEVEL).items():
            rows.append((tier, kind, *(1e6 * v for v in value)))
    note = f"{USUAL_LEVEL:.0%} intervals. Demands of single pages are much less certain than the totals of mixes."
    title = "CPU time of a page by tier and kind of page"
    return Table(title, ("tier", "kind", "us a page", "low", "high"), tuple(rows), note, ("", "", ".1f", ".1f", ".1f"))


def _table(title: str, judged: Sequence[HeldOutMix]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in sorted(judged, key=lambda one: one.mix):
        cells = [(*told, error) for told, error in zip(one.predicted_per_s, one.errors, strict=True)]
        rows.append((one.mix, one.measured_per_s, *cells[0], *cells[1]))
    columns = ("mix", "measured, 1/s", "predicted", "low", "high", "error", "at its speed", "low ", "high ", "error ")
    note = (
        "Predicted: the cores' utilisation in the runs of the regression, divided by the demand of the "
        "mix; then at the speed of the run's cores."
    )
    return Table(title, columns, tuple(rows), note, ("", ".0f", *((".0f",) * 3 + ("+.1%",)) * 2))
