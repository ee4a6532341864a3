"""The speed of the cores that each component runs on, in the CPU times of a design (`fit.speed_adjustment`).

One exponent for all components: what slows a core down slows all that runs there. It is fitted on the CPU times, which are measured
by process; throughputs are not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from sojourn.fit import CoreSpeed, speed_adjustment
from sojourn_cases.kv.models.operation_work import CLIENT, NET, SERVER, WORKERS

COLUMN = {CLIENT: "client_work_s", SERVER: "server_work_s", NET: "proxy_work_s", WORKERS: "proxy_work_s"}


@dataclass(frozen=True)
class ComponentSpeeds:
    """`usual_s`: of the piece of work on the cores of each component, by column; `exponent`: see `fit.speed_adjustment`."""

    usual_s: Mapping[str, float] = field(default_factory=dict)
    exponent: float = speed_adjustment.ALIKE

    def slower(self, component: str, rows: pl.DataFrame) -> np.ndarray:
        """By which factor its CPU times are longer, a value a row; 1 where the speed of its cores is not known."""
        column = COLUMN[component]
        if column not in self.usual_s or column not in rows.columns:
            return np.ones(rows.height)
        return CoreSpeed(self.usual_s[column], self.exponent).slower(column_of(rows, column))

    def logs(self, component: str, rows: pl.DataFrame) -> np.ndarray:
        """ln of the piece of work over the usual one; 0 where it is not known."""
        return np.log(ComponentSpeeds(self.usual_s).slower(component, rows))


def column_of(rows: pl.DataFrame, column: str) -> np.ndarray:
    """NaN where there is nothing."""
    return rows[column].cast(pl.Float64).fill_null(np.nan).to_numpy()


def usual_speeds(rows: pl.DataFrame) -> ComponentSpeeds:
    """The medians of these runs; the exponent is not fitted yet."""
    found = {
        name: speed_adjustment.usual(column_of(rows, name))
        for name in dict.fromkeys(COLUMN.values())
        if name in rows.columns
    }
    return ComponentSpeeds({name: value for name, value in found.items() if value is not None})


def fitted_speeds(rows: pl.DataFrame, off: Mapping[str, np.ndarray], speeds: ComponentSpeeds) -> ComponentSpeeds:
    """With the exponent of these: `off`, by component ln(measured over predicted CPU time at the usual speed), a value a row."""
    logs = np.concatenate([speeds.logs(name, rows) for name in off])
    groups = np.repeat(np.arange(len(off)), rows.height)
    return ComponentSpeeds(speeds.usual_s, speed_adjustment.exponent(logs, np.concatenate(list(off.values())), groups))
