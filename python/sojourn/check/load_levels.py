"""Several loads on one service: with more load a request waits at least as long, and a resource is at least as busy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sojourn.check.facts import LoadFacts
from sojourn.check.finding import Finding
from sojourn.readers import Observation
from sojourn.units import per_second, percent, seconds

MORE, LESS = 1.3, 0.8
LEAST = 100


def falling(observations: Sequence[Observation]) -> list[Finding]:
    """Loads of one file, or of several of one tool, in order of their load."""
    groups: dict[str, list[LoadFacts]] = {}
    for one in observations:
        if one.mean_s is not None or one.requests is not None:
            groups.setdefault(one.tool, []).append(LoadFacts(one))
    return [finding for group in groups.values() for finding in _of_group(group)]


def _of_group(group: list[LoadFacts]) -> list[Finding]:
    for name in ("users", "asked_per_s"):
        known = [one for one in group if getattr(one.of, name) is not None]
        levels = {getattr(one.of, name) for one in known}
        if len(known) == len(group) and len(levels) == len(group) > 1:
            return _falls(sorted(known, key=lambda one: float(getattr(one.of, name))), name)
    return []


def _falls(levels: list[LoadFacts], name: str) -> list[Finding]:
    found = []
    for low, high in pairwise(levels):
        few, many = float(getattr(low.of, name)), float(getattr(high.of, name))
        if low.mean_s is None or high.mean_s is None or low.rate_per_s is None or high.rate_per_s is None:
            continue
        if (
            min(low.answered or LEAST, high.answered or LEAST) < LEAST
            or many < MORE * few
            or high.rate_per_s < low.rate_per_s * 1.05
        ):
            continue
        if high.mean_s >= LESS * low.mean_s:
            continue
        said = f"{few:.4g} and {many:.4g} users" if name == "users" else f"{per_second(few)} and {per_second(many)}"
        found.append(
            Finding(
                "latency_falls", "misleading", "likely", high.source,
                f"at {said} the mean is {seconds(low.mean_s)} and {seconds(high.mean_s)}: {percent(high.mean_s / low.mean_s - 1, 0, True)}",
                "a service does not get faster by more load: the first run was not warm, a processor saved power, or runs were mixed up",
                "run the levels again in random order, each with a warm-up of its own",
                {"low": few, "high": many, "low_s": low.mean_s, "high_s": high.mean_s},
            )
        )  # fmt: skip
    return found
