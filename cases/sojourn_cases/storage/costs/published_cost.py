"""Equation 1 of the storage post of the fifth source document: CPU of two protocols as its three published coefficients have it.

CPU (% of one core) = scale · iops · (1 + a_read read + a_protocol protocol), read in per cent, protocol -1 (the cheaper) or +1: the
document does not say what they are coded as; its coefficients follow from the linked analysis only so (errata, section 5). Hence its 81
and 41 us and 1.96 times are those of pure writes; at reads alone it gives 68.9 and 29.5 us, 2.34 times.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from sojourn.design import read_runs
from sojourn.errors import DesignError
from sojourn_cases.storage.costs.cost_per_io import CpuCostPerIo

TERMS = ("scale", "read", "protocol")
CODES = re.compile(r"(\w+)=([+-]1)\b")


def is_published(path: Path | str) -> bool:
    """Whether the file is a table of coefficients (columns term, value)."""
    return {"term", "value"} <= set(read_runs(path).columns)


def published_cost(path: Path | str, read: float = 0.0) -> list[CpuCostPerIo]:
    """Of each protocol that the table's `unit` column codes, cheaper first, at a share `read` in [0, 1]; no intervals: it prints none.

    Raises:
        DesignError: a term is missing, no codes, a share out of range.
    """
    if not 0 <= read <= 1:
        raise DesignError(read, "read", "give a share from 0 to 1")
    rows = {str(row["term"]): row for row in read_runs(path).cast(pl.String).iter_rows(named=True)}
    if missing := [term for term in TERMS if term not in rows]:
        raise DesignError(f"no term {missing[0]}", path, f"give the terms {', '.join(TERMS)}")
    scale, a_read, a_protocol = (_number(rows[term], path) for term in TERMS)
    codes = CODES.findall(rows["protocol"].get("unit") or "")
    if not codes:
        raise DesignError(
            "protocol is not coded", path, "write the levels of -1 and +1 into its unit, as in `fc=-1 nfs=+1`"
        )
    return [
        CpuCostPerIo(name, scale / 100 * (1 + a_read * 100 * read + a_protocol * int(sign)), None, None)
        for name, sign in sorted(codes, key=lambda code: int(code[1]) * a_protocol)
    ]


def _number(row: Mapping[str, str], path: Path | str) -> float:
    try:
        return float(row["value"])
    except ValueError:
        raise DesignError(repr(row["value"]), f"{path}, term {row['term']}", "give a number") from None
