"""Sections of a study into points. A point may ask for a `share` of the saturation rate: its rate is known later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np

from sojourn.errors import StudyError
from sojourn.file_errors import meant
from sojourn.study.file_schema import MOST_DRAWN, DrawSection, StudySection
from sojourn.study.system import Point, System, Value

SHARE, RATE, SATURATION = "share", "rate_per_s", "saturation"
SAMPLE_SEED = 1


def section_points(part: StudySection, system: System, times: int, quick: bool) -> Iterable[Point]:
    """All combinations of a section (and of each with its sample), each `repetitions` times; those that settle to the same
    factors are one.

    Raises:
        StudyError, InputError: a factor in both `set` and `vary`, followed but not given, unknown, out of range.
    """
    place = f"{part.name}: set, vary"
    part = part.quicker() if quick else part
    if both := (part.fixed.keys() & part.vary.keys()) | (part.ranges.keys() & (part.fixed.keys() | part.vary.keys())):
        raise StudyError(f"{sorted(both)[0]} in both", f"{place}, ranges", "give it in one of them")
    repetitions = part.repetitions or times
    combinations = [dict(zip(part.vary, values, strict=True)) for values in product(*part.vary.values())]
    seen = []
    for values, sample in product(combinations, sampled(part)):
        given = {**part.fixed, **values, **sample}
        factors = settled(system, _followed(given, part), place)
        for key, asked in (("x", part.x), *(("by", name) for name in part.divided_by)):
            if asked is not None and asked not in factors:
                raise StudyError(f"{key} = {asked!r}", part.name, meant(asked, factors))
        if factors not in seen:
            seen.append(factors)
            yield from (Point(part.name, factors, k) for k in range(1, repetitions + 1))


def _followed(given: dict[str, Any], part: StudySection) -> dict[str, Any]:
    for name, leader in part.follow.items():
        if leader not in given or name in given:
            raise StudyError(
                f"follow: {name} = {leader!r}",
                part.name,
                f"give {leader} in set or vary, and {name} in neither of them",
            )
        given = {**given, name: given[leader]}
    return given


def settled(system: System, given: Mapping[str, Any], place: str) -> dict[str, Value]:
    """All factors at a point; where a `share` is given it stands instead of the rate."""
    if SHARE not in given:
        return system.settled(given, place)
    share = given[SHARE]
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 2:
        raise StudyError(f"share = {share!r}", place, "give a share of the saturation rate, such as 0.5")
    others = {name: value for name, value in given.items() if name != SHARE}
    found = system.settled({**others, RATE: 1.0}, place)
    return {SHARE if name == RATE else name: float(share) if name == RATE else value for name, value in found.items()}


def at_rate(point: Point, saturation_per_s: float) -> Point:
    """A point that asked for a share, at its rate: three figures, so that names of folders stay readable."""
    rate = float(f"{float(point.factors[SHARE]) * saturation_per_s:.3g}")
    factors = {RATE if name == SHARE else name: rate if name == SHARE else v for name, v in point.factors.items()}
    return Point(point.section, factors, point.repetition)


def saturating(point: Point, system: System, users: int, place: str = "[saturation]") -> Point:
    """The run that tells what the configuration of `point` does at most: a closed loop without think time."""
    others = {name: value for name, value in point.factors.items() if name not in (SHARE, RATE, "users", "think_s")}
    return Point(SATURATION, system.settled({**others, "users": users}, place))


def drawn(part: DrawSection, count: int, seed: int, system: System) -> list[Point]:
    """`count` configurations at random, each as often as the table says.

    Raises:
        StudyError: too many, or a range that is none. InputError: a factor that the system has not.
    """
    each = values_drawn(part.vary, count, seed, "vary")
    factors = [settled(system, {**part.fixed, **values}, "[draw]") for values in each]
    return [Point("draw", one, k) for one in factors for k in range(1, (part.repetitions or 1) + 1)]


def values_drawn(ranges: Mapping[str, Any], count: int, seed: int, table: str) -> list[dict[str, Any]]:
    """`count` times a value of each range, deterministic in `seed`; the first are the same whatever `count` is.

    Raises:
        StudyError: too many, or a range that is none.
    """
    if not 1 <= count <= MOST_DRAWN:
        raise StudyError(f"--random-configurations {count}", "command line", f"give 1 to {MOST_DRAWN}")
    random = np.random.default_rng(seed)
    return [{name: _one(f"{table}.{name}", given, random) for name, given in ranges.items()} for _ in range(count)]


def sampled(part: StudySection) -> list[dict[str, Any]]:
    """`sample` points that fill the ranges of a section: each range in as many slices, evenly in the logarithm, and a point in each
    slice of every factor; the same in every study. Source: M. D. McKay, R. J. Beckman, W. J. Conover, A Comparison of Three
    Methods for Selecting Values of Input Variables, Technometrics 21(2), 1979, section 2.

    Raises:
        StudyError: a range that is none.
    """
    if part.sample is None:
        return [{}]
    random, count = np.random.default_rng(SAMPLE_SEED), part.sample
    shares = {name: (random.permutation(count) + random.random(count)) / count for name in part.ranges}
    return [
        {name: _at(f"ranges.{name}", part.name, given, float(shares[name][k])) for name, given in part.ranges.items()}
        for k in range(count)
    ]


def _one(name: str, given: Any, random: np.random.Generator) -> Any:
    count = len(given) if isinstance(given, list) else 0
    share = (int(random.integers(count)) + 0.5) / count if count else float(random.random())
    return _at(f"draw.{name}", "[draw]", given, share)


def _at(name: str, place: str, given: Any, share: float) -> Any:
    """The value of a list or a range below which this share (0 to below 1) of it lies."""
    if isinstance(given, list) and given:
        return given[int(share * len(given))]
    low, high = (given.get("low"), given.get("high")) if isinstance(given, Mapping) else (None, None)
    if not isinstance(low, int | float) or not isinstance(high, int | float) or not 0 < low < high:
        remedy = "give a list of values, or { low = …, high = … } with 0 < low < high"
        raise StudyError(f"{name} = {given!r}", place, remedy)
    value = float(np.exp(np.log(low) + share * (np.log(high) - np.log(low))))
    return round(value) if isinstance(low, int) and isinstance(high, int) else float(f"{value:.4g}")
