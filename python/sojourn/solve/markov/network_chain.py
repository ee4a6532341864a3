"""The chain of a network: its states and their generator, made by the native module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sojourn.errors import MethodRefused
from sojourn.model.network_arrays import Array, Network
from sojourn.model.network_points import NetworkPoints
from sojourn.solve.markov.deadlock import deadlock, no_room
from sojourn.solve.markov.network_spec import UNLIMITED, spec
from sojourn.solve.markov.state_count import MOST_STATES

TOLERANCE, CYCLES = 1e-15, 200
SPEEDS = ("service_s", "think_s")  # numbers on which neither the states nor what leads where depends

REFUSALS = {
    "too_many": ("more states than the method takes", "reduce the population, or simulate"),
    "too_wide": ("too many stations and classes for this method to number the states", "simulate"),
}


def network_chain(network: Network, most_open: int = UNLIMITED, most_states: int = MOST_STATES) -> Any:
    """The states of a network and their generator (`sojourn._native.NetworkChain`).

    Raises MethodRefused where there are too many, where customers can block each other forever, where they do not fit.
    """
    from sojourn._native import NetworkChain

    try:
        return NetworkChain(spec(network, most_open), most_states)
    except ValueError as error:
        stuck = {"deadlock": deadlock, "no_room": no_room}.get(str(error))
        value, remedy = stuck(network) if stuck else REFUSALS.get(str(error), (str(error), "report this model to us"))
        raise MethodRefused(value, "method ctmc", remedy) from None


def differ_in_speeds(points: NetworkPoints) -> bool:
    """Whether points of one base are the same network but for the speeds of service and of thinking."""
    if points.parts or not set(points.columns) <= set(SPEEDS):
        return False
    return all(((points.column(name) > 0) == (_of_bases(points, name) > 0)).all() for name in points.columns)


def same_chains(points: NetworkPoints) -> Iterator[tuple[Network, list[int], Array]]:
    """Networks whose chains have the same states and moves: one of them, which points they are, and the `speeds` of each, as of
    `unchanged`, times those of the one."""
    if not differ_in_speeds(points):
        yield from ((network, [p], unchanged(network)) for p, network in enumerate(points))
        return
    inside, outside = (_speeds(points, name) for name in SPEEDS)
    speeds = np.concatenate([inside, outside[:, None]], axis=1)
    for base in np.unique(points.which):
        own = np.flatnonzero(points.which == base)
        yield points.bases[base], own.tolist(), speeds[own].reshape(len(own), -1)


def unchanged(network: Network) -> Array:
    """1 x (K + 1)C, how often as fast as it is each class is served at each station and outside: once."""
    return np.ones((1, network.visits.size + len(network.classes)))


def _of_bases(points: NetworkPoints, name: str) -> Array:
    return np.stack([getattr(base, name) for base in points.bases])[points.which]


def _speeds(points: NetworkPoints, name: str) -> Array:
    given, new = _of_bases(points, name), points.column(name)
    return np.divide(given, new, out=np.ones_like(given, dtype=float), where=new > 0)
