"""docs/explain/documents/parts.md counts its own rows rightly, and each row has a state."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/explain/documents/parts.md"


def test_the_count_is_that_of_the_rows() -> None:
    text = PAGE.read_text()
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| ") and "| state |" not in line]
    states = Counter(row[3].partition(":")[0].strip() for row in rows)
    said = re.search(r"Of (\d+) parts, (\d+) work, (\d+) differ, and (\d+) are missing", text)
    assert said is not None
    assert [int(number) for number in said.groups()] == [
        len(rows),
        *(states[s] for s in ("works", "differs", "missing")),
    ]
    assert len(rows) == sum(states[s] for s in ("works", "differs", "missing")), states
    assert f"a table of {len(rows)} parts" in (PAGE.parent / "index.md").read_text()
    for row in rows:
        assert len(row) == 4 and row[0].strip() and row[1].strip(), row
        assert row[3].strip() == "works" or ": " in row[3], f"{row[0]}: why does it differ, or miss?"
