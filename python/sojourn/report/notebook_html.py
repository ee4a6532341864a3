"""A report as a cell of a notebook: its verdict, its numbers, its first figure, its first table. No script, and nothing from elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape

from sojourn.errors import InputError, ReportError
from sojourn.report import cell_text, markup
from sojourn.report.document import Document, Figure, Table
from sojourn.report.figure_files import render_svg
from sojourn.report.result_figures import SweepResult, sweep
from sojourn.terminal import shown

MOST_ROWS = 30


def notebook_html(document: Document) -> str:
    """Everything that comes from a run or a model is escaped; the figure is an image, so that nothing in it can act."""
    first, *rest = [_plain(line) for line in document.verdict] or [""]
    numbers = [f"{value}: {what}" for value, what in document.numbers]
    lines = [f"<div><b>{escape(shown(document.title))}</b></div>", f"<div>{escape(first)}</div>"]
    lines += [f"<div>{escape(shown(line))}</div>" for line in [*numbers, *rest] if line]
    blocks = [block for section in document.sections for block in section.blocks]
    figure = next((block for block in blocks if isinstance(block, Figure)), None)
    table = next((block for block in blocks if isinstance(block, Table)), None)
    return "".join([*lines, figure_html(figure) if figure else "", _table(table) if table else ""])


def figure_html(figure: Figure) -> str:
    """A figure as an image of its SVG, with its title for a screen reader."""
    image = base64.b64encode(render_svg(figure).encode()).decode()
    return f'<img alt="{escape(shown(figure.title))}" src="data:image/svg+xml;base64,{image}"/>'


def sweep_html(result: SweepResult) -> str:
    """The response times of a sweep as a figure; nothing where nothing varies, or no number does."""
    try:
        return figure_html(sweep(result))
    except (InputError, ReportError):
        return ""


def _plain(line: str) -> str:
    return shown("".join(span.text for span in markup.spans(line)))


def _table(table: Table) -> str:
    sides = ["right" if number else "left" for number in cell_text.numeric_columns(table)]
    rows = cell_text.text_rows(table)
    more = f"<div>… {len(rows) - MOST_ROWS} more rows in the report</div>" if len(rows) > MOST_ROWS else ""
    parts = [_row("th", table.columns, sides), *(_row("td", map(_plain, row), sides) for row in rows[:MOST_ROWS])]
    return f"<table>{''.join(parts)}</table>{more}"


def _row(tag: str, cells: Iterable[str], sides: list[str]) -> str:
    told = (
        f'<{tag} style="text-align: {side}">{escape(shown(cell))}</{tag}>'
        for cell, side in zip(cells, sides, strict=True)
    )
    return f"<tr>{''.join(told)}</tr>"
