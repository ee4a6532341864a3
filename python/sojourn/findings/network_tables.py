"""Tables of networks of queues: the "utilisation" of a delay centre is its mean population, and it never saturates.

Law: U = X S is the number busy, of one server at most 1; a centre with a server for everybody (M/M/inf) has no limit
(Lazowska et al., Quantitative System Performance, 1984, section 5.2). The bottleneck is the queue with the largest
utilisation of a server; it limits the throughput where that is near 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sojourn.findings.law_violation import LawViolation
from sojourn.findings.printed_numbers import PublishedTable

DELAY = ("M/M/inf", "M/G/inf", "M/M/∞", "delay")
SATURATED = 0.9


def check(found: Sequence[PublishedTable]) -> Iterator[LawViolation]:
    for sheet in found:
        if sheet.has("device", "queue_type"):
            for column in (c for c in sheet.columns if c == "U" or c.endswith("_U")):
                yield from _bottleneck(sheet, column)


def _bottleneck(sheet: PublishedTable, column: str) -> Iterator[LawViolation]:
    rows = [(row, cell.value) for row in sheet.rows if (cell := sheet.number(row, column))]
    queues = [(row, value) for row, value in rows if not _delay(row)]
    if not rows or not queues:
        return
    (top, largest), (queue, busiest) = (max(them, key=lambda pair: pair[1]) for them in (rows, queues))
    for row, value in queues:
        if value > 1 + 1e-9:
            yield LawViolation(
                "utilisation ≤ 1", sheet.label, row["device"], column, f"{value:g}", "at most 1", None,
                "one server cannot be busy more than 100 % of the time",
            )  # fmt: skip
    if not _delay(top):
        return
    expected = f"{queue['device']} (U = {busiest:.2f})"
    if busiest < SATURATED:
        expected = f"no queue is saturated: the busiest is {expected}"
    yield LawViolation(
        "a delay centre cannot be a bottleneck", sheet.label, top["device"], column, f"largest U = {largest:.5g}", expected, None,
        "customers never wait for each other there; U is the mean number in it, not a utilisation",
    )  # fmt: skip


def _delay(row: dict[str, Any]) -> bool:
    return str(row["queue_type"]).strip() in DELAY
