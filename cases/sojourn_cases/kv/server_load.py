"""How evenly the servers are loaded, and how many requests a multi-get makes: what each server gets for a request of a client."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from sojourn.report import Figure, Series
from sojourn.runs import RunFolder
from sojourn_cases.kv.client_and_middleware import WAY

KIND = "multi-"  # of workloads; what follows is the number of keys


def server_figures(runs: Sequence[RunFolder]) -> Iterator[Figure]:
    """For each design, of gets with the fewest and with the most keys: a bar for each server, whole and split. Of the valid runs with two
    servers or more, means with the smallest and the largest run."""
    groups: dict[tuple[str, int], list[RunFolder]] = {}
    for run in runs:
        factors = run.manifest["factors"]
        if run.manifest["valid"] and str(factors["workload"]).startswith(KIND) and int(factors["servers"]) > 1:
            number = int(str(factors["workload"]).removeprefix(KIND))
            groups.setdefault((str(factors["design"]), number), []).append(run)
    for design in sorted({design for design, _ in groups}):
        keys = sorted(number for other, number in groups if other == design)
        for number in dict.fromkeys((keys[0], keys[-1])):
            figure = _figure(design, number, groups[design, number])
            if figure is not None:
                yield figure


def _figure(design: str, keys: int, runs: Sequence[RunFolder]) -> Figure | None:
    series = []
    for split, way in WAY.items():
        each = [load for run in runs if bool(run.manifest["factors"]["sharded"]) == split and (load := _loads(run))]
        most = max((len(one) for one in each), default=0)
        alike = [one for one in each if len(one) == most]
        if alike:
            columns = list(zip(*alike, strict=True))
            mean, low, high = ([pick(column) for column in columns] for pick in (fmean, min, max))
            several = len(alike) > 1
            series.append(
                Series(way, range(1, most + 1), mean, low if several else None, high if several else None, "bars")
            )
    if not series:
        return None
    title = f"{design}, gets of {keys} key{'s' * (keys != 1)}: requests to each server"
    note = "Requests that the middlewares sent to a server, for each request of a client; of whole runs."
    names = tuple(str(k) for k in range(1, max(len(one.x) for one in series) + 1))
    return Figure(title, title, "server", "requests for each request of a client", tuple(series), note, x_names=names)


def _loads(run: RunFolder) -> list[float]:
    """Requests to each server over those that were answered; none where the middlewares did not say."""
    ends: list[dict[str, Any]] = [
        end for end in (run.manifest.get("service") or {}).get("middlewares") or [] if end and end.get("servers")
    ]
    answered = sum(end.get("completions", 0) for end in ends)
    if not answered:
        return []
    counts = np.sum([[server["requests"] for server in end["servers"]] for end in ends], axis=0)
    return [float(count) / answered for count in counts]
