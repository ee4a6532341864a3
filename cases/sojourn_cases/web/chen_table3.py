"""The errors of a validation in the layout of Chen et al., Table 3: quantities down, configurations across, overall
last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sojourn.errors import InputError
from sojourn.validate import Validation

LABELS = {
    "response_time": "Response Time",
    "throughput": "Throughput",
    "utilisation_leading": "Util. Core 0 to m-1",
    "utilisation_trailing": "Util. Core m to n-1",
}
KINDS = {"absolute": "mean_abs", "signed": "mean_signed", "median": "median_abs"}


def configurations(validation: Validation) -> list[tuple[int, int]]:
    """(nics, cores) in the order of the columns."""
    return sorted({(line["nics"], line["cores"]) for line in validation.summary if line["cores"] is not None})


def table3(validation: Validation, kind: str = "absolute") -> list[dict[str, Any]]:
    """One dict per quantity that was compared: "quantity", then "NICs/cores" columns such as "1/2", then "overall".

    Cells are relative errors (0.159 is 15.9 %): mean of |error|, the signed mean, or the median of |error|; None
    where a configuration has no such cores. InputError for another `kind`.
    """
    if kind not in KINDS:
        raise InputError(repr(kind), "kind", f"use one of {', '.join(KINDS)}")
    found = []
    for quantity, label in LABELS.items():
        lines = {(s["nics"], s["cores"]): s[KINDS[kind]] for s in validation.summary if s["quantity"] == quantity}
        if lines:
            cells = {f"{nics}/{cores}": lines.get((nics, cores)) for nics, cores in configurations(validation)}
            found.append({"quantity": label, **cells, "overall": lines[None, None]})
    return found


def table3_text(validation: Validation, kind: str = "absolute") -> str:
    """The same as aligned text in percent, with Chen et al.'s two head lines."""
    return "\n".join(lines_of(table3(validation, kind), ("overall",), kind))


def lines_of(rows: Sequence[Mapping[str, Any]], ends: Sequence[str], kind: str = "absolute") -> list[str]:
    """Rows of such a table as aligned lines; `ends`: columns after those of configurations."""
    columns = [name for name in rows[0] if name not in ("quantity", *ends)] if rows else []
    sizes = [name.split("/") for name in columns]
    heads = [f"{nics} NIC{'s' * (nics != '1')}" for nics, _ in sizes]
    heads = ["" if k and heads[k - 1] == head else head for k, head in enumerate(heads)]
    body = [[row["quantity"], *(_cell(row[name], kind) for name in [*columns, *ends])] for row in rows]
    cores = ["Num. of Cores", *(count for _, count in sizes), *[""] * len(ends)]
    lines = [["", *heads, *(end.capitalize() for end in ends)], cores, *body]
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    return [
        "  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))]).rstrip()
        for line in lines
    ]


def _cell(value: float | None, kind: str) -> str:
    if value == float("inf"):
        return "∞"
    return "-" if value is None else f"{100 * value:{'+' if kind == 'signed' else ''}.1f}"
