"""The chain of a network: its states and their generator, made by the native module."""

from __future__ import annotations

from typing import Any

from sojourn.errors import MethodRefused
from sojourn.model.network_arrays import Network
from sojourn.solve.markov.deadlock import deadlock, no_room
from sojourn.solve.markov.network_spec import UNLIMITED, spec
from sojourn.solve.markov.state_count import MOST_STATES

TOLERANCE, CYCLES = 1e-15, 200

REFUSALS = {
    "too_many": ("more states than the method takes", "reduce the population, or simulate"),
    "too_wide": ("too many stations and classes for the coding of states", "simulate"),
}


def network_chain(network: Network, most_open: int = UNLIMITED, most_states: int = MOST_STATES) -> Any:
    """The states of a network and their generator (`sojourn._native.NetworkChain`).

    Raises MethodRefused where there are too many, where customers can block each other for ever, where they do not fit.
    """
    from sojourn._native import NetworkChain

    try:
        return NetworkChain(spec(network, most_open), most_states)
    except ValueError as error:
        stuck = {"deadlock": deadlock, "no_room": no_room}.get(str(error))
        value, remedy = stuck(network) if stuck else REFUSALS.get(str(error), (str(error), "report this model to us"))
        raise MethodRefused(value, "method ctmc", remedy) from None
