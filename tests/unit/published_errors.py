"""The relative errors of Chen et al. 2014, Table 3, as they were published."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sojourn.table import Metrics
from sojourn_cases.web.chen_table3 import QUANTITIES

PUBLISHED = Path(__file__).parents[1] / "published" / "data" / "chen_table3_relative_errors.csv"
COLUMNS = {
    "response_time": "response_time_relative_error_pct",
    "throughput": "throughput_relative_error_pct",
    "utilisation_leading": "util_core_0_to_m_minus_1_relative_error_pct",
    "utilisation_trailing": "util_core_m_to_n_minus_1_relative_error_pct",
}


def published() -> tuple[Metrics, Metrics, dict]:
    """Two tables whose errors are the published cells, and the published overall column."""
    *cells, overall = pl.read_csv(PUBLISHED).to_dicts()
    real, said = [], []
    for cell in cells:
        for quantity, (station, metric) in QUANTITIES.items():
            if cell[COLUMNS[quantity]] is None:
                continue
            at = {"cores": int(cell["cores"]), "nics": int(cell["nics"]), "rate_per_s": 100.0}
            row = {"station": station, "metric": metric, **at}
            real.append({**row, "value": 0.5, "source": "measured"})
            said.append({**row, "value": 0.5 * (1 + cell[COLUMNS[quantity]] / 100)})
    return Metrics.of(real), Metrics.of(said), overall
