"""The models of the memcached middleware as a template of `[fit]`: all configurations together, so that it predicts new ones.

The best is the network of cores (as placed, or shared where processes keep to none) whose CPU times are sums of parts; its rival is
plain interpolation of the same runs. Where processes keep to no cores a closed network of queues with constant times is a third, of
configurations that have two client counts and of no other. Which is the best is said by what it knows, not by its errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.errors import FitError, InputError, StudyError
from sojourn.files import read_toml
from sojourn.runs import RunFolder
from sojourn.study import FittedProtocol, FitTemplate, RivalModels
from sojourn_cases.kv.all_configurations_fit import by_design, fit_cores, fit_plain
from sojourn_cases.kv.constant_times_network import NETWORK, FittedQueueNetwork, fit_network, read_network
from sojourn_cases.kv.fitted_models import PLACED, PLAIN, SHARED, read_whole
from sojourn_cases.kv.middleware import frame
from sojourn_cases.kv.middleware.run_table import work_of

LEAST = 2  # client counts of a design
WHY = {
    PLACED: "taken for the best because it knows which processes share a core, and what an operation asks of each",
    SHARED: "taken for the best because it knows that threads share the cores, and what an operation asks of each",
}


class KvTemplate(FitTemplate):
    """`[fit] model = "kv"`; it has no options."""

    def fit(self, runs: list[RunFolder], seed: int, options: Mapping[str, Any]) -> RivalModels:
        """
        Raises:
            FitError: no design has two client counts.
        """
        if options:
            raise StudyError(f"fit.options: {next(iter(options))}", "[fit]", "leave it out: this template has none")
        rows = frame(runs).filter("valid")
        cores = tuple(next((run.manifest["kv"]["cores"] for run in runs if "cores" in run.manifest["kv"]), (0,)))
        enough = [own for own in by_design(rows) if own["clients"].n_unique() >= LEAST]
        if not enough:
            remedy = "give a section two clients at least that are not held out"
            raise FitError("no design with two client counts", "kv", remedy)
        rows = pl.concat(enough)
        placed = bool(rows["pinned"].all())
        best = PLACED if placed else SHARED
        fitted: dict[str, FittedProtocol] = {best: fit_cores(rows, cores, placed, seed), PLAIN: fit_plain(rows)}
        network = None if placed else fit_network(rows)
        return RivalModels(fitted | ({NETWORK: network} if network is not None else {}), best, WHY[best])

    def conditions(self, folder: RunFolder) -> Mapping[str, float]:
        """How fast the cores were."""
        return work_of(folder)

    def read(self, path: Path) -> FittedProtocol:
        """
        Raises:
            InputError: it is none.
        """
        try:
            table = read_toml(path, "give a fitted model")[0]["fit"]
            return read_network(table) if table["model"] == NETWORK else read_whole(table)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"not a fitted model ({error})", path, "fit again; the file was changed by hand?"
            ) from None


TEMPLATE = KvTemplate()

__all__ = ["NETWORK", "PLACED", "PLAIN", "SHARED", "TEMPLATE", "FittedQueueNetwork", "KvTemplate"]
