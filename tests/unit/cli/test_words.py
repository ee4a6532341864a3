"""One word for one thing (docs/reference/words.md) in options, published JSON keys, and parameters of `sojourn`."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from test_json_forms import published
from test_one_word import options

import sojourn as sj

PAGE = Path(__file__).resolve().parents[3] / "docs/reference/words.md"
LEAST_WORDS = 30


def rows() -> list[list[str]]:
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ") and "`" in line]
    return [line.strip("| ").split(" | ") for line in lines]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def forbidden() -> set[str]:
    return {word for row in rows() for word in quoted(row[3])}


def found(names: set[str], words: set[str]) -> list[str]:
    """Names of which a part, or the whole, is one of the words."""
    return sorted(name for name in names if ({name} | set(re.split(r"[-_.]+", name.lower()))) & words)


def keys(value: object) -> set[str]:
    if isinstance(value, dict):
        return {*value, *(name for one in value.values() for name in keys(one))}
    return {name for one in value for name in keys(one)} if isinstance(value, list) else set()


def of_options() -> set[str]:
    return {text.lstrip("-") for _, one in options() for text in (*one.opts, *one.secondary_opts)}


def of_functions() -> set[str]:
    """Parameters of functions and of functions that are packages, too; classes have names of their field's books."""
    public = [getattr(sj, name) for name in sj.__all__]
    return {
        name
        for one in public
        if callable(one) and not inspect.isclass(one)
        for name in inspect.signature(one).parameters
    }


def of_json() -> set[str]:
    """Without the summaries of `load` and `serve`, which have names of the generators' own files (words.md says so)."""
    return {
        name for form, one in published().items() if not re.match(r"sojourn\.(load|serve)", form) for name in keys(one)
    }


WALKS = {"options": of_options, "parameters": of_functions, "json": of_json}


@pytest.mark.parametrize("where", WALKS)
def test_no_other_word_is_used(where: str) -> None:
    names = WALKS[where]()
    assert len(names) > LEAST_WORDS and len(forbidden()) > LEAST_WORDS
    assert found(names, forbidden()) == [], "say it as docs/reference/words.md does"


def test_the_options_of_the_page_are_there() -> None:
    told = {option.lstrip("-") for row in rows() for option in quoted(row[1])}
    assert len(told) > 10 and told <= of_options()


def test_a_forbidden_word_is_seen_within_a_name() -> None:
    assert found({"max_latency_s", "rate_per_s", "late", "confidence-level"}, {"latency", "confidence"}) == [
        "confidence-level",
        "max_latency_s",
    ]
