"""Which runs of A stand beside which of B: by block where they were interleaved, by condition, or all beside all.

1. Runs that are not valid are left out, and said; a side without any is an error. Where more than a fifth of a side were overloaded (more
   came than left, response times drifted, requests failed), those that are left are its lucky ones: it is not called better or equivalent.
2. A factor that has one value on each side, and another, is what is compared. Loads are not: a service at another rate is another question.
3. Conditions (loads and all other factors) that one side alone has are left out, and said; none in common is an error.
4. Runs of the same block are pairs. Else each condition is a stratum, where both sides have at least two runs in each; of fewer, conditions
   are pairs, and what B changes in one condition and not in another is part of the error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sojourn.compare.log_ratio import LogRatio, paired, stratified
from sojourn.compare.run_values import LOADS, RunValues
from sojourn.errors import InputError, LoadError, ServiceError

MOST_TOLD = 4
MOST_OVERLOADED = 0.2
Side = Sequence[RunValues]
Condition = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class MatchedRuns:
    """Condition → runs of A, runs of B. `blocks`: the pairs by block, where there are; `compared`, `notes`: in words. `lucky`: whether
    what is left of A, of B is what was not overloaded."""

    by_condition: Mapping[Condition, tuple[list[RunValues], list[RunValues]]]
    blocks: tuple[tuple[list[RunValues], list[RunValues]], ...]
    compared: str
    notes: tuple[str, ...]
    lucky: tuple[bool, bool] = (False, False)

    @cached_property
    def sides(self) -> tuple[list[RunValues], list[RunValues]]:
        """All runs that are used."""
        parts = self.blocks or tuple(self.by_condition.values())
        return [one for part in parts for one in part[0]], [one for part in parts for one in part[1]]

    @property
    def counts(self) -> tuple[int, int]:
        return len(self.sides[0]), len(self.sides[1])

    @property
    def metrics(self) -> set[str]:
        """Those that every run has."""
        every = [set(one.values) for side in self.sides for one in side]
        return set.intersection(*every) if every else set()

    @property
    def replicated(self) -> bool:
        """Whether both sides have two runs in each condition."""
        return min(len(side) for pair in self.by_condition.values() for side in pair) >= 2

    @property
    def design(self) -> str:
        """How they are put beside each other, in words."""
        a, b = self.counts
        where = (
            f" in {len(self.by_condition)} conditions"
            if len(self.by_condition) > 1
            else _at(next(iter(self.by_condition)))
        )
        if self.blocks:
            return f"{len(self.blocks)} pairs of runs, one per block{where}"
        if self.replicated or len(self.by_condition) == 1:
            return f"{a} runs of A and {b} of B{where}"
        return f"{len(self.by_condition)} pairs, one per condition: {a} runs of A and {b} of B"

    def more_of(self, names: tuple[str, str] = ("A", "B")) -> str:
        """Of what more would be needed, behind "more runs"."""
        several = len(self.by_condition) > 1
        if not self.blocks and several and not self.replicated:
            return " of each side, under other conditions,"
        where = " in each condition" if several else ""
        a, b = self.counts
        if a == b:
            return f" of each side{where}"
        fewer, other = names if a < b else names[::-1]
        return f" of {fewer}{where}, and at least as many of {other} in all,"

    def means(self, metric: str) -> tuple[float, float]:
        """Geometric means of A and of B, in which blocks or conditions count alike."""
        a, b = (
            float(np.exp(np.mean(np.log(side)))) for side in _means(metric, self.blocks or self.by_condition.values())
        )
        return a, b

    def ratio(self, metric: str) -> LogRatio:
        """B over A."""
        if self.blocks:
            return paired(*_means(metric, self.blocks))
        if self.replicated or len(self.by_condition) == 1:
            return stratified(
                [
                    ([one.values[metric] for one in a], [one.values[metric] for one in b])
                    for a, b in self.by_condition.values()
                ]
            )
        return paired(*_means(metric, self.by_condition.values()))


def _means(metric: str, pairs: Iterable[tuple[list[RunValues], list[RunValues]]]) -> tuple[list[float], list[float]]:
    """Geometric means of both sides of each pair."""
    found = [[_geometric([one.values[metric] for one in side]) for side in pair] for pair in pairs]
    return [a for a, _ in found], [b for _, b in found]


def _geometric(values: Sequence[float]) -> float:
    return float(values[0]) if len(values) == 1 else float(np.exp(np.mean(np.log(values))))


def match(a: Side, b: Side, names: tuple[str, str] = ("A", "B")) -> MatchedRuns:
    """
    Raises:
        LoadError, ServiceError: no valid run on one side. InputError: nothing in common that could be compared.
    """
    notes: list[str] = []
    sides = [_valid(side, name, notes) for side, name in zip((a, b), names, strict=True)]
    subject = _subject(sides[0], sides[1])
    grouped = [_grouped(side, set(subject)) for side in sides]
    common = [key for key in grouped[0] if key in grouped[1]]
    if not common:
        raise _nothing_in_common(grouped[0], grouped[1], names)
    for own, other, name in ((grouped[0], names[1], names[0]), (grouped[1], names[0], names[1])):
        alone = [_at(key).strip() for key in own if key not in common]
        if alone:
            notes.append(f"left out of {name}, as {other} has no such run: {_few(alone)}")
    notes += _unlike(sides[0], sides[1])
    compared = ", ".join(f"{name} {told[0]} → {told[1]}" for name, told in subject.items())
    pairs = {key: (grouped[0][key], grouped[1][key]) for key in common}
    lucky = _overloaded(a), _overloaded(b)
    for name, one in zip(names, lucky, strict=True):
        if one:
            notes.append(
                f"more than a fifth of the runs of {name} were overloaded: {name} cannot be called better or equivalent"
            )
    return MatchedRuns(pairs, _blocks(pairs, notes), compared, tuple(notes), lucky)


def _valid(side: Side, name: str, notes: list[str]) -> list[RunValues]:
    good = [one for one in side if not one.reasons]
    bad = [f"{one.name}: {one.reasons[0]}" for one in side if one.reasons]
    if not good:
        from sojourn.runs.assess_run import service_failed  # slow to import

        error = ServiceError if all(service_failed(one.reasons[0]) for one in side) else LoadError
        raise error(f"no valid run of {len(side)}: {_few(bad, 1)}", name, _remedy(side))
    if bad:
        notes.append(f"{len(bad)} of {len(side)} runs of {name} are not valid and left out: {_few(bad, 1)}")
    return good


def _remedy(side: Side) -> str:
    """Of runs none of which is valid."""
    from sojourn.runs.disturbances import DISTURBED

    reasons = [reason for one in side for reason in one.reasons]
    if any(reason.startswith(DISTURBED) for reason in reasons):
        return "end what disturbed them, and measure again"
    return "measure again, at a load that it can take" if _overloaded(side) else "mend that, and measure again"


def _overloaded(side: Side) -> bool:
    bad = [one for one in side if one.reasons]
    if not bad:
        return False
    from sojourn.runs.assess_run import NOT_BALANCED, NOT_STATIONARY, REQUESTS_FAILED  # slow to import

    kinds = (NOT_BALANCED, NOT_STATIONARY, REQUESTS_FAILED)
    return sum(any(kind in reason for reason in one.reasons for kind in kinds) for one in bad) > MOST_OVERLOADED * len(
        side
    )


def _subject(a: Side, b: Side) -> dict[str, tuple[Any, Any]]:
    """Factors, other than loads, with one value on each side, and another."""
    found = {}
    for name in dict.fromkeys(name for one in (*a, *b) for name in one.condition if name not in LOADS):
        own, other = ({one.condition.get(name, "not said") for one in side} for side in (a, b))
        if len(own) == len(other) == 1 and own != other:
            found[name] = (own.pop(), other.pop())
    return found


def _grouped(side: Side, less: set[str]) -> dict[Condition, list[RunValues]]:
    found: dict[Condition, list[RunValues]] = {}
    for one in side:
        key = tuple(sorted((name, level) for name, level in one.condition.items() if name not in less))
        found.setdefault(key, []).append(one)
    return dict(sorted(found.items(), key=lambda pair: [(isinstance(v, str), v) for _, v in pair[0]]))


def _blocks(
    pairs: Mapping[Condition, tuple[list[RunValues], list[RunValues]]], notes: list[str]
) -> tuple[tuple[list[RunValues], list[RunValues]], ...]:
    """Blocks in which both sides have the same conditions; none where a run has no block, or a block holds a condition twice."""
    held: dict[str, tuple[dict[Condition, RunValues], dict[Condition, RunValues]]] = {}
    for key, sides in pairs.items():
        for number, side in enumerate(sides):
            for one in side:
                own = held.setdefault(one.block, ({}, {}))[number]
                if not one.block or key in own:
                    return ()
                own[key] = one
    whole = {name: sides for name, sides in held.items() if sides[0].keys() == sides[1].keys() == pairs.keys()}
    if not whole:
        if held:
            notes.append("no block has both sides: runs are not paired")
        return ()
    if len(whole) < len(held):
        alone = sorted(name for name in held if name not in whole)
        notes.append(f"{len(alone)} blocks in which a run is missing or not valid are left out: {_few(alone)}")
    return tuple((list(a.values()), list(b.values())) for a, b in whole.values())


def _nothing_in_common(a: Mapping[Condition, Any], b: Mapping[Condition, Any], names: tuple[str, str]) -> InputError:
    told = [
        f"{name} ran {_few([_at(key).strip() or 'without load' for key in own])}"
        for name, own in zip(names, (a, b), strict=True)
    ]
    return InputError("; ".join(told), "compare", "measure both under the same load and factors")


def _unlike(a: Side, b: Side) -> list[str]:
    """What of the load and the machine is not alike, though it is no factor."""
    names = sorted({name for one in (*a, *b) for name in one.alike})
    told = {name: [sorted({one.alike.get(name, "not said") for one in side}) for side in (a, b)] for name in names}
    differing = [
        f"{name} is {_few(own)} in A and {_few(other)} in B" for name, (own, other) in told.items() if own != other
    ]
    return [f"not measured alike: {_few(differing)}"] if differing else []


def _at(key: Condition) -> str:
    return (
        f" at {', '.join(f'{name} = {level:g}' if isinstance(level, int | float) else f'{name} = {level}' for name, level in key)}"
        if key
        else ""
    )


def _few(texts: Sequence[str], most: int = MOST_TOLD) -> str:
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return "; ".join(texts[:most]) + more
