"""`sojourn load`: the URL decides which options there are, in help, on the command line, for a shell, and from Python (issue 30)."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import sojourn as sj
from sojourn.cli.app import command_line
from sojourn.cli.load_command import first_look, refuse_others
from sojourn.errors import InputError
from sojourn.load import BlockOptions, HttpOptions, MemcachedOptions, MessagesOptions
from sojourn.load.load_options import option_texts
from sojourn.load.protocols import protocol_of, protocols, protocols_of_cases
from sojourn.study.kinds.http_system import HttpLoad

COMMON = {"--for", "--seed", "--timeout", "--objective", "--out", "--json", "--output-format", "--help"}
OWN = {  # what only this one has, and what it has not
    "http://127.0.0.1:1/": (
        {"--http-method", "--body", "--agents", "--connections", "--rate", "--users"},
        {"--get-weight", "--iops", "--clients"},
    ),
    "memcached://h:1": (
        {"--get-weight", "--key-count", "--connections", "--generator-threads", "--rate", "--users"},
        {"--http-method", "--put-weight", "--iops"},
    ),
    "messages://h:1": (
        {"--put-weight", "--take-weight", "--clients", "--generator-threads", "--token"},
        {"--get-weight", "--http-method", "--iops", "--connections"},
    ),
    "file:/x": ({"--iops", "--rate", "--block-size", "--direct"}, {"--get-weight", "--http-method", "--users", "--think", "--connections"}),
    "bulletin": ({"--mix", "--ramp-up", "--users", "--think"}, {"--rate", "--arrivals", "--get-weight", "--http-method"}),
}  # fmt: skip


def helped(*words: str) -> set[str]:
    said = CliRunner().invoke(command_line(["load"]), ["load", *words, "--help"], env={"COLUMNS": "160"})
    assert said.exit_code == 0, said.output
    rows = [line.split() for line in said.output.splitlines() if line.startswith("│ --")]
    return {word for row in rows for word in row[1:3] if word.startswith("--")}


@pytest.mark.parametrize("url", OWN)
def test_help_with_a_url_shows_what_its_protocol_has(url: str) -> None:
    shown, (own, others) = helped(url), OWN[url]
    assert shown >= own | COMMON and not shown & others


def test_help_without_a_url_shows_what_most_have_and_the_way_to_the_rest() -> None:
    shown = helped()
    assert shown >= COMMON | {"--rate", "--users", "--think", "--arrivals"}
    assert not shown & {"--http-method", "--get-weight", "--put-weight", "--iops", "--mix"}
    said = CliRunner().invoke(command_line(["load"]), ["load", "--help"], env={"COLUMNS": "160"}).output
    for one in protocols().values():
        assert f"sojourn load {one.shape.partition(',')[0]} --help" in said


@pytest.mark.parametrize(
    ("words", "flag", "having"),
    [
        (["memcached://h:1", "--http-method", "PUT"], "--http-method", ["http://HOST:PORT/PATH"]),
        (["http://h:1/", "--rate", "5", "--no-verify"], "--no-verify", ["memcached://", "messages://", "file:PATH"]),
        (["file:/x", "--iops", "5", "--users", "3"], "--users", ["http://", "memcached://", "messages://"]),
        (["messages://h:1", "--connections", "3"], "--connections", ["http://", "memcached://"]),
        (["http://h:1/", "--rate", "5", "--mix", "browse"], "--mix", ["bulletin http://HOST:PORT"]),
        (["bulletin", "http://h:1", "--rate", "5"], "--rate", ["http://", "memcached://", "messages://", "file:PATH"]),
        (["memcached://h:1", "--agents", "local:2"], "--agents", ["http://HOST:PORT/PATH"]),
        (["--body=x", "memcached://h:1"], "--body", ["http://HOST:PORT/PATH"]),
    ],
)
def test_an_option_of_other_protocols_names_them(words: list[str], flag: str, having: list[str]) -> None:
    error = CliRunner().invoke(command_line(["load"]), ["load", *words]).exception
    assert isinstance(error, InputError) and error.place == flag
    assert all(one in str(error) for one in having)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("capacity http://h:1/ --key-count=3", "--key-count: no option of http://HOST:PORT/PATH; only memcached://HOST:PORT takes it"),
        ("compare --service-urls http://h:1/ http://h:2/ --iops 3", "--iops: no option of http://HOST:PORT/PATH; only file:PATH"),
        ("capacity memcached://h:1", "capacity: a URL of memcached; give http://HOST:PORT/PATH"),
        ("compare --service-urls messages://h:1 messages://h:2", "compare: a URL of messages; give http://HOST:PORT/PATH"),
    ],
)  # fmt: skip
def test_verbs_of_http_have_its_options(words: str, said: str) -> None:
    verb = words.split()[0]
    error = CliRunner().invoke(command_line([verb]), words.split()).exception
    assert isinstance(error, InputError) and said in str(error)


def test_a_study_file_has_the_options_of_http() -> None:
    """`[load]` has a key for each, with the same default; headers are a table there, and statuses are always several."""
    keys = {
        name: field.get_default(call_default_factory=True)
        for name, field in HttpLoad.model_fields.items()
        if name != "every_s"
    }
    own = {one.name: one.default for one in fields(HttpOptions) if one.name != "realtime"}
    assert keys == own | {"headers": {}, "status": (200,)}


def test_from_python_too(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"get_weight: no option of http://HOST:PORT/PATH; only memcached://HOST:PORT"):
        sj.load("http://127.0.0.1:1/", tmp_path / "run", rate_per_s=1.0, get_weight=3.0)
    with pytest.raises(InputError, match="rate: no option of memcached.*there is no such option"):
        sj.load("memcached://127.0.0.1:1", tmp_path / "run", rate=1.0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("urls", "found"),
    [
        (["http://h/", "https://h/"], HttpOptions),
        (["memcached://h:1", "memcached://h:2"], MemcachedOptions),
        (["messages://h:1"], MessagesOptions),
        *((([url]), BlockOptions) for url in ("file:/x", "file:///x", "blk:/dev/vdb", "nbd://h:1/e", "nfs://h/f")),
        (["file"], HttpOptions),  # whose error says how a URL looks
        ([], HttpOptions),
    ],
)
def test_the_protocol_of_urls(urls: list[str], found: type[Any]) -> None:
    assert protocol_of(urls) is found


def test_one_run_takes_one_protocol() -> None:
    with pytest.raises(InputError, match="URLs of http and memcached; one run takes one of them"):
        protocol_of(["http://h/", "memcached://h:1"])


def test_values_of_options_are_no_urls() -> None:
    params = get_command(command_line(["load"])).commands["load"].params  # type: ignore[attr-defined]
    asked = [
        "--objective",
        "p99 < 1s",
        "--body",
        "http://x",
        "--agents=tls://h:1",
        "--json",
        "memcached://h:1",
        "--duration",
        "2s",
    ]
    seen = first_look(asked, params)
    assert seen.words == ["memcached://h:1"]
    assert seen.flags == ["--objective", "--body", "--agents", "--json", "--for"]
    assert first_look(["--", "--http"], params).words == ["--http"] and first_look(["x", "--help"], params).helps
    pairs = get_command(command_line(["compare"])).commands["compare"].params  # type: ignore[attr-defined]
    seen = first_look(["--commands", "one", "--iops", "--service-urls=http://a", "http://b", "runs/a"], pairs)
    assert seen.flags == ["--commands", "--service-urls"] and seen.words == ["runs/a"]


def test_a_flag_takes_a_value_everywhere_or_nowhere() -> None:
    """The first look reads a command line before it knows the protocol."""
    takes: dict[str, set[bool]] = {}
    for one in (*protocols().values(), *protocols_of_cases().values()):
        for text in option_texts(one).values():
            takes.setdefault(text.flag, set()).add(text.kind is bool)
    assert len(takes) > 40 and [flag for flag, kinds in takes.items() if len(kinds) > 1] == []


@pytest.mark.parametrize("name", [*protocols(), *protocols_of_cases()])
def test_its_examples_are_understood(name: str) -> None:
    options = (protocols() | protocols_of_cases())[name]
    assert len(set(options.examples)) == 3
    command = get_command(command_line(["load"])).commands["load"]  # type: ignore[attr-defined]
    for example in options.examples:
        words = shlex.split(example)[2:]
        refuse_others([word for word in words if word.startswith("--")], options)
        made = command.make_context(example, words)
        assert made.params["url"] and made.command is not command


def test_without_a_url_there_is_nothing_to_load() -> None:
    for words in (["--rate", "5"], ["--iops", "5"], []):
        error = CliRunner().invoke(command_line(["load"]), ["load", *words]).exception
        assert isinstance(error, InputError) and "no URL" in str(error)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("sojourn load memcached://h --multi-get-", ["--multi-get-share"]), ("sojourn load http://h/ --multi", [])],
)
def test_a_shell_is_told_the_options_of_the_protocol(typed: str, offered: list[str]) -> None:
    asks = {"COMP_WORDS": typed.replace(" ", "\n"), "COMP_CWORD": str(typed.count(" "))}
    code = "import sys; from sojourn.cli import main; sys.argv = ['sojourn']; main()"
    env = {**os.environ, "_SOJOURN_COMPLETE": "complete_bash", **asks}
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env)
    assert said.stdout.split() == offered, said.stderr
