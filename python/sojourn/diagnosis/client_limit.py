"""Whether it is the load generator that limits, by what its own clocks say: its thread, its connections, its share of the cores."""

from __future__ import annotations

from sojourn.diagnosis.diagnosis_types import LoadLevel, WatchedResource
from sojourn.units import per_second, percent

FULL = 0.9  # of its connections in use, or of cores that it shares with the service
THREAD_FULL = 0.85  # busy, its one thread keeps requests waiting
BUSY = 0.6  # with requests that wait for it, its thread is what they wait for
WAITS = 0.2  # of the response time, before a request is sent
TAKES = 0.15  # of the service's cores: less would not have been a limit of its own


def client_limit(top: LoadLevel, busiest: WatchedResource | None, where: str) -> str | None:
    """Why the load generator is what limits at `top`; None where it is not. `where`: in words."""
    shared = top.client_shares if busiest is not None and busiest.kind == "cores" else 0.0
    if busiest is not None and shared >= TAKES and busiest.busy < FULL <= busiest.busy + shared:
        otherwise = f"which are otherwise {percent(busiest.busy, 0)} busy"
        return f"at {where} it uses {percent(shared, 0)} of the service's cores, {otherwise}"
    waits = 1 - top.sent_s / top.response_s if top.sent_s and not top.users else 0.0
    if top.client_busy >= THREAD_FULL or (top.client_busy >= BUSY and waits >= WAITS):
        return f"its thread is {percent(top.client_busy, 0)} busy at {where}"
    used = top.throughput_per_s * top.sent_s
    if not top.users and top.connections and used >= FULL * top.connections and waits >= 1 - FULL:
        law = f"{used:.0f} of its {top.connections} connections are in use (Little's law)"
        return f"at {where} {law}, and {percent(waits, 0)} of the response time is waiting for one"
    return None


def held_up(top: LoadLevel) -> str | None:
    """Why nothing follows from `top` of the service: requests were sent late though neither thread nor connections were full."""
    waits = 1 - top.sent_s / top.response_s if top.sent_s and not top.users else 0.0
    if not (top.late and waits >= WAITS):
        return None
    said = f"{percent(waits, 0)} of the response time at {per_second(top.throughput_per_s)} passes before requests are sent"
    return f"{said}, while the generator's thread was {percent(top.client_busy, 0)} busy: other programs delayed it"
