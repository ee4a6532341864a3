"""The demand of a service while it runs: the windows in a log of `sojourn control`, or of a run folder, as it grows, and whether what
was fitted is stale.

A line of the log is read when it is whole. The demand is that of one class at the workers, by `estimation.updated`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from scipy.special import ndtri

from sojourn.control.decision import Seen
from sojourn.control.estimation import FRESH, LIMIT, OUTSIDE, STALE, WIDE, DemandEstimate, ValidatedRange, updated
from sojourn.control.growing_run import POLL_S, growing_windows
from sojourn.control.recorded_run import is_run_folder
from sojourn.control.replay import REMEDY, read_line
from sojourn.control.simulate import LOG
from sojourn.errors import InputError
from sojourn.table import Metrics
from sojourn.units import USUAL_LEVEL

AGEING = "ageing"
SPREAD = 0.1  # standard error of a fit's demand, of the demand
FAR = 3.0


@dataclass(frozen=True)
class FollowedDemand:
    """After the window that ends at `at_s`. `status`: fresh, ageing (the evidence against the demand is half of what makes an alarm), stale
    (for five windows after one, and while the demand is more than `FAR` standard errors from that of the fit, `fitted_s`), outside
    range (`beyond` says what lies beyond that of the fit's validation), not identifiable (known worse than to 5 %)."""

    at_s: float
    estimate: DemandEstimate
    beyond: str = ""
    fitted_s: float | None = None

    @property
    def status(self) -> str:
        told = STALE if self.off else self.estimate.status()
        if self.beyond and told != STALE:
            return OUTSIDE
        evidence = max(self.estimate.above, self.estimate.below)
        return AGEING if told == FRESH and evidence > LIMIT / 2 else told

    @property
    def off(self) -> bool:
        """Whether the demand is far from the fit's. A window or two at the start may learn it without an alarm."""
        if self.fitted_s is None:
            return False
        error_s = math.hypot(float(self.estimate.error_s[0]), SPREAD * self.fitted_s)
        return abs(float(self.estimate.demands_s[0]) - self.fitted_s) > FAR * error_s

    def interval_s(self, level: float = USUAL_LEVEL) -> tuple[float, float, float]:
        """Demand and the ends of its interval, s; the noise is taken for normal."""
        value, error_s = float(self.estimate.demands_s[0]), float(self.estimate.error_s[0])
        half = float(ndtri((1 + level) / 2)) * error_s
        return value, max(0.0, value - half), value + half

    def metrics(self, level: float = USUAL_LEVEL) -> Metrics:
        """One row, `service_demand` of station `workers`, with the status above (`ok` for fresh)."""
        value, low, high = self.interval_s(level)
        status = "ok" if self.status == FRESH else self.status
        row = {"station": "workers", "metric": "service_demand", "value": value, "low": low, "high": high}
        return Metrics.of([{**row, "source": "measured", "status": status}], "recursive least squares")


def follow(
    folder: Path | str, demand_s: float | None = None, *, scv: float = 1.0, validated: ValidatedRange | None = None, quiet_s: float = 30.0,
    workers: int | None = None, window_s: float = 2.0,
    clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep,
) -> Iterator[FollowedDemand]:  # fmt: skip
    """After each window with sound metrics and answers, until the log says that its run ended or nothing was written for `quiet_s`.

    `folder`: with the log of `sojourn control`; or a run folder, whose windows are of `window_s` and whose service has `workers`
    servers, which serve in order of arrival.

    `demand_s`: of an earlier fit, known to 10 %; without one the first window gives it. `scv`: of service times. `validated`: how far
    that fit was.

    Raises:
        InputError: there is no log, a line is none, the demand is not > 0, or a run folder without `workers`. RunFolderError.
    """
    now = DemandEstimate.start([demand_s], SPREAD) if demand_s is not None else None
    for seen in _seen(Path(folder), workers, window_s, quiet_s, clock, sleep):
        throughput, busy = seen.throughput_per_s or 0.0, (seen.utilisation or 0.0) * seen.ready_workers
        if seen.trouble() or throughput <= 0 or busy <= 0:
            continue
        now = updated(
            now or DemandEstimate.start([busy / throughput], WIDE), [throughput], busy, seen.window_s, scv=scv
        )
        beyond = (validated or ValidatedRange()).beyond(seen.rate_per_s, seen.utilisation)
        yield FollowedDemand(seen.window_end_s, now, beyond, demand_s)


def _seen(
    folder: Path,
    workers: int | None,
    window_s: float,
    quiet_s: float,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
) -> Iterator[Seen]:
    if not is_run_folder(folder) or (folder / LOG).exists():
        return _windows(folder / LOG if folder.is_dir() else folder, quiet_s, clock, sleep)
    if workers is None or workers < 1 or window_s <= 0:
        said = "no number of workers" if workers is None else f"{workers} workers, windows of {window_s:g} s"
        raise InputError(
            said, folder, "for a run folder, give the service's number of servers: --set workers=4,window_s=2"
        )
    return growing_windows(folder, window_s, workers, quiet_s, clock, sleep)


def _windows(path: Path, quiet_s: float, clock: Callable[[], float], sleep: Callable[[float], None]) -> Iterator[Seen]:
    try:
        log = open(path, encoding="utf-8")  # noqa: SIM115
    except OSError as error:
        raise InputError(error.strerror or error, path, REMEDY) from None
    with log:
        part, number, last_s = "", 0, clock()
        while True:
            part += log.readline()
            if not part.endswith("\n"):
                if clock() - last_s > quiet_s:
                    return
                sleep(POLL_S)
                continue
            number, last_s = number + 1, clock()
            row, part = read_line(part.rstrip("\n"), f"{path}:{number}"), ""
            if row == "end":
                return
            if isinstance(row, tuple):
                yield row[0]
