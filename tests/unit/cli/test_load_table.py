"""The table of `sojourn load` in a terminal of 80 columns: one line a row, and the reason of an invalid run once (issue 30)."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

from sojourn.cli.load_table import show
from sojourn.terminal import SafeConsole

TIMES = {f"{name}_s": 0.1234 for name in ("mean", "p50", "p90", "p99", "p999", "max")}
LATENCY = {"from_intended": {"to_done": TIMES}, "from_sent": {"to_done": TIMES, "to_received": TIMES}}
REASON = "the generator was the bottleneck: it sent 4.4 ms late on average"
SUMMARY: dict[str, Any] = {
    "ok": 5, "requested": 5, "achieved_per_s": 5.0, "seed": 1, "sampled": False, "failed": 0, "failures": {}, "latency": LATENCY,
    "lateness": TIMES, "valid": False, "reasons": [REASON], "status": "complete",
}  # fmt: skip


def lines(terminal: bool) -> list[str]:
    out = SafeConsole(file=io.StringIO(), force_terminal=terminal, width=80, no_color=True, highlight=False)
    show(SUMMARY, out)
    return re.sub(r"\x1b\[[0-9;]*m", "", out.file.getvalue()).splitlines()  # type: ignore[attr-defined]


def test_each_time_is_one_line() -> None:
    table = lines(terminal=True)[1:6]
    assert [line.split()[0] for line in table] == ["mean", "intended", "sent", "sent", "late"]
    assert all(line.count("123 ms") == 6 and len(line.rstrip()) <= 80 for line in table[1:])


@pytest.mark.parametrize(("terminal", "end"), [(True, "NOT VALID"), (False, f"NOT VALID: {REASON}")])
def test_the_reason_is_said_once(terminal: bool, end: str) -> None:
    """The command's error has it, too, just below in a terminal; standard output alone would lack it."""
    assert lines(terminal)[-1].rstrip() == end
