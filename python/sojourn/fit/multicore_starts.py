"""Where a search begins for the unknowns of a multicore station: by the utilisation law where its cores were watched.

D = U/X of each kind of cores (Lazowska et al., Quantitative System Performance (1984), p. 42), the median over the runs.
"""

from __future__ import annotations

import numpy as np

from sojourn.fit.fit_runs import FitRuns
from sojourn.model import Model, Multicore

OF_FASTEST = {
    "interrupt_s": 0.1,
    "client_s": 0.05,
    "handoff_s": 0.1,
    "crossing_s": 0.1,
}  # share of the smallest response
PLAIN = {"interrupt_scv": 1.0, "p": 0.5, "saved": 0.3}


def multicore_start(model: Model, path: str, runs: FitRuns, fastest_s: float) -> float | None:
    """A value for the unknown at `path`; None where it is none of a multicore station, or nothing was watched for it."""
    part, _, rest = path.partition(".")
    name = next((s.name for s in model.stations if isinstance(s, Multicore) and rest.startswith(f"{s.name}.")), None)
    if name is None:
        return None
    key = rest.removeprefix(f"{name}.")
    interrupt_s = _demand(model, runs, f"{name}.interrupts")
    if part == "stations":
        if key == "interrupt_s" and interrupt_s:
            return interrupt_s
        return PLAIN.get(key, OF_FASTEST.get(key, 0.1) * fastest_s)
    if part in ("service_s", "demands_s") and key.count(".") == 0 + key.endswith(".mean"):
        whole = _demand(model, runs, f"{name}.leading")
        behind = _demand(model, runs, f"{name}.trailing") or 0.0
        page_s = whole + behind - (interrupt_s or 0.0) if whole else 0.0
        return page_s if page_s > 0 else None
    return None


def _demand(model: Model, runs: FitRuns, part: str) -> float | None:
    found = [
        busy[part] / run.means["", "throughput"][0]
        for run in runs.runs
        if ("", "throughput") in run.means and part in (busy := run.busy_at(model))
    ]
    return float(np.median(found)) if found else None
