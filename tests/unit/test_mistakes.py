"""What a file's writer is told: the line of a key, the name that was meant, plain words for what pydantic finds."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sojourn.file_errors import line_of, meant, mistake

TEXT = """name = "x"
[load]
for = "2s"
[[section]]
name = "a"
vary = { rate_per_s = [1] }
[section.quick]
repetitions = 1
[[section]]
name = "b"
set = { workers = 2 }
[fit]
sections = ["b"]
"""


@pytest.mark.parametrize(
    ("key", "line"),
    [
        (["load", "for"], 3),
        (["load", "fro"], 2),
        (["nothing"], None),
        (["section", 0, "vary", "rate_per_s"], 6),
        (["section", 0, "quick", "repetitions"], 8),
        (["section", 1, "set", "workers"], 11),
        (["section", 1, "follow"], 9),
        (["section", 2], None),
        (["fit", "sections"], 13),
    ],
)
def test_the_line_of_a_key_or_of_the_table_around_it(key: list[str | int], line: int | None) -> None:
    assert line_of(TEXT, key) == line


def test_the_nearest_name_and_all_there_are() -> None:
    assert meant("wokers", ["workers", "rate"]) == "did you mean workers? (use one of workers, rate)"
    assert meant("q", ["workers", "rate"]) == "use one of workers, rate"
    assert "leave it out" in meant("q", [])


class InnerTable(BaseModel):
    model_config = ConfigDict(extra="forbid")

    size: int = Field(default=1, ge=1)
    word: str = Field(default="a", pattern="^(a|b)$")
    kind: Literal["x", "y"] = "x"


class OuterTable(BaseModel):
    model_config = ConfigDict(extra="forbid")

    duration_s: float = Field(alias="for")
    inner: InnerTable = Field(default_factory=InnerTable)
    many: list[InnerTable] = Field(default_factory=list)
    named: dict[str, InnerTable] = Field(default_factory=dict)
    words: tuple[str, ...] = Field(default=("a",), min_length=1)


@pytest.mark.parametrize(
    ("given", "path", "value", "remedy"),
    [
        ({"fro": 1}, "fro", "unknown key 'fro'", "did you mean for? (use one of for, inner, many, named, words)"),
        ({}, "for", "no for", "give it"),
        ({"inner": {"sise": 1}}, "inner.sise", "unknown key 'sise'", "did you mean size? (use one of size, word, kind)"),
        ({"many": [{}, {"wrd": 1}]}, "many.1.wrd", "unknown key 'wrd'", "did you mean word? (use one of size, word, kind)"),
        ({"named": {"n": {"wrd": 1}}}, "named.n.wrd", "unknown key 'wrd'", "did you mean word? (use one of size, word, kind)"),
        ({"for": "long"}, "for", "'long'", "give a number"),
        ({"inner": {"size": 0}}, "inner.size", "0", "give a value greater than or equal to 1"),
        ({"inner": {"word": "c"}}, "inner.word", "'c'", "use one of a, b"),
        ({"inner": {"kind": "z"}}, "inner.kind", "'z'", "use 'x' or 'y'"),
        ({"words": []}, "words", "[]", "give at least 1"),
        ({"many": 3}, "many", "3", "give a list"),
    ],
)  # fmt: skip
def test_what_pydantic_finds_in_plain_words(given: dict[str, Any], path: str, value: str, remedy: str) -> None:
    with pytest.raises(ValidationError) as found:
        OuterTable(**({"for": 1.0} if given and "fro" not in given else {}) | given)
    told = mistake(found.value, OuterTable)
    assert (told.path, told.value, told.remedy) == (path, value, remedy)
