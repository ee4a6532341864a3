"""Whole studies on simulated systems with known times, seed by seed: how often each time lies within its 95 % interval.

Three systems, by what limits them: workers, the net thread, the servers. No load on anything but the cores.
"""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w

from sojourn_cases.common.parameter_recovery import coverage, recovered
from sojourn_cases.kv.kv_template import NETWORK
from sojourn_cases.kv.middleware.simulated_system import KnownTimes

STUDY = Path(__file__).with_suffix(".toml")
SEEDS = 100
SYSTEMS = {
    "workers": KnownTimes(),
    "net thread": KnownTimes(net_s=0.6e-3, held_s=0.6e-3),
    "servers": KnownTimes(held_s=0.4e-3, server_s=1.2e-3),
}


def one(system: str, seed: int) -> list[dict[str, Any]]:
    """The rows of one study."""
    known = SYSTEMS[system]
    truths = {"network": known.network_s, "net thread": known.net_s, "server": known.server_s, "held": known.held_s}
    text = STUDY.read_text().replace(
        "[system]\n", tomli_w.dumps({"system": known.model_dump(exclude={"kind"}, exclude_none=True)})
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "study.toml")
        file.write_text(text)
        return recovered(file, NETWORK, truths, [seed]).with_columns(system=pl.lit(system)).to_dicts()


def measure() -> list[dict[str, Any]]:
    """A row for each system, seed, configuration and time."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        tasks = [pool.map(partial(one, name), range(k * SEEDS, (k + 1) * SEEDS)) for k, name in enumerate(SYSTEMS)]
        return [row for studies in tasks for rows in studies for row in rows]


def summary(rows: list[dict[str, Any]]) -> str:
    """How often each was covered, beside the band in which the count lies when every interval is right."""
    lines = [
        f"{SEEDS} studies a system. Band: 99 % that all counts of a system lie within theirs. Prediction: median error of",
        "throughput where nothing was fitted.", "",
        "| limited by | configuration | time | covered | band | mean error of the estimate | prediction |",
        "|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for system in SYSTEMS:
        own = pl.DataFrame([row for row in rows if row["system"] == system])
        error = own["error"].median()
        lines += [
            f"| {system} | {r['configuration']} | {r['time']} | {r['covered']} of {r['studies']} | "
            f"{r['low']} to {r['high']} | {100 * r['bias']:+.2f} % | {100 * error:.1f} % |"  # type: ignore[operator]
            for r in coverage(own).to_dicts()
        ]
    return "\n".join(lines) + "\n"
