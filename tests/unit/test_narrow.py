"""Tables in narrow terminals: every digit is there."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from sojourn.narrow_tables import WidthAwareTable


def printed(table: Table, width: int) -> str:
    console = Console(width=width, no_color=True)
    with console.capture() as capture:
        console.print(WidthAwareTable(table))
    return capture.get()


def sample() -> Table:
    table = Table("run", "response time", "", "valid", box=None)
    table.add_row("rate-50", "3.041 ms (2.982 ms … 3.113 ms)", "", "no: " + "not stationary, " * 4)
    return table


def test_a_table_that_fits_is_a_table() -> None:
    lines = printed(sample(), 120).splitlines()
    assert "run" in lines[0] and "response time" in lines[0]
    assert "3.041 ms (2.982 ms … 3.113 ms)" in lines[1]


def test_a_narrow_terminal_gets_lines_with_all_digits() -> None:
    lines = printed(sample(), 40).splitlines()
    assert lines[0] == "run: rate-50"
    text = " ".join(" ".join(lines).split())
    assert "response time: 3.041 ms (2.982 ms … 3.113 ms)" in text
    assert "valid: no: not stationary" in text and "…," not in text
