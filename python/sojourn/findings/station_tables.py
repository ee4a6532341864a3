"""Tables of one station: the estimated column recomputed from lambda and mu, the measured one against Little's law.

Formulas: `sojourn.solve.single.mmm` (Jain 1991, Boxes 31.1 and 31.2). A table that has a probability of queueing is M/M/m;
m, where it is not printed, is the whole number that most cells agree with. Little's
law on measured means of one run: within 5 %, and the rounding of what is printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import gammaln

from sojourn.findings.law_violation import LawViolation, relative, text
from sojourn.findings.printed_numbers import PrintedNumber, PublishedTable
from sojourn.solve.single.mmm import MMm

Values = dict[str, float]
UNITS = {"ms": 1e3, "us": 1e6, "s^2*1e3": 1e3, "ms^2": 1e6}
LITTLE = 0.05
WAITS = "ϱ"


def check(found: Sequence[PublishedTable]) -> Iterator[LawViolation]:
    for sheet in found:
        if sheet.has("variable", "estimated", "measured"):
            yield from _estimated(sheet)
            yield from _measured(sheet)


def station(rate_per_s: float, service_per_s: float, servers: int) -> Values:
    """All that such a table holds, by its letters; times in s, variances in s^2."""
    q = MMm(rate_per_s, 1 / service_per_s, servers)
    offered = rate_per_s / service_per_s
    log_p0 = np.log(q.waits * (1 - q.load)) + gammaln(servers + 1) - servers * np.log(offered)
    values = {
        "ρ": q.load, "p_0": np.exp(log_p0), WAITS: q.waits, "E[n]": q.number, "E[n_q]": q.in_line, "E[r]": q.response_s,
        "Var[r]": q.response_variance, "E[w]": q.waiting_s, "Var[w]": q.waiting_variance, "λ": rate_per_s, "μ": service_per_s,
    }  # fmt: skip
    return {name: float(np.ravel(value)[0]) for name, value in values.items()}


def _cells(sheet: PublishedTable, column: str) -> dict[str, PrintedNumber]:
    cells = {str(row["variable"]): sheet.number(row, column) for row in sheet.rows}
    return {name: cell for name, cell in cells.items() if cell}


def _scales(sheet: PublishedTable) -> dict[str, float]:
    """How many of the table's units are one SI unit."""
    return {str(row["variable"]): UNITS.get(str(row.get("unit") or "").split(" ")[0], 1.0) for row in sheet.rows}


def _servers(cells: dict[str, PrintedNumber], scales: dict[str, float]) -> int:
    """1, or the number that most cells agree with; of equals the one that is nearest to the printed utilisation."""
    if WAITS not in cells or "ρ" not in cells:
        return 1
    offered = cells["λ"].value / cells["μ"].value
    candidates = range(int(offered) + 1, int(4 * offered) + 3)
    return max(candidates, key=lambda m: (_agreeing(cells, scales, m), -abs(m - offered / cells["ρ"].value)))


def _agreeing(cells: dict[str, PrintedNumber], scales: dict[str, float], servers: int) -> int:
    values = station(cells["λ"].value, cells["μ"].value, servers)
    return sum(cell.agrees(values[name] * scales[name]) for name, cell in cells.items() if name in values)


def _estimated(sheet: PublishedTable) -> Iterator[LawViolation]:
    cells, scales = _cells(sheet, "estimated"), _scales(sheet)
    if "λ" not in cells or "μ" not in cells:
        return
    servers = _servers(cells, scales)
    values = station(cells["λ"].value, cells["μ"].value, servers)
    for name, cell in cells.items():
        expected = values.get(name, cell.value / scales[name]) * scales[name]
        if not cell.agrees(expected):
            yield LawViolation(
                f"M/M/{servers}", sheet.label, name, "estimated", cell.text, text(expected),
                relative(cell.value, expected),
                f"it does not follow from λ = {cells['λ'].text} and μ = {cells['μ'].text}",
            )  # fmt: skip


def _measured(sheet: PublishedTable) -> Iterator[LawViolation]:
    cells, scales = _cells(sheet, "measured"), _scales(sheet)
    inside, waiting = cells.get("E[n]"), cells.get("E[n_q]")
    if inside and waiting and inside.bounds[1] < waiting.bounds[0]:
        yield LawViolation(
            "E[n] ≥ E[n_q]", sheet.label, "E[n]", "measured", inside.text, f"at least {waiting.text}", None,
            "impossible: the waiting customers are part of those present",
        )  # fmt: skip
    rate = cells.get("λ") or _cells(sheet, "estimated").get("λ")
    for number, time in (("E[n]", "E[r]"), ("E[n_q]", "E[w]")):
        if rate and number in cells and time in cells:
            yield from _little(sheet, rate.value, cells[number], cells[time], number, time, scales[time])


def _little(
    sheet: PublishedTable, rate: float, number: PrintedNumber, time: PrintedNumber, n: str, t: str, scale: float
) -> Iterator[LawViolation]:
    low, high = (rate * bound / scale for bound in time.bounds)
    if number.bounds[1] < low * (1 - LITTLE) or number.bounds[0] > high * (1 + LITTLE):
        expected = rate * time.value / scale
        yield LawViolation(
            "Little's law", sheet.label, n, "measured", number.text, text(expected), relative(number.value, expected),
            f"λ = {rate:g}/s and {t} = {time.text} of the same table give a different number",
        )  # fmt: skip
