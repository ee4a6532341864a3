"""A first model of what was observed: one processor-sharing station for each resource, every demand unknown, for `sojourn fit --model`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sojourn.model import Closed, Exponential, Model, Open, Queue, Unknown
from sojourn.observe.observed_windows import ObservedWindow

START, MOST = 0.01, 0.9  # background work, of the servers: where its search begins, and its bound


def first_model(
    windows: Sequence[ObservedWindow], users: Mapping[str, int], capacity: Mapping[str, float]
) -> Model | None:
    """Classes are as the load is (`users`: those that wait for their answers), stations are the resources that all windows have; None where
    there is none. `capacity`: resource → servers."""
    names = list(windows[0].classes)
    resources = [name for name in windows[0].busy if all(name in one.busy for one in windows)]
    if not resources:
        return None
    classes, factors = classes_of(windows, users)
    return Model(
        [watched_queue(name, max(round(capacity.get(name, 1.0)), 1)) for name in resources],
        classes,
        demands_s={name: {cls: Exponential(Unknown()) for cls in names} for name in resources},
        observed={name: name for name in resources},
        factors=factors,
        name="observed",
    )


def classes_of(
    windows: Sequence[ObservedWindow], users: Mapping[str, int]
) -> tuple[list[Open | Closed], dict[str, str | tuple[str, ...]]]:
    """The classes of a model of these windows, at their mean load, and its `[factors]`: which factor of a run is which of their numbers."""
    names = list(windows[0].classes)
    several = len(names) > 1
    classes: list[Open | Closed] = []
    factors: dict[str, str | tuple[str, ...]] = {}
    for name in names:
        rate = float(np.mean([one.classes[name].rate_per_s for one in windows]))
        thinks = [one.classes[name].think_s for one in windows]
        if name in users:
            classes.append(Closed(name, users[name], float(np.mean([t for t in thinks if t is not None] or [0.0]))))
            own = {f"users_{name}": "population", f"think_{name}_s": "think_s"}
        else:
            classes.append(Open(name, max(rate, 1e-9)))
            own = {f"rate_{name}_per_s": "rate_per_s"}
        factors |= {factor: f"classes.{name}.{field}" for factor, field in own.items()} if several else {}
    if several:
        factors |= dict.fromkeys(("rate_per_s", "users", "think_s"), ())
    return classes, factors


def watched_queue(name: str, servers: int) -> Queue:
    """With background work: nobody has seen a machine without any, and without it its CPU time would be taken for that of requests."""
    return Queue(name, servers, "ps", background=Unknown(START * servers, 0.0, MOST * servers))
