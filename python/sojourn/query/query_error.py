"""What is wrong with a query, with the line of its text and a caret."""

from __future__ import annotations

from sojourn.errors import QueryError
from sojourn.query.node import Span

WIDTH = 100  # characters of a line that an error shows


def query_error(text: str, span: Span | None, value: str, remedy: str, name: str = "query") -> QueryError:
    """The error at `span` of `text`; `name` is the file, or `query`."""
    if span is None:
        return QueryError(value, name, remedy)
    line = (text.split("\n") or [""])[span.line - 1] if span.line <= text.count("\n") + 1 else ""
    first = max(0, min(span.column - 1 - WIDTH // 2, len(line) - WIDTH))
    cut = line[first : first + WIDTH]
    before = "".join(c if c == "\t" else " " for c in cut[: span.column - 1 - first])
    length = max(1, min(span.end - span.start, len(cut) - len(before)))
    shown = f"\n    {cut}\n    {before}{'^' * length}"
    return QueryError(value, f"{name}:{span.line}:{span.column}", remedy, shown)
