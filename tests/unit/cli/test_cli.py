"""The command line on bad input: one line with value, place and remedy on standard error, its exit code, nothing written."""

from __future__ import annotations

import errno
import json
import signal
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from sojourn import cli
from sojourn.cli import app as verbs
from sojourn.cli import stop_signals

COLUMNS = [["intended_s", "f8"], ["sent_s", "f8"], ["received_s", "f8"], ["done_s", "f8"], ["failure", "u1"]]
STUDY = (Path(__file__).parents[3] / "studies/web/study.toml").read_text()
Sojourn = Callable[..., tuple[int, str, str]]


@pytest.fixture
def sojourn(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Sojourn:
    """Runs the command line here: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["sojourn", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        out, err = capsys.readouterr()
        return int(str(end.value.code or 0)), out, err

    return run


def refused(answer: tuple[int, str, str], code: int, *parts: str) -> None:
    found, out, err = answer
    assert (found, out) == (code, ""), err
    assert err.startswith("sojourn: ") and err.count("\n") == 1, err
    assert all(part in err for part in parts), err


@pytest.mark.parametrize("rate", ["0", "-5", "1e9", "abc", "nan", "inf", ""])
@pytest.mark.parametrize("verb", ["load", "measure"])
def test_a_rate_that_is_none(sojourn: Sojourn, tmp_path: Path, verb: str, rate: str) -> None:
    answer = sojourn(verb, "http://127.0.0.1:1/", f"--rate={rate}", "--out", "run")
    value = {"1e9": "1e+09", "abc": "'abc'", "nan": "'nan'", "inf": "'inf'", "": "''"}.get(rate, rate)
    refused(answer, 2, "--rate: ", value, "give ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("load", "http://127.0.0.1:1/"), ("no load is given", "either --rate or --users")),
        (
            ("load", "http://127.0.0.1:1/", "--rate", "1", "--users", "1"),
            ("a rate (1) and users (1)", "either --rate or --users"),
        ),
        (("load", "http://127.0.0.1:1/", "--users", "0"), ("--users: 0", "give 1 to")),
        (("load", "http://127.0.0.1:1/", "--users", "x"), ("--users", "sojourn load --help")),
        (("load", "http://127.0.0.1:1/", "--rate", "1", "--connections", "0"), ("--connections: 0", "at least 1")),
        (("load", "http://127.0.0.1:1/", "--rate", "1", "--duration", "-1s"), ("--for: '-1s'", "above 0")),
        (("load", "http://127.0.0.1:1/", "--rate", "1", "--arrivals", "x"), ("--arrivals: 'x'", "use poisson, strat")),
        (("measure", "http://127.0.0.1:1/", "--rate", "50..10:5"), ("--rate: '50..10:5'", "first..last:step")),
        (("serve", "mail"), ("serve: 'mail'", "use one of bulletin, kv, ")),
        (("serve", "web", "--port", "0"), ("port 0", "1 to 65535")),
        (("fit", "nowhere", "--model", "m"), ("--model: 'm'", "give a model file, auto, demands", "web-models")),
        (("predict", "--model", "m", "--rate", "1"), ("--model: 'm'", "use one of")),
        (("predict", "--model", "mmm", "--rate", "1", "--set", "x"), ("--set: 'x'", "name=value")),
        (("nonsense",), ("nonsense", "sojourn --help")),
    ],
)
def test_options_that_cannot_be(
    sojourn: Sojourn, tmp_path: Path, arguments: tuple[str, ...], parts: tuple[str]
) -> None:
    refused(sojourn(*arguments), 2, *parts)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", ["load", "measure"])
@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "127.0.0.1:8080", "http://:80/"])
def test_a_url_that_is_none(sojourn: Sojourn, tmp_path: Path, verb: str, url: str) -> None:
    refused(sojourn(verb, url, "--rate", "1", "--out", "a/b"), 2, url, "give http://HOST:PORT/PATH")
    assert list(tmp_path.iterdir()) == [], "nothing was measured, so nothing is kept, not even the parent"


def run_folder(path: Path, **manifest: object) -> None:
    path.mkdir()
    whole = {"format": "sojourn-run", "version": 1, "status": "complete", "pid": 2**22 + 1, "factors": {}, **manifest}
    (path / "manifest.json").write_text(json.dumps(whole))


def cut_off(path: Path) -> None:
    """As kill -9 leaves it: a manifest that says running, of a process that is gone, and half a row."""
    run_folder(path, status="running", load={"lanes": [{"arrivals": {"kind": "poisson", "rate_per_s": 9.0}}]})
    header = {"format": "sojourn-record", "version": 1, "columns": COLUMNS, "meta": {"classes": ["page"]}}
    (path / "requests.rec").write_bytes(
        json.dumps(header).encode() + b"\n" + struct.pack("<ddddB", 1.0, 1.0, 1.0, 1.0, 0) + b"\0\0"
    )


def make(kind: str, path: Path) -> None:
    if kind == "cut off":
        cut_off(path)
    elif kind == "another version":
        run_folder(path, version=7)
    elif kind == "damaged":
        path.mkdir()
        (path / "manifest.json").write_text('{"format": "sojourn-')
    elif kind == "empty":
        path.mkdir()


KINDS = {
    "missing": ("no such folder", "sojourn measure"),
    "empty": ("no run folder", "sojourn measure"),
    "damaged": ("not a manifest", "run the measurement again"),
    "another version": ("sojourn-run version 7", "reads sojourn-run version 1"),
    "cut off": ("cut off", "measure again"),
}


@pytest.fixture
def fitted(tmp_path: Path) -> Path:
    from mmm_runs import mmm_run

    import sojourn as sj
    from sojourn.fit import FitRuns

    path = tmp_path / "given.toml"
    runs = FitRuns([mmm_run(rate) for rate in (10.0, 20.0, 30.0, 40.0)])
    sj.fit(runs, sj.Model.parse(MODEL % "{ free = true }"), draws=20).write(path)
    return path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verb", ["fit", "validate"])
def test_a_run_folder_without_a_run(sojourn: Sojourn, tmp_path: Path, fitted: Path, verb: str, kind: str) -> None:
    make(kind, tmp_path / "run")
    options = ("--out", "new.toml") if verb == "fit" else ("--model", fitted)
    refused(sojourn(verb, "run", *options), 2, "run", *KINDS[kind])
    assert not (tmp_path / "new.toml").exists()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "cut off"])
def test_a_report_of_a_folder_without_a_run(sojourn: Sojourn, tmp_path: Path, kind: str) -> None:
    make(kind, tmp_path / "run")
    refused(sojourn("report", "run"), 2, "run", *KINDS[kind])
    assert not (tmp_path / "report.html").exists()


def test_a_report_shows_that_a_run_was_cut_off(sojourn: Sojourn, tmp_path: Path) -> None:
    cut_off(tmp_path / "run")
    code, _, err = sojourn("report", "run")
    assert code == 0, err
    page = (tmp_path / "report.html").read_text()
    assert "0 of 1 runs are valid" in page and "the run was cut off" in page


def test_a_run_that_is_still_going_on_is_left_alone(sojourn: Sojourn, tmp_path: Path) -> None:
    cut_off(tmp_path / "run")
    manifest = json.loads((tmp_path / "run/manifest.json").read_text())
    (tmp_path / "run/manifest.json").write_text(json.dumps(manifest | {"pid": 1}))
    refused(sojourn("fit", "run"), 2, "run", "its status is 'running'")
    assert (tmp_path / "run/requests.rec").exists()


def test_a_process_id_that_was_used_again_does_not_keep_a_run_going(sojourn: Sojourn, tmp_path: Path) -> None:
    cut_off(tmp_path / "run")
    manifest = json.loads((tmp_path / "run/manifest.json").read_text())
    (tmp_path / "run/manifest.json").write_text(json.dumps(manifest | {"pid": 1, "pid_started": "another time"}))
    refused(sojourn("fit", "run"), 2, "run", "the run was cut off")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("name = ", ("study.toml:1: not TOML", "correct the line")),
        ("colour = 1\n" + STUDY, ("study.toml:1: colour: unknown key", "use one of name")),
        (STUDY.replace("for = 25 ", 'for = "long" '), ("study.toml:", "load.for: ", "give a time above 0")),
    ],
    ids=["no TOML", "unknown key", "wrong type"],
)
def test_a_broken_study_file(sojourn: Sojourn, tmp_path: Path, text: str, parts: tuple[str, ...]) -> None:
    (tmp_path / "study.toml").write_text(text)
    refused(sojourn("study", "study.toml", "--out", "out"), 2, *parts)
    refused(sojourn("study", tmp_path, "--out", "out"), 2, *parts)
    assert not (tmp_path / "out").exists()


def test_a_study_file_that_is_not_there(sojourn: Sojourn) -> None:
    refused(sojourn("study", "nowhere.toml"), 2, "nowhere.toml", "give a study file")


def test_a_fitted_file_that_is_not_there(sojourn: Sojourn) -> None:
    refused(sojourn("predict", "nowhere.toml", "--rate", "1"), 2, "nowhere.toml")


MODEL = """[stations.cpu]
[classes.user]
kind = "open"
rate_per_s = 1
[demands_s]
cpu = { user = %s }
"""


@pytest.mark.parametrize("verb", ["predict", "validate"])
@pytest.mark.parametrize(
    ("number", "parts"),
    [("{ free = true }", ("not fitted: demands_s.cpu.user is unknown", "sojourn fit RUNS --model shop.toml")),
     ("0.1", ("a model without a fit", "sojourn solve shop.toml"))],
)  # fmt: skip
def test_a_model_that_was_not_fitted(
    sojourn: Sojourn, tmp_path: Path, verb: str, number: str, parts: tuple[str, ...]
) -> None:
    (tmp_path / "shop.toml").write_text(MODEL % number)
    arguments = ("shop.toml", "--rate", "1") if verb == "predict" else ("runs", "--model", "shop.toml")
    refused(sojourn(verb, *arguments), 2, "shop.toml: ", *parts)


@pytest.mark.parametrize("share", ["-1", "0", "nan", "inf", "300"])
def test_a_share_of_saturation_that_is_none(sojourn: Sojourn, fitted: Path, share: str) -> None:
    refused(
        sojourn("validate", "runs", "--model", fitted, f"--max-share-of-saturation-rate={share}"), 2, share, "at most 1"
    )


@pytest.mark.parametrize("verb", ["fit", "report"])
def test_a_file_that_cannot_be_written_is_found_before_the_work(sojourn: Sojourn, tmp_path: Path, verb: str) -> None:
    (tmp_path / "file").write_text("")
    for out, found in ((tmp_path, "is a folder"), ("file/new", "is no folder")):
        refused(sojourn(verb, "nowhere", "--out", out), 2, "--out: ", found)


def test_predict_prints_one_json_object(sojourn: Sojourn) -> None:
    code, out, err = sojourn("predict", "--model", "mmm", "--set", "mu_per_s=100,cores=1", "--rate", "50", "--json")
    assert code == 0, err
    found = json.loads(out, parse_constant=pytest.fail)
    assert {"method", "status", "message", "rows"} <= found.keys()


@pytest.mark.parametrize(
    ("number", "remedy"),
    [(errno.ENOSPC, "free space"), (errno.EACCES, "its permissions")],
    ids=["full", "denied"],
)
def test_an_error_of_the_system_is_one_line_too(
    sojourn: Sojourn, monkeypatch: pytest.MonkeyPatch, number: int, remedy: str
) -> None:
    def fail(**_: object) -> None:
        raise OSError(number, "cannot", "verdict.txt")

    monkeypatch.setattr(verbs, "command_line", lambda _: fail)
    refused(sojourn("study"), 1, "verdict.txt: cannot", remedy)


def test_the_second_signal_is_told_to_wait_and_the_third_heard(capfd: pytest.CaptureFixture[str]) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background ignores it
    stop_signals.end_in_good_order()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGINT)
    assert "putting things back" in capfd.readouterr().err
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    stop_signals.too_late()
    signal.raise_signal(signal.SIGTERM)


def test_a_signal_that_the_caller_ignores_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    stop_signals.end_in_good_order()
    signal.raise_signal(signal.SIGHUP)


def test_the_list_of_verbs_says_of_each_what_it_says_of_itself() -> None:
    """The list alone is made without importing any of them."""
    listed, whole = (get_command(verbs.command_line(words)) for words in (["--help"], None))
    assert isinstance(listed, TyperGroup) and isinstance(whole, TyperGroup)
    assert set(listed.commands) == set(whole.commands)
    for name, command in whole.commands.items():
        first = " ".join((command.help or "").split("\n\n")[0].split())
        assert listed.commands[name].help == first


def test_the_list_of_verbs_imports_none_of_them() -> None:
    code = "import sys; from sojourn.cli import main; sys.argv = ['sojourn', '--help']\ntry: main()\nfinally: print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    heavy = {"polars.dataframe", "numpy.linalg", "scipy", "sojourn.cli.load", "sojourn.cli.study"} & set(
        out.splitlines()[-1].split()
    )
    assert not heavy and "Runs a study" in out
