"""What is wrong with routes: unknown ends, rows that do not sum to 1. Traps are found in `traffic`, by reachability."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sojourn.errors import ModelError
from sojourn.model.nouns import POLICIES, Choice, Closed
from sojourn.model.values import CLOSE, list_of, meant, number, one_of, whole

if TYPE_CHECKING:
    from sojourn.model.model import Model


def check_routes(model: Model, stations: list[str]) -> None:
    """Every class's table."""
    kinds = {c.name: isinstance(c, Closed) for c in model.classes}
    for cls, rows in model.routing.items():
        one_of(cls, f"routing.{cls}", kinds)
        if not isinstance(rows, Mapping):
            raise ModelError(repr(rows), f"routing.{cls}", "give a table of from → to → probability")
        outside = "think" if kinds[cls] else "source"
        for start, row in rows.items():
            one_of(start, f"routing.{cls}.{start}", [*stations, outside])
            if isinstance(row, Choice):
                _choice(row, f"routing.{cls}.{start}", stations, kinds, cls)
            elif isinstance(row, Mapping):
                _row(row, f"routing.{cls}.{start}", stations, kinds, cls)
            else:
                raise ModelError(repr(row), f"routing.{cls}.{start}", "give probabilities by station, or a Choice")


def _row(row: Mapping[str, Any], place: str, stations: list[str], kinds: dict[str, bool], cls: str) -> None:
    for end, p in row.items():
        _target(end, f"{place}.{end}", stations, kinds, cls)
        number(p, f"{place}.{end}", 0.0, 1.0)
    total = math.fsum(row.values())
    if total > 1 + CLOSE:
        raise ModelError(f"the row sums to {total:.12g}", place, "give probabilities that sum to 1 or less")
    if kinds[cls] and total < 1 - CLOSE:
        raise ModelError(f"the row sums to {total:.12g}", place, "give probabilities that sum to 1: nobody leaves here")


def _choice(row: Choice, place: str, stations: list[str], kinds: dict[str, bool], cls: str) -> None:
    one_of(row.policy, f"{place}.policy", POLICIES)
    list_of(row.to, f"{place}.to", "stations to choose from")
    for end in row.to:
        _target(end, f"{place}.to", stations, kinds, cls)
    whole(row.d, f"{place}.d", 1)


def _target(end: Any, place: str, stations: list[str], kinds: dict[str, bool], cls: str) -> None:
    at, slash, other = str(end).partition("/")
    outside = "think" if kinds[cls] else "exit"
    if at not in stations and at != outside:
        never = {"exit": "a closed class never leaves: use think", "think": "an open class does not think: use exit"}
        raise ModelError(repr(at), place, never.get(at) or meant(at, [*stations, outside]))
    if not slash:
        return
    one_of(other, place, kinds)
    if kinds[other] != kinds[cls]:
        raise ModelError(f"{cls} becomes {other}", place, "let closed classes become closed ones, open ones open ones")
