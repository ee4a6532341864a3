"""Phrases that readers had to read twice (docs/reference/words.md) do not come back, neither in docs nor in what the program prints."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reference/words.md"
LEAST_PHRASES = 25


def phrases() -> list[str]:
    table = PAGE.read_text().split("## Phrases that were replaced")[1]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][1:]
    return [phrase for row in rows for phrase in re.split(r", (?=\w+ \w)", row[0])]


def pages() -> Iterator[tuple[str, str]]:
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        if path != PAGE and path.parent.name != "decisions" and path.name != "python.md":
            recorded = re.compile(r"```text\n.*?```", re.DOTALL)  # output of a day
            yield str(path.relative_to(ROOT)), recorded.sub("", path.read_text())


def printed() -> Iterator[tuple[str, str]]:
    """Texts of the program that are no docstrings, those of an f-string with its values left out."""
    for folder in ("python/sojourn", "cases/sojourn_cases"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(path.read_text())
            docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            texts = (
                n
                for n in ast.walk(tree)
                if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in docs
            )
            yield str(path.relative_to(ROOT)), "\n".join(str(text.value) for text in texts)


def found(text: str, phrase: str) -> bool:
    words = "[ \n]+".join(map(re.escape, phrase.split()))
    return re.search(rf"(?<![\w-]){words}(?![\w-])", text, re.IGNORECASE) is not None


@pytest.mark.parametrize("texts", [pages, printed])
def test_no_replaced_phrase_comes_back(texts: object) -> None:
    replaced = phrases()
    assert len(replaced) > LEAST_PHRASES
    every = list((pages if texts is pages else printed)())
    assert len(every) > 50
    back = [f"{place}: {phrase!r}" for place, text in every for phrase in replaced if found(text, phrase)]
    assert back == [], "say it as docs/reference/words.md does"


def test_a_phrase_is_seen_over_the_end_of_a_line_and_within_no_other_word() -> None:
    assert found("these runs cannot tell\n  apart", "tell apart") and not found("retell apart", "tell apart")
