"""`sojourn observe traces.json`: what is printed and written, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from traces.otlp_spans import SERVER, span, written
from typer.testing import CliRunner

from sojourn.cli.app import command_line
from sojourn.model import Model


def said(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(command_line(), ["observe", *map(str, words)])
    return done.exit_code, done.output + (str(done.exception) if done.exception else "")


@pytest.mark.parametrize("services", [2, 6])
def test_tables_and_a_model_file(tmp_path: Path, services: int) -> None:
    spans = [span("site", 1, 1, 0, (0, 50), SERVER, "page")]
    spans += [span(f"s{k}", 1, 1 + k, 1, (k, k + 1), SERVER, "part") for k in range(1, services)]
    path = written(tmp_path / "traces.json", spans)
    code, text = said(path, "--out", tmp_path / "model.toml")
    assert code == 0 and f"1 requests in 1 traces, {services} spans, {services} stations (OTLP/JSON)" in text
    assert len(Model.read(tmp_path / "model.toml").stations) == services
    assert ("visits of s1" in text) == (services <= 4)


def test_what_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "traces.json", [span("site", 1, 1, 0, (0, 50), SERVER, "page")])
    (tmp_path / "cpu.csv").write_text("end_s,site\n1,0.5\n2,0.5\n")
    for words, told in (
        ((path, "--window", "5s"), "leave it out, or name a folder for windows"),
        ((path, tmp_path / "cpu.csv", "--out", tmp_path / "model.toml"), "name a folder for their windows"),
        ((tmp_path / "cpu.csv", "--trace-share", "0.1", "--out", tmp_path / "runs"), "it is of traces"),
        ((tmp_path / "cpu.csv", "--same-time-per-visit", "--out", tmp_path / "runs"), "it is of traces"),
        ((path, "--trace-share", "2"), "give the share of traces that were kept"),
    ):
        code, text = said(*words)
        assert code != 0 and told in text, words
