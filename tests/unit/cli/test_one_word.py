"""One word for one thing, and one level where nobody asks for another (issue 29, point 16)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import sojourn as sj
from sojourn.cli.app import command_line
from sojourn.errors import InputError
from sojourn.stats.batch_means import batch_interval
from sojourn.study.file_schema import FitSection
from sojourn.units import USUAL_LEVEL


def options() -> Iterator[tuple[str, Any]]:
    """Of all verbs, with the verb."""
    whole = get_command(command_line())
    todo = [("sojourn", whole)]
    while todo:
        name, command = todo.pop()
        for part in ("commands", "protocols"):
            todo += [(f"{name} {one}", own) for one, own in getattr(command, part, {}).items()]
        yield from ((name, one) for one in command.params if one.param_type_name == "option")


def test_levels_are_all_the_same() -> None:
    asked = {name: one.default for name, one in options() if one.name == "level"}
    assert len(asked) >= 7 and set(asked.values()) == {USUAL_LEVEL} == {0.9}
    public = [getattr(sj, name) for name in sj.__all__]
    known = [inspect.signature(one).parameters for one in public if callable(one) and not isinstance(one, type)]
    levels = [own["level"].default for own in known if "level" in own]
    assert len(levels) >= 8 and set(levels) == {USUAL_LEVEL}
    assert FitSection(model="auto").level == USUAL_LEVEL
    assert inspect.signature(batch_interval).parameters["level"].default == USUAL_LEVEL


def test_no_part_of_a_help_text_is_taken_for_a_colour() -> None:
    """`[yes]` is a style to rich, and was never printed."""
    lost = [(name, one.name) for name, one in options() if re.search(r"(?<!\\)\[[a-z#/@]", one.help or "")]
    assert lost == []


def test_how_long_is_one_word() -> None:
    named = {text for _, one in options() for text in (*one.opts, *one.secondary_opts)}
    assert "--for" in named and "--duration" not in named


@pytest.mark.parametrize("verb", ["load", "measure"])
@pytest.mark.parametrize("word", ["--for", "--duration"])
def test_its_former_name_is_understood(verb: str, word: str) -> None:
    said = CliRunner().invoke(command_line([verb]), [verb, "http://127.0.0.1:1/", "--rate", "1", word, "0s"])
    assert isinstance(said.exception, InputError) and said.exception.place == "--for"
