"""The first look at a service: one user who waits for each answer, then more, until they wait for each other and more of them hardly get
more.

So few users are never too much for a service: none is added while it has twice as many as it can serve at a time. Their throughput is
nearly that at which the service is full (asymptotic and balanced bounds: Lazowska et al., Quantitative System Performance (1984), chapter
5), of which low rates say little. Where saturation is allowed the number goes on growing until the throughput does not.

Under a largest rate users think so long that all of them stay below it. Then a throughput that grows no more may be that rate and no limit
of the service: X = N/(Z + R) (response time law: Lazowska, chapter 3), so that X over that rate is Z/(Z + R), the share of their time in
which users think.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

from scipy.special import stdtrit

from sojourn.capacity.rate_interval import RateInterval
from sojourn.capacity.search_limits import LightLoad
from sojourn.errors import NoSuchRow, RunFolderError, ServiceError
from sojourn.query.objectives import Objective, judge, surely_missed
from sojourn.runs.assess_run import service_failed
from sojourn.runs.run_folder import RunFolder
from sojourn.stats.batch_means import BATCHES
from sojourn.units import USUAL_LEVEL

LIGHT_S = 2.0  # of each number of users
USERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
FEW = 64
RISEN = 1.2  # response times over those of a single user: somebody waited
GROWN = 1.05  # throughput over that of half as many users, below which it is full
HARDLY_GROWN = 1.2  # the same, of a few users who wait: it is full soon
LOOKS = 2  # one after the other that say so: a service that serves waiting requests together looks full to two users
MOST_ERROR = 0.9
BY_CHANCE = 4.0  # standard errors by which more users may get less than fewer without being disturbed
HELD = 0.75  # of the largest rate: users who think for more of their time than that hardly get more as they become more
LEAST_ERROR = 0.02  # of a throughput of so short a run, at the usual level, beside its interval


def light_load(
    run: Callable[[int], RunFolder], objectives: Sequence[Objective], saturate: bool = False, level: float = USUAL_LEVEL,
    keep: bool = True, max_rate_per_s: float | None = None,
) -> LightLoad:  # fmt: skip
    """One user, then twice as many, until they wait for each other and the throughput hardly grew; with `saturate` until it grew no more.

    `run`: users → a judged run folder of `LIGHT_S`. `level`: of the interval of that throughput. `keep`: as of `judge`.
    `max_rate_per_s`: users think until all of them are below it, and one that they come near says nothing of the service but that it bears
    as much.
    Raises ServiceError where nothing good was answered.
    """
    alone = run(USERS[0])
    first, response_s = _means(alone)
    judged = judge(alone, objectives, whole=False, keep=keep)
    sure = [surely_missed(alone, one) for one in objectives]
    missed = ", ".join(
        f"{one['objective']}: {one['shown']}" for one, by_far in zip(judged, sure, strict=True) if by_far
    )
    if missed:
        return LightLoad(first, response_s, missed)
    rates, waited, few, full = [first], False, None, None
    hardly, ever = 0, False  # looks one after the other at which it hardly grew; whether there was one
    for users in USERS[1:]:
        if few is not None and not saturate:
            break
        if users > FEW and not (ever or saturate):
            break
        try:
            folder = run(users)
            rate, own_s = _means(folder)
        except ServiceError:
            break  # as many are too many for it: what fewer users got is what it bears
        waited = waited or own_s > RISEN * response_s
        hardly = hardly + 1 if waited and rate < HARDLY_GROWN * rates[-1] else 0
        ever = ever or hardly > 0
        most = max(rates)
        rates.append(rate)
        if hardly == LOOKS:
            few = _full(folder, rates, level)
        if saturate and waited and rate < GROWN * most:
            full = _full(folder, rates, level)
            break
    if max_rate_per_s is not None and max(rates) > HELD * max_rate_per_s:
        return LightLoad(max(rates), response_s, held_per_s=_at_least(max(rates), level))
    return LightLoad(few.value if few else max(rates), response_s, "", full, few)


def _full(folder: RunFolder, rates_per_s: Sequence[float], level: float) -> RateInterval:
    """By all looks, and the interval of the last; above, what is still to come where 1/X falls as 1/N does (balanced stations: Lazowska,
    5.4). Of a slow service a look has few answers, and the largest of several such rates is too large."""
    value, answers = _most(rates_per_s)
    low, _ = folder.metrics().interval("throughput")
    if low is not None:
        # a run states its interval at the usual level, by Student's t of its batches
        error = max(LEAST_ERROR, 1 - low / max(rates_per_s))
        error *= float(stdtrit(BATCHES - 1, (1 + level) / 2) / stdtrit(BATCHES - 1, (1 + USUAL_LEVEL) / 2))
    else:
        error = max(LEAST_ERROR, NormalDist().inv_cdf((1 + level) / 2) / math.sqrt(answers))
    error = min(error, MOST_ERROR)  # a lower end of 0 would tell nothing
    before = rates_per_s[-2]
    grown = 1 / (2 / value - 1 / before) if before < value < 2 * before else value
    return RateInterval(value, value * (1 - error), max(value * (1 + error), grown))


def _at_least(rate_per_s: float, level: float) -> RateInterval:
    """What came in a look, and so is borne; a count of answers is off by chance."""
    error = max(LEAST_ERROR, NormalDist().inv_cdf((1 + level) / 2) / math.sqrt(rate_per_s * LIGHT_S))
    return RateInterval(rate_per_s, rate_per_s * (1 - min(error, MOST_ERROR)), None)


def _most(rates_per_s: Sequence[float]) -> tuple[float, float]:
    """The largest rate and its number of answers; with it the looks at more users which it exceeds by no more than chance: throughput does
    not fall as users are added (Lazowska, 5), so that these are looks at the same."""
    best = max(range(len(rates_per_s)), key=lambda k: rates_per_s[k])
    most = rates_per_s[best]
    same = [r for r in rates_per_s[best:] if most - r <= BY_CHANCE * math.sqrt((most + r) / LIGHT_S)]
    return math.fsum(same) / len(same), math.fsum(same) * LIGHT_S


def _means(folder: RunFolder) -> tuple[float, float]:
    """Throughput in 1/s and mean response time in s. ServiceError where requests failed, or nothing was answered."""
    reasons = [reason for reason in folder.manifest["reasons"] if service_failed(reason)]
    try:
        rows = folder.metrics()
        found = rows.value("throughput"), rows.value("response_time")
    except (NoSuchRow, RunFolderError):
        found = math.nan, math.nan
    if reasons or not min(found) > 0:
        why = reasons[0] if reasons else "no request was answered"
        raise ServiceError(
            f"{folder.path.name}: {why}", folder.path, "check that the URL answers, and with which status"
        )
    return found
