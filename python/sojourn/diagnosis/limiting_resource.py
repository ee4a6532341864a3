"""Which of cores, a thread, a disk, something unseen or the client is the limit, from levels of load."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from sojourn.diagnosis import sentences
from sojourn.diagnosis.diagnosis_types import Diagnosis, Kind, LoadLevel, WatchedResource
from sojourn.diagnosis.queue_fill import queue_utilisation
from sojourn.errors import InputError
from sojourn.units import percent

FULL = 0.9  # busy for that share of the time, a resource is the limit whatever the queue says
NEAR = 0.05  # shares of busy time that differ by less are alike
LEAST = 0.5  # a queue that is surely less full than this tells nothing of what limits


def diagnose_levels(levels: Iterable[LoadLevel], fitted_full_per_s: float | None = None) -> Diagnosis:
    """What limits the service whose runs at one setting these are. Raises InputError where there is none.

    `fitted_full_per_s`: where a model that was fitted to them is full. It knows more than the laws, which suppose that a request takes as
    long at every load; below the rate that was measured it is wrong, and not taken.
    Of open and closed loops together the open ones are asked: their response times grow with the load on one scale.
    """
    order = sorted(levels, key=lambda level: (level.users, level.offered_per_s))
    order = [level for level in order if not level.users] or order
    if not order:
        raise InputError("no level", "diagnosis", "give at least one run with a throughput and a response time")
    first, top = order[0], order[-1]
    queue, full = _closed(order) if top.users else _open(order)
    fitted = fitted_full_per_s if not top.users and (fitted_full_per_s or 0.0) > top.throughput_per_s else None
    seen = [r for r in top.resources if r.kind != "thread"]  # a thread is only a way to use cores
    busiest = max(seen, key=_busy, default=None)

    def found(kind: Kind, name: str, why: str, then: str, at: float | None = None) -> Diagnosis:
        known = {r.name: r.busy for r in seen}
        ends = _full(top, queue, full, at) if fitted is None else (fitted, None, None)
        return Diagnosis(kind, name, why, then, top, first, queue, ends, known)

    if (client := _client(top, busiest)) is not None:
        return found("client", "the client", f"the limit is the client: {client}", sentences.CLIENT)
    told = full or (queue is not None and queue[0] >= LEAST)
    least = FULL if full or queue is None else queue[0] - NEAR
    matching = [r for r in seen if r.busy >= FULL] or [r for r in seen if told and r.busy >= least]
    matching = matching or [r for r in top.resources if told and r.busy >= least]
    if matching:
        best = max(matching, key=_busy)
        return found(
            best.kind, best.name, sentences.limited(best, top, queue, full, fitted), sentences.relief(best), best.busy
        )
    if told:
        return found("unseen", "a lock or a pool", sentences.unseen(busiest, top, queue, full), sentences.UNSEEN)
    return found("unknown", "", sentences.unknown(order, busiest), sentences.more(top, busiest, fitted))


def _busy(one: WatchedResource) -> float:
    return one.busy


def _client(top: LoadLevel, busiest: WatchedResource | None) -> str | None:
    """Why the load generator is what limits."""
    if busiest is not None and busiest.kind == "cores" and busiest.busy < FULL <= busiest.busy + top.client_shares:
        shares = f"{percent(top.client_shares, 0)} of the service's cores, beside {percent(busiest.busy, 0)} by {busiest.name}"
        return f"at {sentences.at(top)} it uses {shares}"
    if top.client_busy >= FULL:
        return f"its thread is {percent(top.client_busy, 0)} busy at {sentences.at(top)}"
    if top.late:
        return f"at {sentences.at(top)} it sent later than its schedule says"
    used = top.throughput_per_s * top.sent_s
    if not top.users and top.connections and used >= FULL * top.connections and top.sent_s < FULL * top.response_s:
        waited = percent(1 - top.sent_s / top.response_s, 0)
        law = f"{used:.0f} of its {top.connections} connections are in use (Little's law)"
        return f"at {sentences.at(top)} {law}, and {waited} of the response time is waiting for one"
    return None


def _open(order: Sequence[LoadLevel]) -> tuple[tuple[float, float] | None, bool]:
    """Utilisation that the queue itself tells, and whether more comes than leaves, at the last level. Where nobody knows how
    uncertain a throughput is, nothing follows from what is missing of it; response times of which that is so tell of no queue."""
    top = order[-1]
    missing = 1 - top.throughput_per_s / top.offered_per_s if top.offered_per_s else 0.0
    if top.throughput_error is not None and missing > max(NEAR, 5 * top.throughput_error):
        return None, True
    told = [(level.throughput_per_s, level.response_s, e) for level in order if (e := level.response_error) is not None]
    if not told or top.response_error is None:  # what is said is of the last
        return None, False
    return queue_utilisation(*zip(*told, strict=True)), False


def _closed(order: Sequence[LoadLevel]) -> tuple[tuple[float, float] | None, bool]:
    """Busiest station: at least 1 - d ln X/d ln N, between the last two numbers of users."""
    before, top = order[-2:] if len(order) > 1 else (order[-1], order[-1])
    if before.users == top.users or top.throughput_error is None or before.throughput_error is None:
        return None, False
    more = math.log(top.users / before.users)
    growth = math.log(top.throughput_per_s / before.throughput_per_s) / more
    error = 2 * math.hypot(top.throughput_error, before.throughput_error) / more
    low = min(max(1 - growth - error, 0.0), 1.0)
    return (low, 1.0), low >= FULL


def _full(
    top: LoadLevel, queue: tuple[float, float] | None, full: bool, busy: float | None
) -> tuple[float, float | None, float | None] | None:
    """Where it is full: X/U of the limiting resource, or by the queue."""
    x = top.throughput_per_s
    if full:
        e = top.throughput_error
        return (x, None, None) if e is None else (x, x * (1 - 2 * e), x * (1 + 2 * e))
    if busy is not None:
        return x / busy, None, None
    if queue is None or top.users or queue[0] < LEAST:
        return None
    low, high = x / queue[1], x / queue[0]
    return math.sqrt(low * high), low, high
