"""Where each resource that was watched is full, by the utilisation law: at 1/D, D what a request takes of one of its servers (Lazowska
et al., Quantitative System Performance (1984), chapter 5: the bounds X <= 1/D); and whether that is where a model has the service full."""

from __future__ import annotations

from sojourn.diagnosis.diagnosis_types import LoadLevel, Rate, WatchedResource

LEAST_BUSY = 0.85  # of what is the limit, where the service is full


def full_rates(top: LoadLevel, threads: bool = False) -> list[tuple[float, WatchedResource]]:
    """By a level with load: the rate in 1/s at which each resource is full, the first to be full first; `threads`: of these too."""
    busy = [one for one in top.resources if one.busy > 0 and (threads or one.kind != "thread")]
    return sorted(((top.throughput_per_s / one.busy, one) for one in busy), key=lambda pair: pair[0])


def is_limit(full_per_s: float, saturation: Rate) -> bool | None:
    """Whether a resource that is full at a rate is what makes the service full at `saturation`; False where something else is, None
    where the interval of `saturation` has both. Without a lower end the value counts, without an upper one none is excluded."""
    value, low, high = saturation
    if (value if low is None else low) / full_per_s >= LEAST_BUSY:
        return True
    if high is None:
        return None if low is not None else False
    return False if high / full_per_s < LEAST_BUSY else None
