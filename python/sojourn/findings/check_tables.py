"""All checks over a set of tables. Each looks for tables of its own kind by their columns; no check knows a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from sojourn.findings import factorial_tables, network_tables, station_tables, throughput_claims
from sojourn.findings.law_violation import LawViolation
from sojourn.findings.printed_numbers import PublishedTable, sheets

CHECKS = (factorial_tables.check, station_tables.check, network_tables.check, throughput_claims.check)


def findings(tables: Mapping[str, pl.DataFrame]) -> list[LawViolation]:
    """Every law that a table of the set breaks beyond the rounding of what is printed.

    `tables`: name → cells, as text where their last digit is to be trusted (see `read_tables`). Kinds, by columns:
    y1_…, y2_… with signs of factors (a 2^k r experiment; a throughput and a response time with one name are a pair);
    `parameter` with …_mean_estimate_… and …_variation_pct (its analysis: of the pair before it); `variable`,
    `estimated`, `measured` (M/M/1, or M/M/m where there is a probability of queueing); `device`, `queue_type`, …_U (a
    network of queues); `clients`, `derived_ops_per_s`, `measured_ops_per_s` (checks by the interactive law); lengths
    and times of queues beside throughputs. Other tables are passed over.
    """
    return list(_all(sheets(tables)))


def _all(found: list[PublishedTable]) -> Iterator[LawViolation]:
    for check in CHECKS:
        yield from check(found)
