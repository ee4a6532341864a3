"""What is wrong with routes: unknown ends, rows that do not sum to 1. Traps are found in `traffic`, by reachability."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from sojourn.errors import ModelError
from sojourn.file_errors import meant
from sojourn.model.checked_values import CLOSE, list_of, number, one_of, whole
from sojourn.model.components import POLICIES, Choice, Closed, LoadDependent
from sojourn.model.model_data import ModelData

State = tuple[str, str]  # class, station


def check_routes(model: ModelData, stations: Collection[str]) -> None:
    """Every class's table."""
    kinds = {c.name: isinstance(c, Closed) for c in model.classes}
    for cls, rows in model.routing.items():
        one_of(cls, f"routing.{cls}", kinds)
        if not isinstance(rows, Mapping):
            raise ModelError(repr(rows), f"routing.{cls}", "give a table of from → to → probability")
        starts = {**dict.fromkeys(stations), "think" if kinds[cls] else "source": None}
        for start, row in rows.items():
            one_of(start, f"routing.{cls}.{start}", starts)
            if isinstance(row, Choice):
                _choice(row, f"routing.{cls}.{start}", stations, kinds, cls)
            elif isinstance(row, Mapping):
                _row(row, f"routing.{cls}.{start}", stations, kinds, cls)
            else:
                raise ModelError(repr(row), f"routing.{cls}.{start}", "give probabilities by station, or a Choice")


def check_reached(model: ModelData, stations: Collection[str]) -> None:
    """Every row is come to; routes of probability 0 count, because a sweep may begin there."""
    found = _reached(model, stations)
    for cls, rows in model.routing.items():
        lost = [s for s in rows if s in stations and (cls, s) not in found]
        if lost:
            begin = ", ".join(sorted({s for c, s in found if c == cls}, key=list(stations).index)) or "nowhere"
            remedy = f"add a route to {lost[0]} (class {cls} comes to {begin}), or make it a separate class"
            raise ModelError(f"class {cls} never comes to {', '.join(lost)}", f"routing.{cls}.{lost[0]}", remedy)


def check_visited(model: ModelData, stations: Collection[str]) -> None:
    """Every station is come to by some class."""
    found = _reached(model, stations)
    come_to = {station for _, station in found}
    for s in stations:
        if s not in come_to:
            remedy = f"leave it out, or give it a time, e.g. demands_s.{s}.{model.classes[0].name}, or a route"
            raise ModelError("no class visits it", f"stations.{s}", remedy)


def _reached(model: ModelData, stations: Collection[str]) -> set[State]:
    """What the classes can come to from where their passes begin, as it is written."""
    edge: list[State] = []
    for c in model.classes:
        rows = model.routing.get(c.name)
        outside = "think" if isinstance(c, Closed) else "source"
        if not rows:
            tables = (model.demands_s, model.service_s, model.visits)
            edge += [(c.name, s) for s in stations if any(c.name in t.get(s, {}) for t in tables) or _untimed(model, s)]
        elif outside in rows:
            edge += _ends(c.name, rows[outside])
        else:
            edge.append(
                (
                    c.name,
                    getattr(c, "reference_station", "")
                    or next((s for s in rows if s in stations), next(iter(stations))),
                )
            )
    found: set[State] = set()
    while edge:
        state = edge.pop()
        if state[1] in stations and state not in found:
            found.add(state)
            edge += _ends(state[0], model.routing.get(state[0], {}).get(state[1], {}))
    return found


def _untimed(model: ModelData, station: str) -> bool:
    """A load-dependent station takes no times: all come who have no routes."""
    return isinstance(model.station(station), LoadDependent) and station not in model.visits


def _ends(cls: str, row: Mapping[str, Any] | Choice) -> list[State]:
    ends = row.to if isinstance(row, Choice) else row
    return [(other or cls, place) for place, _, other in (end.partition("/") for end in ends)]


def _row(row: Mapping[str, Any], place: str, stations: Collection[str], kinds: dict[str, bool], cls: str) -> None:
    for end, p in row.items():
        _target(end, f"{place}.{end}", stations, kinds, cls)
        number(p, f"{place}.{end}", 0.0, 1.0)
    total = math.fsum(row.values())
    if total > 1 + CLOSE:
        raise ModelError(f"the row sums to {total:.12g}", place, "give probabilities that sum to 1 or less")
    if kinds[cls] and total < 1 - CLOSE:
        raise ModelError(
            f"the row sums to {total:.12g}", place, "give probabilities that sum to 1: customers cannot leave here"
        )


def _choice(row: Choice, place: str, stations: Collection[str], kinds: dict[str, bool], cls: str) -> None:
    one_of(row.policy, f"{place}.policy", POLICIES)
    list_of(row.to, f"{place}.to", "stations to choose from")
    for end in row.to:
        _target(end, f"{place}.to", stations, kinds, cls)
    whole(row.d, f"{place}.d", 1)


def _target(end: Any, place: str, stations: Collection[str], kinds: dict[str, bool], cls: str) -> None:
    at, slash, other = str(end).partition("/")
    outside = "think" if kinds[cls] else "exit"
    if at not in stations and at != outside:
        never = {"exit": "a closed class never leaves: use think", "think": "an open class does not think: use exit"}
        raise ModelError(repr(at), place, never.get(at) or meant(at, [*stations, outside]))
    if not slash:
        return
    one_of(other, place, kinds)
    if kinds[other] != kinds[cls]:
        raise ModelError(
            f"{cls} becomes {other}",
            place,
            "a closed class may only become a closed one, an open class only an open one",
        )
