"""`Trial`: what a first try predicted, and what was then measured, as data and in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sojourn.former_keyword import former_field
from sojourn.units import per_second, percent, prediction, seconds


@dataclass(frozen=True)
class Prediction:
    """Of the mean response time (s) at a configuration, with its interval (`high` None where it may be saturated); `measured` afterwards;
    `reasons` why that run is not valid."""

    workers: int
    rate_per_s: float
    value: float | None
    low: float | None
    high: float | None
    measured: float | None = None
    reasons: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """The configuration in words."""
        return f"{self.workers} workers, {per_second(self.rate_per_s)}"

    @property
    def predicted_text(self) -> str:
        return prediction(self.value, self.low, self.high, "s")

    @property
    def inside_interval(self) -> bool | None:
        """Whether the measured value lies in the interval; None where there is none that counts."""
        if self.measured is None or self.reasons:
            return None
        return (self.low is None or self.measured >= self.low) and (self.high is None or self.measured <= self.high)

    @property
    def told(self) -> str:
        return {True: "inside", False: "outside", None: "not valid"}[self.inside_interval]


@former_field(took_s="elapsed_s")
@dataclass(frozen=True)
class Trial:
    """`measured`: rate (1/s) → mean response time (s) of the ramp; `service_s`, `saturation_per_s`: found by the fit, with intervals at
    `level`; `predictions`: each written before it was run; `folder`: of the runs; `elapsed_s`."""

    measured: dict[float, float]
    service_s: tuple[float, float, float]
    saturation_per_s: tuple[float, float, float]
    predictions: tuple[Prediction, ...]
    level: float
    folder: str
    elapsed_s: float

    def to_dict(self) -> dict[str, Any]:
        """For JSON: times in s, rates in 1/s."""
        rows = [{**asdict(one), "inside_interval": one.inside_interval} for one in self.predictions]
        return {
            **asdict(self),
            "measured": [{"rate_per_s": r, "response_s": t} for r, t in self.measured.items()],
            "predictions": rows,
        }

    def last_line(self) -> str:
        """How many were inside, how long it took, where it is."""
        counted = [one for one in self.predictions if one.inside_interval is not None]
        inside = sum(bool(one.inside_interval) for one in counted)
        return (
            f"{inside} of {len(counted)} measured values in their {percent(self.level, 0)} intervals; {seconds(self.elapsed_s)}; "
            f"all files are in {self.folder}"
        )
