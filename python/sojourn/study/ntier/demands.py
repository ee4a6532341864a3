"""`ntier.demands`: what the pages of each kind demand of each tier, by a regression over mixes drawn near the one that is asked for,
judged by runs of mixes that it has not seen.

Options: `section`, of the drawn mixes, and `held_out`, both at saturation of the same cores; `alone`: runs of one page each, shown
beside: pages cost more in company, where code and caches alternate. `groups`: name → pages that are taken for one kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from sojourn.errors import FitError, StudyError
from sojourn.fit.fitted import ParameterEstimate
from sojourn.fit.mix_demands import MixDemands, completed_per_s, mix_demands
from sojourn.measure.run_folder import RunFolder
from sojourn.report import Section, Table
from sojourn.report.document import Cell
from sojourn.study.engine.analyses import Analysis
from sojourn.study.ntier.tier_demands import CLIENT, CORES, tier_demands
from sojourn.units import percent

if TYPE_CHECKING:
    from sojourn.study.engine.checked_study import CheckedStudy
    from sojourn.study.engine.study_findings import StudyFindings

LEVEL = 0.95
OPTIONS = {"section", "held_out", "alone", "groups"}
Groups = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class JudgedMix:
    """A run of a mix that was not fitted: completions a second, and what the regression says of them."""

    mix: str
    measured_per_s: float
    predicted_per_s: ParameterEstimate

    @property
    def error(self) -> float:
        return self.predicted_per_s.value / self.measured_per_s - 1

    @property
    def inside(self) -> bool:
        return self.predicted_per_s.low <= self.measured_per_s <= self.predicted_per_s.high


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
    busy = fmean(tier_demands(run).utilisation * int(run.manifest["factors"]["cores"]) for run in runs)
    judged, alone = (
        [_judged(run, told[CORES], busy, groups) for run in found.of(name) if run.manifest["valid"]]
        for name in (options["held_out"], options.get("alone", ""))
    )
    tables = [_demands(told), _table("Mixes that were not fitted", judged)]
    tables += [_table("One page alone", alone)] if alone else []
    lead = (
        f"{len(runs)} mixes; a run differs from the regression by {percent(told[CORES].scatter)} (standard deviation)."
    )
    return Analysis(tuple(_lines(len(runs), judged, alone)), (Section("Demands of pages", lead, tuple(tables)),))


def _judged(run: RunFolder, cores: MixDemands, busy: float, groups: Groups) -> JudgedMix:
    mix = {name: rate for name, rate in completed_per_s(run, groups).items() if name in cores.classes}
    told = cores.saturation_rate_per_s(mix, busy, LEVEL)
    return JudgedMix(str(run.manifest["factors"]["mix"]), tier_demands(run).per_s, told)


def _lines(fitted: int, judged: Sequence[JudgedMix], alone: Sequence[JudgedMix]) -> list[str]:
    if not judged:
        return []
    sizes = [abs(one.error) for one in judged]
    lines = [
        f"demands of pages from {fitted} mixes near the target predict the throughput of {len(judged)} runs of other mixes with a median "
        f"error of {percent(median(sizes))} (at most {percent(max(sizes))}); {sum(one.inside for one in judged)} of {len(judged)} "
        f"lie in their {percent(LEVEL, 0)} intervals"
    ]
    if alone:
        off = f"{percent(fmean(one.error for one in alone), 0, sign=True)} in the mean of {len(alone)} runs"
        lines.append(f"pages asked for alone: the regression is off from their throughput by {off}")
    return lines


def _demands(told: Mapping[str, MixDemands]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for tier, one in told.items():
        for kind, value in one.estimates(LEVEL).items():
            rows.append((tier, kind, *(1e6 * v for v in value)))
    note = f"{LEVEL:.0%} intervals. Single demands are known much less well than the totals of mixes."
    title = "CPU time of a page by tier and kind of page"
    return Table(title, ("tier", "kind", "us a page", "low", "high"), tuple(rows), note, ("", "", ".1f", ".1f", ".1f"))


def _table(title: str, judged: Sequence[JudgedMix]) -> Table:
    rows = tuple(
        (one.mix, one.measured_per_s, *one.predicted_per_s, one.error, "inside" if one.inside else "outside")
        for one in sorted(judged, key=lambda one: one.mix)
    )
    columns = ("mix", "measured, 1/s", "predicted, 1/s", "low", "high", "error", "")
    note = "Predicted: cores as busy as in the runs of the regression, over the demand of the mix."
    return Table(title, columns, rows, note, ("", ".0f", ".0f", ".0f", ".0f", "+.1%", ""))
