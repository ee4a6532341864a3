"""Issue 26, point 4: what others named or said never commands the terminal, is no markup there, and no element of a page."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from rich.table import Table

from sojourn import cli
from sojourn.cli.live_view import live
from sojourn.cli.parallel_option import ProgressLine
from sojourn.errors import InputError
from sojourn.simulate.simulated_folder import write_run
from sojourn.table import Metrics
from sojourn.terminal import SafeConsole, say, shown

CLIPBOARD = "\x1b]52;c;ZWNobyBoYWNrZWQ=\x07"  # OSC 52: writes the clipboard
NAME = f"[red]{CLIPBOARD}\x9b2J\u202e<script>alert(1)"
QUOTED = json.dumps(NAME)  # TOML takes the same escapes
MODEL = f"""
name = {QUOTED}
[stations.{QUOTED}]
[classes.{QUOTED}]
kind = "open"
rate_per_s = 5
[service_s.{QUOTED}]
{QUOTED} = 0.1
"""
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
VERBS: dict[str, tuple[str, ...]] = {
    "solve": ("solve", "m.toml"),
    "solve csv": ("solve", "m.toml", "--output-format", "csv"),
    "solve json": ("solve", "m.toml", "--json"),
    "sweep": ("solve", "m.toml", "--vary", f"stations.{NAME}.servers=1,2"),
    "methods": ("methods", "m.toml"),
    "simulate": ("simulate", "m.toml", "--seed", "1", "--precision", "0.2"),
    "query": ("query", "mean(response_time)", "m.toml"),
    "query of it": ("query", f"mean(response_time({NAME}))", "m.toml"),
    "plan": ("plan", "m.toml", "--vary", f"stations.{NAME}.servers=1,2", "--objective", "mean(response_time) < 1s", "--cost", "1"),
    "no such file": ("solve", NAME + ".toml"),
    "no such option": ("solve", "m.toml", f"--{NAME}"),
    "no such verb": (NAME,),
    "wrong key": ("solve", "wrong.toml"),
    "wrong toml": ("solve", "text.toml"),
    "fit": ("fit", "run", "--model", "free.toml", "--out", "f.toml"),
    "validate": ("validate", "run", "--model", "m.toml"),
    "predict": ("predict", "m.toml", "--rate", "1"),
    "report": ("report", "run", "--out", "r.html"),
    "query a run": ("query", "mean(response_time)", "run"),
    "study": ("study", "text.toml"),
    "control": ("control", "simulate", "wrong.toml", "--model", "m.toml"),
    "load": ("load", f"http://127.0.0.1:1/{NAME}", "--rate", "1", "--duration", "1s"),
}  # fmt: skip


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.toml").write_text(MODEL)
    (tmp_path / "free.toml").write_text(MODEL.replace("= 0.1", "= { free = true }"))
    (tmp_path / "wrong.toml").write_text(MODEL + f"[{QUOTED}]\n")
    (tmp_path / "text.toml").write_text(f"a = {CLIPBOARD}")
    random = np.random.default_rng(1)
    times = np.cumsum(random.exponential(0.1, 500))
    what = {
        "name": NAME, "factors": {"rate_per_s": 10.0, NAME: NAME}, "classes": [NAME], "machine": {"kernel": NAME}, "section": NAME,
        "load": {"lanes": [{"targets": [{"url": NAME}]}]},
    }  # fmt: skip
    folder = write_run(
        tmp_path / "run", manifest=what, requests={"intended_s": times, "done_s": times + random.exponential(0.01, 500)}
    )
    folder.manifest |= {"valid": False, "reasons": [NAME], "warnings": [NAME]}
    folder.save()
    return tmp_path


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_lets_a_name_command_the_terminal(
    place: Path, verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["sojourn", *VERBS[verb]])
    with pytest.raises(SystemExit):
        cli.main()
    said = capsys.readouterr()
    assert not RAW.search(said.out), said.out
    assert not RAW.search(said.err), said.err
    assert "Traceback" not in said.err
    if "json" in verb:
        assert NAME in {row["station"] for row in json.loads(said.out)["rows"]}


def test_a_name_is_no_element_of_a_page(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["sojourn", "report", "run", "--out", "r.html"])
    with pytest.raises(SystemExit):
        cli.main()
    page = (place / "r.html").read_text()
    assert "<script>alert(1)" not in page and "&lt;script&gt;alert(1)" in page
    assert "\x1b" not in page and "\x9b" not in page


def test_a_console_shows_commands_and_takes_no_markup() -> None:
    out = io.StringIO()
    console = SafeConsole(file=out, width=200, force_terminal=True, color_system="standard")
    table = Table(NAME, title=NAME)
    table.add_row(NAME)
    for one in (NAME, table, ":bug:"):
        console.print(one)
    console.print("right", style="green")
    text = re.sub(r"\x1b\[[\d;]*m", "", out.getvalue())  # colours are rich's own
    assert not RAW.search(text) and text.count("[red]") >= 4 and ":bug:" in text
    assert "\x1b[32mright" in out.getvalue()


def test_what_is_shown_is_json_still() -> None:
    text = json.dumps({"a": NAME, "b": "é\t\u4e2d\n"}, ensure_ascii=False)
    assert json.loads(shown(text)) == json.loads(text)
    assert shown("a\tb\né") == "a\tb\né" and shown("\udc80") == "\\udc80"


def test_a_text_that_is_said_or_printed(capsys: pytest.CaptureFixture[str]) -> None:
    say(NAME)
    say(NAME, err=True)
    print(Metrics.of([{"metric": "throughput", "station": NAME, "value": 1.0, "unit": "1/s"}], NAME, message=NAME))
    said = capsys.readouterr()
    assert not RAW.search(said.out + said.err) and (said.out + said.err).count("[red]") == 5


def test_lines_of_progress(capsys: pytest.CaptureFixture[str]) -> None:
    line = ProgressLine(NAME, sys.stderr)
    line.last = -1e9
    line(1, 2, None)
    with live(NAME) as view:
        view.say(NAME)
    said = capsys.readouterr().err
    assert not RAW.search(said) and said.count("[red]") == 2


def test_an_error_of_ours_keeps_its_text_for_programs() -> None:
    assert str(InputError(NAME, "here", "there")) == f"here: {NAME}; there"


def test_csv_of_a_name_is_one_cell(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["sojourn", "solve", "m.toml", "--output-format", "csv"])
    with pytest.raises(SystemExit):
        cli.main()
    rows = pl.read_csv(io.StringIO(capsys.readouterr().out), infer_schema_length=None)
    assert shown(NAME) in rows["station"].to_list()
