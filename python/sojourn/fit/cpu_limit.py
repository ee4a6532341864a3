"""Whether CPU time limits a service for sure: by its lightest run, less what the CPU was busy with without requests.

What a request takes beyond its CPU time is at most the time of one resource that serves one request at a time: a lock. Such a resource
is full at 1/(R - D), R the response time with little load and D the CPU time of a request, and m cores are at m/D. Where the cores are
full first even so, no other resource limits the service. CPU time beyond the response time is not that of one request, one after
another: of other work, or of a request on several cores. Then nothing is sure.

    U = b + X D    windows of the utilisation law (Lazowska et al., Quantitative System Performance (1984), p. 42), b without requests
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from sojourn.fit.fit_runs import FitRun, FitRuns

LEAST_CHANGE = 0.01  # of the throughput, relative, that tells a line
LEAST_OTHER = 0.02  # of what was busy in the lightest run
BY_CHANCE = 0.05  # of the test: how often work without requests is found where there is none
UNKNOWN_CORES = 4  # as many as the models without a number of cores have servers
FAR = 1.5  # times the longest response time that such servers have
MORE = 1.05  # times the response time: CPU time that is more is not of one request


def limits_for_sure(runs: FitRuns, resource: str) -> bool:
    """Of runs at rates; `resource`: which tells CPU time. False where it was not watched in the lightest run."""
    run, cpu_s, response_s = _lightest(runs, resource)
    return bool(cpu_s > (response_s - cpu_s) * (run.cores or UNKNOWN_CORES) and cpu_s <= MORE * response_s)


def may_be_all(runs: FitRuns, resource: str, servers: int) -> bool:
    """Whether so many servers with this CPU time and nothing beside them may have the response time of the lightest run: no longer than
    M/M/1 with a busy share like theirs, which waits longer than as many servers, and `FAR` times that for what else there is."""
    run, cpu_s, response_s = _lightest(runs, resource)
    free = 1 - run.busy.get(resource, 0.0) / run.slowness / servers
    return not (cpu_s > 0 and free > 0) or response_s <= FAR * cpu_s / free


def _lightest(runs: FitRuns, resource: str) -> tuple[FitRun, float, float]:
    """The run of the lowest rate, its CPU time of a request, s, 0 where nobody watched it, and its response time."""
    run = min(runs.runs, key=lambda run: float(run.factors["rate_per_s"]))
    done, response_s = (run.means.get(("", name), (0.0, 0.0))[0] for name in ("throughput", "response_time"))
    if resource not in run.busy or done <= 0 or response_s <= 0:
        return run, 0.0, response_s
    return run, (run.busy[resource] - work_without_requests(runs, resource)) / done, response_s


def work_without_requests(runs: FitRuns, resource: str) -> float:
    """b, servers: what it was busy with without requests; 0 where that is not above 0, or by chance (Student's test)."""
    told = [(run.means["", "throughput"][0], run.busy[resource] / run.slowness) for run in runs.runs
            if resource in run.busy and ("", "throughput") in run.means]  # fmt: skip
    done, busy = np.array(told, float).reshape(-1, 2).T
    if len(busy) < 4 or np.ptp(done) < LEAST_CHANGE * done.max():
        return 0.0
    design = np.column_stack([np.ones(len(done)), done]) / busy[:, None]  # relative errors
    (other, slope), *_ = np.linalg.lstsq(design, np.ones(len(busy)), rcond=None)
    left = 1 - design @ np.array([other, slope])
    error = np.sqrt(left @ left / (len(busy) - 2) * np.linalg.inv(design.T @ design)[0, 0])
    surely = other > max(error, 1e-9) * stdtrit(len(busy) - 2, 1 - BY_CHANCE)
    return float(other) if surely and other > LEAST_OTHER * busy.min() else 0.0
