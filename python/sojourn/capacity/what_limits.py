"""What limits a service and what would limit it next, by the utilisation law: each resource that was watched is full at 1/D_k, D_k what a
request takes of one of its servers (Lazowska et al., Quantitative System Performance (1984), chapter 5: the bounds X <= 1/D_k).

A resource is the limit where that rate is the one at which the model is full, within their uncertainty. Else the limit is something
that was not watched: workers that wait, a lock, a pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sojourn.capacity.rate_interval import RateInterval
from sojourn.diagnosis.load_levels import diagnose
from sojourn.runs.run_folder import RunFolder
from sojourn.units import per_second, percent

LEAST_BUSY = 0.85  # at saturation, of what is the limit


@dataclass(frozen=True)
class ServiceLimit:
    """`name` of what is full first and its share of busy time at the answer, where it was watched; `next_name`, full at `next_per_s`;
    in words."""

    name: str
    busy: float
    next_name: str
    next_per_s: float
    text: str


def full_at(folders: Sequence[RunFolder]) -> list[tuple[float, str]]:
    """What was watched: the rate in 1/s at which it is full, by the level with the most load, and its name; the first to be full first."""
    return sorted(
        (diagnosis.top.throughput_per_s / resource.busy, resource.name)
        for diagnosis in (diagnose(folders).values() if folders else ())
        for resource in diagnosis.top.resources
        if resource.busy > 0
    )


def what_limits(
    folders: Sequence[RunFolder], rate_per_s: float, saturation: RateInterval | None
) -> ServiceLimit | None:
    """At `rate_per_s`, of the runs' watched resources; None where no saturation is known."""
    if saturation is None:
        return None
    full, at = full_at(folders), saturation.value
    if full and at / full[0][0] >= LEAST_BUSY:
        name, busy = full[0][1], rate_per_s / full[0][0]
        text = f"what limits it: {name}, {percent(busy, 0)} busy at that rate"
        later = full[1:2]
    else:
        name, busy, later = "", 0.0, full[:1]
        seen = (
            f"; {full[0][1]} would be {percent(at / full[0][0], 0)} busy where it is full"
            if full
            else ", and nothing was watched"
        )
        text = f"what limits it was not watched: workers that wait, a lock, a pool or a service behind it{seen}"
    if later:
        text += f"; next: {later[0][1]}, full at {per_second(later[0][0])}"
    return ServiceLimit(name, busy, later[0][1] if later else "", later[0][0] if later else 0.0, text)
