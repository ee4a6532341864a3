"""The verb around an answer that is given: what is printed and written, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from capacity.test_capacity_report import result
from typer.testing import CliRunner

import sojourn.capacity
from sojourn.capacity import RateInterval
from sojourn.cli.app import command_line


@pytest.mark.parametrize(
    ("more", "arguments", "code"),
    [
        ({}, (), 0),
        ({"rate_per_s": None, "no_answer_reason": "no model"}, (), 8),
        ({"rate_per_s": None, "single_user_misses": True, "no_answer_reason": "a single user misses"}, (), 7),
        ({"required_rate_per_s": 500.0}, ("--required-rate", "500"), 0),
        ({"required_rate_per_s": 800.0}, ("--required-rate", "800"), 7),
        ({"rate_per_s": RateInterval(720, 690, None), "required_rate_per_s": 700.0}, ("--required-rate", "700"), 8),
        ({"service_failed": "the service no longer answers: nothing listens"}, (), 5),
    ],
)
def test_exit_code_and_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any], arguments: tuple[str, ...], code: int
) -> None:
    given: dict[str, Any] = {}

    def find(url: str, objective: list[str], **rest: Any) -> Any:
        given.update(rest)
        return result(**more)

    monkeypatch.setattr(sojourn.capacity, "capacity", find)
    files = ["--markdown", str(tmp_path / "a.md"), "--junit", str(tmp_path / "a.xml"), "--out", str(tmp_path / "out")]
    line = ["capacity", "http://127.0.0.1:1/", "--objective", "p99 < 50ms", *files, *arguments]
    done = CliRunner().invoke(command_line(), line)
    assert getattr(done.exception, "exit_code", done.exit_code) == code, done.output
    assert result(**more).lines()[0] in done.output and "report.html" in done.output.splitlines()[-1]
    assert given["search_limits"].required_rate_per_s == (float(arguments[1]) if arguments else None)
    assert (tmp_path / "out/report.html").is_file()
    assert "Capacity of" in (tmp_path / "a.md").read_text()
    assert ("<failure" in (tmp_path / "a.xml").read_text()) == (code == 7)


def test_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sojourn.capacity, "capacity", lambda *_args, **_more: result())
    line = ["capacity", "http://127.0.0.1:1/", "--json", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(command_line(), line)
    assert done.exit_code == 0
    assert json.loads(done.stdout)["rate_per_s"]["value"] == 720
