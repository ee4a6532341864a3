"""The load on a function: when calls are made, what of a failure is told, and what is not."""

from __future__ import annotations

import time
from pathlib import Path

import polars as pl
import pytest

from sojourn.load.credentials import without_secrets
from sojourn.measure.call_load import MOST_MESSAGES, MOST_SAID, CallGenerator
from sojourn.runs.assess_run import _failure
from sojourn.runs.run_folder import RunFolder


def failures(path: Path, errors: list[Exception]) -> dict[str, int]:
    """What the generator says after one call for each of these."""
    generator = CallGenerator(lambda: None, 1.0, users=1)
    folder = RunFolder.create(path / "run", {"load": {}})
    for error in errors:

        def fail(error: Exception = error) -> None:
            raise error

        generator.call = fail
        generator._one(time.monotonic())
    told: dict[str, int] = generator._keep(folder, 0.0)["failures"]
    return told


def test_failures_are_told_with_their_messages(tmp_path: Path) -> None:
    errors = [ValueError("no such  user\n(id 7)"), ValueError("no such  user\n(id 7)"), KeyError("x"), OSError()]
    assert failures(tmp_path, errors) == {"ValueError: no such user (id 7)": 2, "KeyError: 'x'": 1, "OSError": 1}


def test_messages_are_bounded_in_length_and_number(tmp_path: Path) -> None:
    told = failures(tmp_path, [ValueError(f"{k}" * 500) for k in range(MOST_MESSAGES + 3)])
    assert max(map(len, told)) == MOST_SAID
    assert told["ValueError with other messages"] == 3 and len(told) == MOST_MESSAGES + 1


def test_secrets_of_the_environment_are_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_PASSWORD", "hunter2hunter2")
    monkeypatch.setenv("SHOP_API_KEY", "hunter2hunter2-longer")
    monkeypatch.setenv("MY_PASS", "a")
    text = "cannot log in with hunter2hunter2-longer, hunter2hunter2 at postgres://shop:s3cret@db/x, a"
    assert without_secrets(text) == "cannot log in with ***, *** at postgres://shop:***@db/x, a"


def test_the_most_frequent_messages_are_among_the_reasons() -> None:
    said = {"ValueError: a": 1, "OSError: b": 9, "KeyError: c": 5, "TypeError: d": 3}
    told = _failure("exception", pl.DataFrame({"failure": [6] * 18}), said)
    assert told == "exception: 18, OSError: b; KeyError: c; TypeError: d; …"
