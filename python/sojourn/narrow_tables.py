"""Tables in a terminal that is narrower than they are: row by row instead, so that no digit is cut off."""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

PROSE = 30  # characters; a wider column is prose, which may be wrapped


class WidthAwareTable:
    """A table as it is where it fits; elsewhere each row as lines `head: cell`, empty cells left out."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if needed(self.table, console) <= options.max_width:
            yield self.table
            return
        heads = [_text(console, column.header) for column in self.table.columns]
        for row in zip(*(column.cells for column in self.table.columns), strict=True):
            first, *rest = ((head, _text(console, cell)) for head, cell in zip(heads, row, strict=True))
            yield Text(": ".join(part.plain for part in first if part.plain), style="bold")
            for head, cell in rest:
                if cell.plain:
                    yield Text.assemble("  ", *((head, ": ") if head.plain else ()), cell)


def needed(table: Table, console: Console) -> int:
    """Columns of the terminal that the table needs: numbers whole, prose at least PROSE wide."""
    count = len(table.columns)
    between = (table.padding[1] + table.padding[3]) * count + (count + 1) * (table.box is not None)
    widths = (max(_text(console, cell).cell_len for cell in (column.header, *column.cells)) for column in table.columns)
    return between + sum(min(width, PROSE) for width in widths)


def _text(console: Console, cell: object) -> Text:
    return cell if isinstance(cell, Text) else console.render_str(str(cell))
