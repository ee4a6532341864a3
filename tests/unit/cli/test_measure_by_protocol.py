"""`sojourn measure` takes what `sojourn load` takes: each protocol with its own options, several levels instead of one (issue 30)."""

from __future__ import annotations

import io
import shlex
from pathlib import Path
from typing import Any

import pytest
from test_load_by_protocol import OWN
from test_new_user import run_at
from typer.main import get_command
from typer.testing import CliRunner

import sojourn as sj
import sojourn.measure as package
from sojourn.cli.app import command_line
from sojourn.cli.measure_table import say_finished
from sojourn.errors import InputError
from sojourn.load.protocols import protocols, protocols_of_cases
from sojourn.measure.measure import config_of
from sojourn.runs.run_series import differences
from sojourn.terminal import SafeConsole

COMMON = {
    "--for",
    "--seed",
    "--timeout",
    "--objective",
    "--out",
    "--json",
    "--output-format",
    "--help",
    "--service-pids",
    "--factor",
    "--sample-interval",
}
OF_LOAD = {"--agents", "--iops"}  # one generator on this machine; levels are --rate
PLAIN = {"machine": {}, "conditions": {}}


@pytest.mark.parametrize("url", OWN)
def test_help_with_a_url_shows_what_its_protocol_has(url: str) -> None:
    said = CliRunner().invoke(command_line(["measure"]), ["measure", url, "--help"], env={"COLUMNS": "160"})
    rows = [line.split() for line in said.output.splitlines() if line.startswith("│ --")]
    shown = {word for row in rows for word in row[1:3] if word.startswith("--")}
    own, others = OWN[url]
    assert shown >= (own - OF_LOAD) | COMMON and not shown & (others | OF_LOAD)


@pytest.mark.parametrize("name", [*protocols(), *protocols_of_cases()])
def test_its_examples_are_understood(name: str) -> None:
    options = (protocols() | protocols_of_cases())[name]
    command = get_command(command_line(["measure"])).commands["measure"]  # type: ignore[attr-defined]
    assert options.measured
    for example in options.measured:
        made = command.make_context(example, shlex.split(example)[2:])
        assert made.params["url"] and made.command is not command
        assert made.params.get("rate") or made.params.get("users")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("http://h:1/ --rate 5 --key-count 3", "--key-count: no option of http://HOST:PORT/PATH; only memcached://HOST:PORT takes it"),
        ("memcached://h:1 --rate 5 --http-method PUT", "--http-method: no option of memcached://HOST:PORT; only http://HOST:PORT/PATH"),
        ("file:/x --users 3", "--users: no option of file:PATH"),
        ("file:/x --iops 3", "--iops: an option of `sojourn load`; give --rate, e.g. --rate 100..400:100"),
        ("bulletin http://h:1 --rate 5", "--rate: no option of bulletin http://HOST:PORT"),
        ("memcached://h:1", "measure: no load is given; give either --rate or --users"),
        ("file:/x --rate 5 --read-fraction 2 --fsync-every 1", "--fsync-every: 1"),
        ("--rate 5", "measure: no URL; give http://HOST:PORT/PATH"),
    ],
)  # fmt: skip
def test_what_a_protocol_does_not_have(tmp_path: Path, words: str, said: str) -> None:
    line = ["measure", *words.split(), "--out", str(tmp_path / "out")]
    error = CliRunner().invoke(command_line(["measure"]), line).exception
    assert isinstance(error, InputError) and said in str(error)
    assert list(tmp_path.iterdir()) == []


def test_a_misspelt_option_is_no_url() -> None:
    line = ["measure", "memcached://h:1", "--value-size", "1", "--rate", "5"]
    said = CliRunner().invoke(command_line(["measure"]), line)
    assert said.exit_code == 2 and "--value-size" in said.output


@pytest.mark.parametrize(
    ("words", "urls", "asked"),
    [
        ("memcached://h:1 memcached://h:2 --rate 5,7 --get-weight 9 --set-weight 1", ["memcached://h:1", "memcached://h:2"],
         {"rates_per_s": [5, 7], "users": (), "get_weight": 9, "set_weight": 1, "duration_s": 8}),
        ("messages://h:1 --users 1,2 --put-weight 3 --for 2s", ["messages://h:1"],
         {"rates_per_s": (), "users": [1, 2], "put_weight": 3, "duration_s": 2}),
        ("file:/x --rate 9 --block-size 8k", ["file:/x"], {"rates_per_s": [9], "users": (), "block": "8k", "duration_s": 8}),
        ("bulletin http://h:1 --users 3 --mix browse", ["http://h:1"],
         {"rates_per_s": (), "users": [3], "mix": "browse", "duration_s": 8}),
    ],
)  # fmt: skip
def test_what_the_package_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, urls: list[str], asked: dict[str, Any]
) -> None:
    given: dict[str, Any] = {}

    def measured(to: list[str], out: Path, **more: Any) -> list[Any]:
        given.update(more, urls=to)
        return [run_at(out, 60)]

    monkeypatch.setattr(package, "measure", measured)
    line = ["measure", *words.split(), "--out", str(tmp_path / "out")]
    assert CliRunner().invoke(command_line(["measure"]), line).exception is None
    assert given["urls"] == urls and {name: given[name] for name in asked} == asked


def test_from_python_too(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="get_weight: no option of http://HOST:PORT/PATH; only memcached://HOST:PORT"):
        sj.measure("http://127.0.0.1:1/", tmp_path / "runs", rates_per_s=[1.0], get_weight=3.0)
    assert list(tmp_path.iterdir()) == []
    config = config_of("memcached://h:1", rate_per_s=30.0, threads=2, get_weight=9.0)
    assert [lane["arrivals"]["rate_per_s"] for lane in config["lanes"]] == [15.0, 15.0]
    assert config["kv"]["mix"]["get"] == 9.0 and config["realtime"]
    assert "realtime" not in config_of("file:/x", rate_per_s=3.0)


@pytest.mark.parametrize("url", ["http://h:1/", "memcached://h:1", "messages://h:1"])
def test_another_number_of_users_is_no_other_condition(url: str) -> None:
    """Clients with a connection each have as many connections as users."""
    one, four = ({**PLAIN, "load": config_of(url, users=users)} for users in (1, 4))
    assert differences(one, four) == []
    assert differences(one, {**PLAIN, "load": config_of(url, users=1, think_s=1.0)}) != []


@pytest.mark.parametrize("terminal", [True, False])
def test_a_finished_level_is_said_in_a_terminal(tmp_path: Path, terminal: bool) -> None:
    out = SafeConsole(file=io.StringIO(), force_terminal=terminal, width=80, no_color=True)
    say_finished(run_at(tmp_path / "runs", 60), out)
    said = out.file.getvalue()  # type: ignore[attr-defined]
    assert ("rate-60: " in said and "response time" in said) == terminal
