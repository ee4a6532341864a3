"""Small parts of a Markdown page."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([cell(c) for c in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def cell(text: str) -> str:
    """Text in one cell of a table."""
    return plain(" ".join(text.split())).replace("|", "\\|")


def plain(text: str) -> str:
    """Text in which nothing reads as HTML, or as a link that is none; what stands in backquotes stays."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else p.replace("<", "&lt;").replace("*", "\\*") for p in parts)


def prose(docstring: str | None) -> str:
    """A docstring as paragraphs; lines that are indented, lists of errors and tables, stay as they stand."""
    parts = []
    for block in inspect.cleandoc(docstring or "").split("\n\n"):
        lines = block.splitlines()
        if any(line.startswith("    ") for line in lines[1:]) or block.startswith("    "):
            parts.append("```text\n" + block + "\n```")
        else:
            parts.append(plain(block))
    return "\n\n".join(parts)
