"""Which of cores, a thread, a disk, something unseen or the client is the limit, from levels of load."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from sojourn.diagnosis import sentences
from sojourn.diagnosis.client_limit import client_limit, held_up, takes, with_client
from sojourn.diagnosis.demand_trend import demand_trend
from sojourn.diagnosis.diagnosis_types import Diagnosis, Kind, LoadLevel, Rate, WatchedResource
from sojourn.diagnosis.full_rates import full_rates, is_limit
from sojourn.diagnosis.limit_chances import limit_chances
from sojourn.diagnosis.queue_fill import QueueGrowth, queue_growth
from sojourn.errors import InputError

FULL = 0.9  # busy for that share of the time, a resource is the limit whatever the queue says
ALMOST = 0.8  # the same, where the queue does not say that something is surely fuller
NEAR = 0.05  # shares of busy time that differ by less are alike
LEAST = 0.5  # a queue that is surely less full than this tells nothing of what limits
SURE = 0.75  # chance of what is named, and that the queue is at least half full


def diagnose_levels(levels: Iterable[LoadLevel], fitted_full_per_s: float | Rate | None = None) -> Diagnosis:
    """What limits the service whose runs at one setting these are. Raises InputError where there is none.

    `fitted_full_per_s`: where a model that was fitted to them is full, with its interval where it has one. It knows more than the laws,
    which suppose that a request takes as long at every load; below the rate that was measured it is wrong, and not taken.
    Of open and closed loops together the open ones are asked: their response times grow with the load on one scale.
    """
    order = sorted(levels, key=lambda level: (level.users, level.offered_per_s))
    order = [level for level in order if not level.users] or order
    if not order:
        raise InputError("no level", "diagnosis", "give at least one run with a throughput and a response time")
    first, top = order[0], order[-1]
    growth, full = (None, False) if top.users else _open(order)
    queue, full = _closed(order) if top.users else (None if growth is None else growth.interval, full)
    fitted = None if top.users else _above(fitted_full_per_s, top.throughput_per_s)
    seen = [r for r in top.resources if r.kind != "thread"]  # a thread is only a way to use cores
    busiest = max(seen, key=_busy, default=None)

    def found(kind: Kind, name: str, why: str, then: str, at: float | None = None) -> Diagnosis:
        known = {r.name: r.busy for r in seen}
        ends = _full(top, queue, full, at) if fitted is None else fitted
        return Diagnosis(
            kind, name, why, then, top, first, queue, ends, known, demand_trend(order), sentences.pauses(order)
        )

    if (client := client_limit(top, seen, sentences.at(top))) is not None:
        return found("client", "the client", f"the limit is the client: {client}", sentences.CLIENT)
    if not full and (late := held_up(top)) is not None:
        return found("unknown", "", f"{sentences.UNKNOWN}: {late}", sentences.CLIENT)
    best, unseen = _limit(top, seen, growth, queue, full)
    if unseen and (together := with_client(top, seen)):
        by_both, unseen = _limit(top, together, growth, queue, full)
        if by_both is not None and by_both not in seen:
            own = next(one for one in seen if one.name == by_both.name)
            told = "; ".join(filter(None, [takes(top, own, sentences.at(top)), sentences.queue_says(queue)]))
            return found("client", "the client", f"the limit is the client: {told}", sentences.CLIENT)
    if best is None and not unseen and fitted is not None and top.throughput_per_s >= LEAST * fitted[0]:
        rates = full_rates(top)
        limits = is_limit(rates[0][0], fitted) if rates else False
        best, unseen = (rates[0][1] if limits else None), limits is False
    if best is not None:
        said = sentences.limited(best, top, queue, full, None if fitted is None else fitted[0])
        return found(best.kind, best.name, said, sentences.relief(best), best.busy)
    if unseen:
        return found("unseen", "a lock or a pool", sentences.unseen(busiest, top, queue, full), sentences.UNSEEN)
    return found("unknown", "", sentences.unknown(order, busiest), sentences.more(order, busiest, queue, fitted))


def _limit(
    top: LoadLevel,
    seen: Sequence[WatchedResource],
    growth: QueueGrowth | None,
    queue: tuple[float, float] | None,
    full: bool,
) -> tuple[WatchedResource | None, bool]:
    """What of the watched is the limit, and whether it is something that was not watched; neither where nobody can tell."""
    busiest = max(seen, key=_busy, default=None)
    thread = max((r for r in top.resources if r.kind == "thread"), key=_busy, default=None)
    if busiest is not None and busiest.busy >= (FULL - NEAR if full else FULL):
        return busiest, False
    if full:
        return (thread, False) if thread is not None and thread.busy >= FULL - NEAR else (None, True)
    if busiest is not None and busiest.busy >= ALMOST and (queue is None or queue[0] <= busiest.busy + NEAR):
        return busiest, False
    if growth is None:
        told = queue is not None and queue[0] >= LEAST
        least = queue[0] - NEAR if queue is not None else 1.0
        matching = next((r for r in (busiest, thread) if r is not None and r.busy >= least), None) if told else None
        return matching, told and matching is None
    chances = limit_chances(growth, busiest, thread, LEAST)
    if chances.loaded < SURE:
        return None, False
    if chances.busiest >= SURE:
        return (busiest if busiest is not None and busiest.busy >= LEAST else None), False
    if chances.busiest > 1 - SURE:
        return None, False
    if chances.thread >= SURE * (chances.thread + chances.unseen):
        return thread, False
    return None, True


def _above(fitted: float | Rate | None, throughput_per_s: float) -> Rate | None:
    """The fitted saturation rate where it is above what was measured, and its lower end too, else that."""
    value, low, high = fitted if isinstance(fitted, tuple) else (fitted, None, None)
    if value is None or value <= throughput_per_s:
        return None
    return value, None if low is None else max(low, throughput_per_s), high


def _busy(one: WatchedResource) -> float:
    return one.busy


def _open(order: Sequence[LoadLevel]) -> tuple[QueueGrowth | None, bool]:
    """Utilisations that the queue itself tells, and whether more requests arrive than leave, at the last level. Where nobody knows how
    uncertain a throughput is, nothing follows from what is missing of it; response times of which that is so tell of no queue."""
    top = order[-1]
    missing = 1 - top.throughput_per_s / top.offered_per_s if top.offered_per_s else 0.0
    if top.throughput_error is not None and missing > max(NEAR, 5 * top.throughput_error):
        return None, True
    told = [(level.throughput_per_s, level.response_s, e) for level in order if (e := level.response_error) is not None]
    if not told or top.response_error is None:  # what is said is of the last
        return None, False
    return queue_growth(*zip(*told, strict=True)), False


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


def _full(top: LoadLevel, queue: tuple[float, float] | None, full: bool, busy: float | None) -> Rate | None:
    """Where it is full: X/U of the limiting resource, or by the queue, which has the interval of both."""
    x = top.throughput_per_s
    if full:
        e = top.throughput_error
        return (x, None, None) if e is None else (x, x * (1 - 2 * e), x * (1 + 2 * e))
    told = None if queue is None or top.users or queue[0] < LEAST else (x / queue[1], x / queue[0])
    if busy is not None:
        value = x / busy
        return (value, None, None) if told is None else (value, min(value, told[0]), max(value, told[1]))
    return None if told is None else (math.sqrt(told[0] * told[1]), *told)
