"""The first look at a service: one user who waits for each answer, then more, until somebody waits for somebody else.

So few users are never too much for a service. Where saturation is allowed the number goes on growing until the throughput does not: the
closed loop then has the rate at which the service is full (asymptotic bounds: Lazowska et al., Quantitative System Performance (1984),
chapter 5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from scipy.special import stdtrit

from sojourn.capacity.rate_interval import RateInterval
from sojourn.capacity.search_limits import LightLoad
from sojourn.errors import NoSuchRow, RunFolderError, ServiceError
from sojourn.query.objectives import Objective, judge
from sojourn.runs.assess_run import REQUESTS_FAILED
from sojourn.runs.run_folder import RunFolder
from sojourn.stats.batch_means import BATCHES
from sojourn.units import USUAL_LEVEL

LIGHT_S = 2.0  # of each number of users
USERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
FEW = 64
RISEN = 1.2  # response times over those of a single user: somebody waited
GROWN = 1.05  # throughput over that of half as many users, below which it is full
LEAST_ERROR = 0.02  # of a throughput of so short a run, at the usual level, beside its interval


def light_load(
    run: Callable[[int], RunFolder], objectives: Sequence[Objective], saturate: bool = False, level: float = USUAL_LEVEL
) -> LightLoad:
    """One user, then twice as many, until somebody waited; with `saturate` until the throughput grew no more.

    `run`: users → a judged run folder of `LIGHT_S`. `level`: of the interval of that throughput.
    Raises ServiceError where nothing good was answered.
    """
    alone = run(USERS[0])
    borne, response_s = _means(alone)
    judged = judge(alone, objectives, whole=False)
    missed = ", ".join(f"{one['objective']}: {one['shown']}" for one in judged if not one["met"])
    if missed:
        return LightLoad(borne, response_s, missed)
    few, waited, full = borne, False, None
    for users in USERS[1:]:
        if (waited or users > FEW) and not saturate:
            break
        try:
            folder = run(users)
            rate, own_s = _means(folder)
        except ServiceError:
            break  # as many are too many for it: what fewer users got is what it bears
        few = few if waited else max(few, rate)
        waited = waited or own_s > RISEN * response_s
        if saturate and waited and rate < GROWN * borne:
            full = _full(folder, borne, rate, level)
            break
        borne = max(borne, rate)
    return LightLoad(few, response_s, "", full)


def _full(folder: RunFolder, before_per_s: float, rate_per_s: float, level: float) -> RateInterval:
    """The most that came; above, what is still to come where 1/X falls as 1/N does (balanced stations: Lazowska, 5.4)."""
    low, _ = folder.metrics().interval("throughput")
    error = max(LEAST_ERROR, 1 - low / rate_per_s if low is not None else 0.0)
    # a run states its interval at the usual level, by Student's t of its batches
    error *= float(stdtrit(BATCHES - 1, (1 + level) / 2) / stdtrit(BATCHES - 1, (1 + USUAL_LEVEL) / 2))
    most = max(before_per_s, rate_per_s)
    grown = 1 / (2 / rate_per_s - 1 / before_per_s) if rate_per_s > before_per_s else most
    return RateInterval(most, most * (1 - error), max(most * (1 + error), grown))


def _means(folder: RunFolder) -> tuple[float, float]:
    """Throughput in 1/s and mean response time in s. ServiceError where requests failed, or nothing was answered."""
    reasons = [reason for reason in folder.manifest["reasons"] if REQUESTS_FAILED in reason]
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
