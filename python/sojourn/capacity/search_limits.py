"""What a search for a capacity starts from, and what bounds it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sojourn.capacity.rate_interval import RateInterval, machine_part
from sojourn.errors import InputError
from sojourn.former_keyword import former_field
from sojourn.query.objectives import Objective
from sojourn.units import USUAL_LEVEL, percent


@former_field(runs="max_runs", up_to_per_s="max_rate_per_s", at_least_per_s="required_rate_per_s")
@dataclass(frozen=True)
class SearchLimits:
    """`max_runs` at most, `within_s` in all; `precision`: half of the interval over the value; `level` of intervals, in (0, 1);
    `max_rate_per_s`: never more than that; `saturate`: rates above 90 % of saturation are allowed; `required_rate_per_s`: the rate that is
    asked of the service: the search ends, too, when it is known whether the answer is above."""

    max_runs: int = 8
    within_s: float = 180.0
    precision: float = 0.1
    level: float = USUAL_LEVEL
    max_rate_per_s: float | None = None
    saturate: bool = False
    required_rate_per_s: float | None = None

    def __post_init__(self) -> None:
        least = self.required_rate_per_s
        for value, place, ok, remedy in (
            (self.max_runs, "--max-runs", 3 <= self.max_runs <= 100, "give 3 to 100"),
            (f"{self.within_s:g} s", "--within", 20 <= self.within_s <= 86400, "give 20s to 24h"),
            (self.level, "--level", 0 < self.level < 1, "give a number between 0 and 1, like 0.9"),
            (
                self.max_rate_per_s,
                "--max-rate",
                self.max_rate_per_s is None or self.max_rate_per_s > 0,
                "give a rate above 0",
            ),
            (least, "--required-rate", least is None or least > 0, "give a rate above 0"),
        ):
            if not ok:
                raise InputError(value, place, remedy)
        machine = machine_part(self.level)
        if not machine < self.precision <= 1:
            remedy = f"give more than {percent(machine)}, by which the speed of the machine alone may differ, to 1"
            raise InputError(self.precision, "--precision", remedy)


def check_objectives(objectives: Iterable[Objective]) -> None:
    """Raises InputError for one that has no largest rate."""
    for one in objectives:
        if one.figure == "rate" or one.relation not in ("<", "<="):
            raise InputError(one.text, "--objective", "give an upper limit of mean, p99 or errors, as 'p99 < 50ms'")


@dataclass(frozen=True)
class LightLoad:
    """What few users saw, each of whom waits for an answer: the most requests a second, the mean response time of a single one in s;
    `missed`: what of the objective not even one user gets; `full_per_s`: the most requests a second of any number of users, where more
    users were asked until it grew no more; `few_full_per_s`: where the service is full by users who waited for each other, of whom twice as
    many hardly got more; None where so few never did; `held_per_s`: what users got who think so that `max_rate_per_s` is not exceeded,
    where that rate and not the service held them: no upper end."""

    borne_per_s: float
    response_s: float
    missed: str = ""
    full_per_s: RateInterval | None = None
    few_full_per_s: RateInterval | None = None
    held_per_s: RateInterval | None = None

    @property
    def tells(self) -> RateInterval | None:
        """Where the service is full, as far as a few users tell it: without an upper end where it is at least that."""
        return self.few_full_per_s or self.held_per_s
