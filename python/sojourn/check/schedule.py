"""A schedule: was it kept, or were requests late, dropped, or held up behind a few connections."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from sojourn.check.facts import LoadFacts
from sojourn.check.finding import Finding
from sojourn.readers.observation import Array
from sojourn.units import per_second, percent, seconds

MISSED = 0.05  # of the rate that was asked for
DROPPED = 0.001
PAUSED = 0.01  # share of the time in pauses of the generator
LONG_GAPS, LEAST_GAP_S = 10.0, 0.02  # a pause: so many mean gaps at least, and so long
CHANCE = 1e-4  # with which the longest gap of a Poisson stream is called a pause
RARE = 0.99  # share of the time, beyond which a number in flight does not count
HELD = 0.9  # share of the time in which all connections are taken, and of requests that begin when another has ended
SOON = 0.05  # of a mean gap: a request begins so soon after an answer that waited for the connection
REMEDY = "more threads, connections or generators; or take the rate that was reached as the load, and say so"


def rate(facts: LoadFacts) -> list[Finding] | None:
    """What was sent, or answered where single requests are not known, beside the rate that was asked for."""
    asked, reached, length = facts.of.asked_per_s, facts.sent_per_s, facts.sent_s
    if not asked or reached is None:
        return None
    chance = 4 / sqrt(max(asked * length, 1.0)) if length else 0.0  # of a Poisson count, four standard deviations
    if reached >= asked * (1 - MISSED - chance):
        return []
    return [
        Finding(
            "schedule_missed", "misleading", "certain", facts.source,
            f"{per_second(asked)} were asked for, {per_second(reached)} were reached: {percent(reached / asked - 1, 0, True)}",
            "the response times are not those of the rate that was asked for; what was not sent waited nowhere that is measured", REMEDY,
            {"asked_per_s": asked, "throughput_per_s": reached},
        )
    ]  # fmt: skip


def dropped(facts: LoadFacts) -> list[Finding] | None:
    """Requests that were due and never sent."""
    lost, sent = facts.of.dropped, facts.answered
    if lost is None or not sent:
        return None
    share = lost / (lost + sent)
    if share <= DROPPED:
        return []
    return [
        Finding(
            "requests_dropped", "misleading", "certain", facts.source,
            f"{lost} of {lost + sent} requests that were due were never sent: {percent(share)}",
            "they would have met the slowest moments: every quantile above that share of the requests is too good", REMEDY,
            {"dropped": float(lost), "sent": float(sent), "share": share},
        )
    ]  # fmt: skip


def pauses(facts: LoadFacts) -> list[Finding] | None:
    """Gaps in which an open load sent nothing: longer than those of a Poisson stream, whose longest of n passes x means with n exp(-x)."""
    if facts.requests is None or facts.of.open_loop is not True or facts.requests.start_s.size < 100:
        return None
    count = facts.requests.start_s.size
    begins, gaps = long_gaps(facts.requests.start_s, by_chance(count))
    length = float(np.ptp(facts.requests.start_s))
    share = float(gaps.sum()) / length if length else 0.0
    if share <= PAUSED or float(gaps.max(initial=0.0)) < LEAST_GAP_S:
        return []
    missed = float(gaps.sum()) * count / length
    return [
        Finding(
            "schedule_missed", "misleading", "likely", facts.source,
            f"nothing was sent for {seconds(float(gaps.max()))} at {seconds(float(begins[np.argmax(gaps)]))}; {gaps.size} such pauses are "
            f"{percent(share)} of the time, in which {missed:.0f} requests were due",
            "the generator paused, or waited for answers: requests that were due then are late or missing, and their waiting is not seen",
            REMEDY, {"longest_s": float(gaps.max()), "pauses": float(gaps.size), "share": share, "due": missed},
        )
    ]  # fmt: skip


def by_chance(count: int) -> float:
    """Mean gaps, ten at least, that the longest gap of so many Poisson requests passes with CHANCE."""
    return max(LONG_GAPS, log(count / CHANCE))


def long_gaps(start_s: Array, least: float = LONG_GAPS) -> tuple[Array, Array]:
    """(when they begin, from the first start; how long they are), of gaps that are `least` times the usual."""
    gaps = np.diff(start_s)
    usual = float(np.ptp(start_s)) / max(gaps.size, 1)
    long = gaps > max(least * usual, LEAST_GAP_S)
    return (start_s[:-1] - start_s[0])[long], gaps[long]


def held(facts: LoadFacts) -> list[Finding] | None:
    """An open load that waits for its connections: nearly always as many in flight as there may be, and each begins as one ends."""
    if facts.requests is None or facts.of.open_loop is not True or facts.requests.start_s.size < 100:
        return None
    times, number = facts.present
    spans, number = np.diff(times), number[:-1]
    order = np.argsort(number, kind="stable")
    passed = np.cumsum(spans[order])
    most = float(
        number[order][min(np.searchsorted(passed, RARE * passed[-1]), order.size - 1)]
    )  # stamps overlap by their rounding
    share = float(spans[number == most].sum() / max(float(passed[-1]), 1e-12))
    if most < 1 or share < HELD or (followed := _follow(facts, int(most))) is None or followed < HELD:
        return []
    return [
        Finding(
            "one_connection", "misleading", "likely", facts.source,
            f"{most:.0f} request{'s' if most > 1 else ''} in flight during {percent(share, 0)} of the time, and never more; "
            f"{percent(followed, 0)} began when another had ended",
            "the load waited for its own connections: it is a closed loop, and the rate is theirs, not the schedule's",
            "allow more connections (`-max-workers`, `-c`), and look whether the rate rises",
            {"in_flight": most, "share": share, "followed": followed},
        )
    ]  # fmt: skip


def _follow(facts: LoadFacts, held: int) -> float | None:
    """Share of the requests, after the first ones, that began as soon as another had ended; None where the clock is too coarse for that."""
    assert facts.requests is not None
    start, end = facts.requests.start_s[held:], np.sort(facts.requests.end_s)
    if start.size == 0:
        return None
    gap = float(np.ptp(facts.requests.start_s)) / (facts.requests.start_s.size - 1)
    tick = max(facts.of.stamp_s or 0.0, 2 * facts.of.rounding_s, SOON * gap)
    if tick > gap / 2:  # some answer is as near by chance
        return None
    before = np.searchsorted(end, start + tick, side="right") - 1
    return float(((before >= 0) & (start - end[before] <= tick)).mean())
