"""Rows of `system.kv.frame` made up by hand."""

from __future__ import annotations

from typing import Any

import polars as pl

from sojourn_cases.kv.middleware.run_table import SCHEMA

USUAL = {
    "run": "r", "section": "s", "design": "staged", "servers": 1, "proxies": 1, "workers": 8, "workload": "get",
    "sharded": False, "value_bytes": 1024, "client_hosts": 1, "clients": 16, "repetition": 1,
    "valid": True, "disturbed": False, "misses": 0, "errors": 0,
}  # fmt: skip


def row(throughput_per_s: float, clients: int = 16, **more: Any) -> dict[str, Any]:
    """One run; the response time is that of the interactive law."""
    given = {"throughput_per_s": throughput_per_s, "response_s": clients / throughput_per_s, "clients": clients}
    return {**USUAL, **given, **more}


def rows_of(*given: dict[str, Any]) -> pl.DataFrame:
    """As a table with all columns."""
    return pl.DataFrame(list(given), schema=SCHEMA)
