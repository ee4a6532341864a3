"""Whether it is the load generator that limits, by what its own clocks say: its thread, its connections, its share of the cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sojourn.diagnosis.diagnosis_types import LoadLevel, WatchedResource
from sojourn.units import per_second, percent

FULL = 0.9  # of its connections in use, or of cores that it shares with the service
THREAD_FULL = 0.85  # busy, its one thread keeps requests waiting
BUSY = 0.6  # with requests that wait for it, its thread is what they wait for
WAITS = 0.2  # of the response time, before a request is sent
TAKES = 0.15  # of the service's cores: less would not have been a limit of its own


def client_limit(top: LoadLevel, seen: Sequence[WatchedResource], where: str) -> str | None:
    """Why the load generator is what limits at `top`; None where it is not. `seen`: of the service; `where`: in words."""
    shared = _shared(top, seen)
    if shared is not None and shared.busy < FULL <= shared.busy + top.client_shares:
        return takes(top, shared, where)
    waits = 1 - top.sent_s / top.response_s if top.sent_s and not top.users else 0.0
    if top.client_busy >= THREAD_FULL or (top.client_busy >= BUSY and waits >= WAITS):
        return f"its thread is {percent(top.client_busy, 0)} busy at {where}"
    used = top.throughput_per_s * top.sent_s
    if not top.users and top.connections and used >= FULL * top.connections and waits >= 1 - FULL:
        law = f"{used:.0f} of its {top.connections} connections are in use (Little's law)"
        return f"at {where} {law}, and {percent(waits, 0)} of the response time is waiting for one"
    return None


def with_client(top: LoadLevel, seen: Sequence[WatchedResource]) -> tuple[WatchedResource, ...]:
    """`seen`, of which the cores are as busy as the generator on them makes them; empty where it takes little of them."""
    shared = _shared(top, seen)
    if shared is None or shared.busy >= FULL:
        return ()
    return tuple(replace(one, busy=min(one.busy + top.client_shares, 1.0)) if one is shared else one for one in seen)


def _shared(top: LoadLevel, seen: Sequence[WatchedResource]) -> WatchedResource | None:
    """The busiest cores of the service, where the generator takes a part of them."""
    if top.client_shares < TAKES:
        return None
    return max((one for one in seen if one.kind == "cores"), key=lambda one: one.busy, default=None)


def takes(top: LoadLevel, cores: WatchedResource, where: str) -> str:
    """What the generator uses of the service's `cores`, in words."""
    otherwise = f"which are otherwise {percent(cores.busy, 0)} busy"
    return f"at {where} it uses {percent(top.client_shares, 0)} of the service's cores, {otherwise}"


def held_up(top: LoadLevel) -> str | None:
    """Why nothing follows from `top` of the service: requests were sent late though neither thread nor connections were full."""
    waits = 1 - top.sent_s / top.response_s if top.sent_s and not top.users else 0.0
    if not (top.late and waits >= WAITS):
        return None
    said = f"{percent(waits, 0)} of the response time at {per_second(top.throughput_per_s)} passes before requests are sent"
    return f"{said}, while the generator's thread was {percent(top.client_busy, 0)} busy: other programs delayed it"
