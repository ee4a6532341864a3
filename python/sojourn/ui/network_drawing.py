"""A model as a drawing: stations, what goes from where to where, and the pools and regions around them; the browser places it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from sojourn.model import Model
from sojourn.model.components import Choice, Closed, Pool

MOST_ROUTES = 400  # a drawing of more says nothing
OUTSIDE, EXIT, THINK = "source", "exit", "think"


def network_drawing(model: Model) -> dict[str, Any]:
    """`nodes`: name, kind, text; `routes`: from, to, class, probability (None where the order is not said); `groups`: name,
    kind, text, of which stations."""
    stations = [s for s in model.stations if not isinstance(s, Pool)]
    nodes = [{"name": s.name, "kind": s.kind, "text": _said(s), "servers": _servers(s)} for s in stations]
    routes: list[dict[str, Any]] = []
    for cls in model.classes:
        if cls.name in model.routing:
            routes += _routed(model, cls.name)
        else:
            routes += _in_order(model, cls)
    ends = {end for route in routes for end in (route["from"], route["to"])}
    nodes += [{"name": end, "kind": end, "text": "", "servers": 0} for end in (OUTSIDE, THINK, EXIT) if end in ends]
    known = {node["name"] for node in nodes}
    groups = [
        {"name": s.name, "kind": "pool", "text": f"pool of {s.size}", "over": list(s.held_over_stations)}
        for s in model.stations
        if isinstance(s, Pool)
    ]
    groups += [
        {"name": r.name, "kind": "region", "text": f"at most {r.limit}", "over": list(r.stations)}
        for r in model.regions
    ]
    kept = [route for route in routes if route["from"] in known and route["to"] in known]
    return {"nodes": nodes, "routes": kept[:MOST_ROUTES], "groups": groups, "classes": [c.name for c in model.classes]}


def _said(station: Any) -> str:
    many = _servers(station)
    text = station.kind.replace("_", " ")
    if station.kind == "queue":
        text = station.discipline.replace("_", " ")
        text += f", {many} servers" if many > 1 else ""
        if station.capacity is not None:
            text += f", room for {station.capacity}"
    elif many > 1:
        text += f", {many}"
    return text


def _servers(station: Any) -> int:
    return int(next((getattr(station, name) for name in ("servers", "cores", "branches") if hasattr(station, name)), 1))


def _routed(model: Model, cls: str) -> list[dict[str, Any]]:
    found = []
    for start, row in model.routing[cls].items():
        ends = dict.fromkeys(row.to) if isinstance(row, Choice) else row
        for end, probability in ends.items():
            to, _, becomes = str(end).partition("/")
            known = isinstance(probability, int | float)
            found.append(
                {"from": start, "to": to, "class": cls, "probability": float(probability) if known else None,  # type: ignore[arg-type]
                 "text": f"becomes {becomes}" if becomes else row.policy.replace("_", " ") if isinstance(row, Choice) else ""}
            )  # fmt: skip
    return found


def _in_order(model: Model, cls: Any) -> list[dict[str, Any]]:
    """Of a class whose routes are not said: the stations that it visits, in the order of the file."""
    visited = [
        s.name for s in model.stations
        if any(cls.name in getattr(model, part).get(s.name, {}) for part in ("demands_s", "service_s", "visits"))
        or s.kind == "load_dependent"
    ]  # fmt: skip
    start, end = (THINK, THINK) if isinstance(cls, Closed) else (OUTSIDE, EXIT)
    chain = [start, *visited, end]
    return [
        {"from": a, "to": b, "class": cls.name, "probability": None, "text": ""} for a, b in pairwise(chain) if visited
    ]
