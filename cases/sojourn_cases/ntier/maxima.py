"""`ntier.maxima`: what a site completes at most on each number of cores, where it declines, which tier limits it, what the models said.

Options: none. All sections whose runs vary the users take part: runs that were predicted, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn.diagnosis import FULL
from sojourn.errors import StudyError
from sojourn.fit import ParameterEstimate
from sojourn.report import Cell, Section, Table
from sojourn.study import Analysis, FittedProtocol, RivalModels, is_interval, mean_with_interval
from sojourn.units import USUAL_LEVEL, percent, quantity
from sojourn_cases.ntier.tier_demands import CLIENT, TierDemands, tier_demands

if TYPE_CHECKING:
    from sojourn.study import CheckedStudy, StudyFindings

MS = 1e3


@dataclass(frozen=True)
class Maximum:
    """Runs of one configuration at several numbers of users."""

    runs: tuple[TierDemands, ...]

    @cached_property
    def by_users(self) -> dict[int, list[TierDemands]]:
        found: dict[int, list[TierDemands]] = {}
        for one in sorted(self.runs, key=lambda one: int(one.factors["users"])):
            found.setdefault(int(one.factors["users"]), []).append(one)
        return found

    @property
    def users(self) -> int:
        """Where the mean throughput is greatest."""
        return max(self.by_users, key=lambda n: fmean(one.per_s for one in self.by_users[n]))

    @property
    def there(self) -> list[TierDemands]:
        return self.by_users[self.users]

    @property
    def per_s(self) -> ParameterEstimate:
        return mean_with_interval(np.array([one.per_s for one in self.there]))

    @property
    def decline(self) -> float | None:
        """From there to the most users; None where these are the most."""
        most = max(self.by_users)
        return None if most == self.users else fmean(one.per_s for one in self.by_users[most]) / self.per_s.value - 1

    @property
    def utilisation(self) -> float:
        return fmean(one.utilisation for one in self.there)

    @property
    def limiting_tier(self) -> tuple[str, float]:
        """That with the greatest demand, and its share of the path."""
        tiers = [name for name in self.there[0].demands_s if name != CLIENT]
        means = {name: fmean(one.demands_s[name] for one in self.there) for name in tiers}
        name = max(means, key=lambda tier: means[tier])
        return name, means[name] / sum(means.values())

    @property
    def limit(self) -> str:
        """In words."""
        name, share = self.limiting_tier
        if self.utilisation < FULL:
            return (
                f"cores {percent(self.utilisation, 0)} busy: not full; {name} first ({percent(share, 0)} of the path)"
            )
        return f"cores {percent(self.utilisation, 0)} busy; {name} first ({percent(share, 0)} of the path)"


def maxima(runs: Iterable[TierDemands]) -> list[Maximum]:
    """Of each configuration that was run with several numbers of users, by mix and work, then cores."""
    groups: dict[str, list[TierDemands]] = {}
    for one in runs:
        groups.setdefault(one.layout, []).append(one)
    found = [Maximum(tuple(own)) for own in groups.values() if len({one.factors["users"] for one in own}) > 1]
    return sorted(found, key=lambda one: (*series(one), int(one.runs[0].factors["cores"])))


def series(one: Maximum) -> tuple[str, ...]:
    """All factors of a maximum but the cores."""
    load = ("users", "think_s", "cores")
    return tuple(f"{name}={value}" for name, value in one.runs[0].factors.items() if name not in load)


def maxima_analysis(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """Maxima by cores.

    Raises:
        StudyError: an option.
    """
    if options:
        raise StudyError(f"option {next(iter(options))!r}", "[[analysis]] ntier.maxima", "leave it out: it has none")
    sections = [part.name for part in (*plan.study.section, *plan.study.predict) if len(part.vary.get("users", ())) > 1]
    seen = [tier_demands(run) for run in found.of(*sections) if run.manifest["valid"]]
    each = maxima(seen)
    if not each:
        return Analysis()
    grown = {key: [one for one in each if series(one) == key] for key in dict.fromkeys(map(series, each))}
    differ = _differ(each)
    lines = [line for own in grown.values() for line in _grown(own, differ)]
    lead = f"Highest mean throughput over the numbers of users, with its {percent(USUAL_LEVEL, 0)} interval."
    return Analysis(tuple(lines), (Section("Most by cores", lead, (_table(each, found.rivals, differ),)),))


def _differ(each: Sequence[Maximum]) -> tuple[str, ...]:
    """What else differs between the configurations, beside what every line and row says: how tiers are placed, for example."""
    told, first = ("users", "think_s", "cores", "mix", "page_work_s"), each[0].runs[0].factors
    values = {name: {repr(one.runs[0].factors.get(name)) for one in each} for name in first if name not in told}
    return tuple(name for name, found in values.items() if len(found) > 1)


def _grown(own: Sequence[Maximum], differ: tuple[str, ...]) -> list[str]:
    """From fewer cores to more."""
    first, last = own[0], own[-1]
    factors = first.runs[0].factors
    where = f"{factors['mix']}, pages of {first.runs[0].page_work_s * MS:g} ms"
    where += "".join(f", {name} {factors[name]}" for name in differ)
    lines = [f"{where}, {_cores(one)}: at most {_range(one.per_s)} with {one.users} users, {one.limit}" for one in own]
    if len(own) == 1:
        return lines
    ratio = last.per_s.value / first.per_s.value
    return [*lines, f"{where}: {_cores(last)} complete {ratio:.2f} times what {_cores(first)} completes"]


def _cores(one: Maximum) -> str:
    number = int(one.runs[0].factors["cores"])
    return f"{number} core{'s' if number > 1 else ''}"


def _range(value: ParameterEstimate) -> str:
    if not is_interval(value.low, value.high):
        return quantity(value.value, "1/s")
    return f"{quantity(value.value, '1/s')} ({quantity(value.low, '1/s')} … {quantity(value.high, '1/s')})"


def _table(each: Sequence[Maximum], rivals: RivalModels | None, differ: tuple[str, ...]) -> Table:
    """With what each model said that it would be."""
    models = dict(rivals.fitted) if rivals else {}
    rows: list[tuple[Cell, ...]] = []
    for one in each:
        factors, x = one.runs[0].factors, one.per_s
        said = [_said(model, {**factors, "users": one.users}) for model in models.values()]
        errors = [None if value is None or one.utilisation < FULL else value / x.value - 1 for value in said]
        ends = (x.low, x.high) if is_interval(x.low, x.high) else (None, None)
        rows.append((
            str(factors["mix"]), *(str(factors[name]) for name in differ), factors["page_work_s"] * MS, str(factors["cores"]),
            str(one.users), x.value, *ends, one.decline, one.limit, *errors,
        ))  # fmt: skip
    columns = ("mix", *differ, "work, ms", "cores", "users", "most, 1/s", "low", "high", "with most users", "limit")
    note = (
        "With most users: change from that number of users to the largest "
        "number. Models: error of the throughput there, if the cores were fully busy."
    )
    formats = ("", *[""] * len(differ), ".1f", "", "", ".0f", ".0f", ".0f", "+.1%", "", *["+.1%"] * len(models))
    return Table("Highest throughput", (*columns, *models), tuple(rows), note, formats)


def _said(model: FittedProtocol, factors: Mapping[str, Any]) -> float | None:
    """The throughput that a model says; None of what it does not know."""
    return model.predict(factors, USUAL_LEVEL).value("throughput", station="", cls="") if model.knows(factors) else None
