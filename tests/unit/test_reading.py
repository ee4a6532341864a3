"""Issue 26, points 8 and 9: what a parser may not see is refused before it, with the place, by whoever reads the file."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import tomllib
from pathlib import Path

import pytest

from sojourn import cli
from sojourn.errors import InputError, ModelError, RunFolderError
from sojourn.files.reading import (
    MOST_DEEP,
    MOST_TEXT_BYTES,
    parse_json,
    parse_toml,
    read_bytes,
    read_lines,
    read_text,
    read_toml,
)
from sojourn.runs.host_samples import read_samples
from sojourn.runs.record_logs import read_log

DEEP = {
    "lists": "a = " + "[" * 50_000,
    "whole lists": "a = " + "[" * 50_000 + "]" * 50_000,
    "inline tables": "x = 1\na = " + "{a = " * 5_000 + "1" + "}" * 5_000,
    "key of many parts": "a." * 50_000 + "b = 1",
    "head of many parts": "[" + "a." * 50_000 + "b]",
    "keys in tables": "b = " + ("{" + "a." * 60 + "a = ") * 60 + "1" + "}" * 60,
    "after quotes": 'a = ["""x"""", ' + "[" * 50_000,
    "after an apostrophe": "a = ['''x'''', " + "[" * 50_000,
    "after escapes": 'a = ["\\\\", ' + "[" * 50_000,
}
VERBS = (
    ("solve", "{file}"),
    ("validate", "{file}", "--model", "{file}"),
    ("study", "{file}"),
    ("predict", "{file}", "--rate", "1"),
    ("control", "simulate", "{file}", "--model", "{file}"),
    ("plan", "{file}", "--vary", "stations.a.servers=1,2", "--objective", "mean(response_time) < 1s", "--cost", "1"),
    ("load", "http://127.0.0.1:1/", "--request-mix", "{file}", "--rate", "1", "--duration", "1"),
)


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_toml_that_is_too_deep_names_its_line(text: str) -> None:
    line = 2 if text.startswith("x") else 1
    with pytest.raises(
        ModelError, match=rf"^shop.toml(:{line})?: (b: )?tables, lists or keys of more than {MOST_DEEP} levels"
    ):
        parse_toml(text, "shop.toml", error=ModelError)


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * MOST_DEEP + "]" * MOST_DEEP,
        'a = "' + "[" * 1000 + '"',
        "a = '''" + "[\n" * 1000 + "'''",
        'a = """' + '["' * 1000 + 'x"""""',
        "# " + "[" * 1000,
        "a = 1.5\n" + "\n".join(f"b.c{k} = 1.5" for k in range(1000)),
        "a = [" + "{b = 1.5}, " * 1000 + "]",
    ],
)
def test_brackets_in_strings_and_beside_each_other_do_not_count(text: str) -> None:
    assert parse_toml(text, "it") == tomllib.loads(text)


def test_an_integer_of_more_than_64_bits_is_refused_by_its_key() -> None:
    with pytest.raises(InputError, match=r"it: classes.shoppers.population: 1e\+26; give a whole number of 64 bits"):
        parse_toml("[classes.shoppers]\npopulation = " + "1" + "0" * 26, "it")
    with pytest.raises(InputError, match=r"it:1: not TOML.*digits"):
        parse_toml("a = " + "1" * 5000, "it")
    assert parse_toml(f"a = {2**63 - 1}\nb = true", "it") == {"a": 2**63 - 1, "b": True}


def test_quotes_that_do_not_end_are_looked_at_once() -> None:
    """A scan that begins again at each quote would take minutes (20 000 such pairs took 28 s)."""
    for text in ('"\\' * 200_000, "'\\" * 200_000, '"""\n' * 200_000, '{"a":"\\' * 200_000):
        with pytest.raises(ValueError):
            parse_toml(text, "it")
        with pytest.raises(ValueError):
            parse_json(text)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '["\\"", ' + "[" * 1000])
def test_json_that_is_too_deep(text: str) -> None:
    with pytest.raises(json.JSONDecodeError, match=f"nested more than {MOST_DEEP} levels deep"):
        parse_json(text)


def test_json_as_it_is() -> None:
    held = {"a": [[k, "[[[{" * 100] for k in range(1000)]}
    assert parse_json(json.dumps(held)) == held
    assert parse_json(b'{"a": 1}') == {"a": 1}


def test_what_is_no_plain_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"")
    os.truncate(tmp_path / "large", MOST_TEXT_BYTES + 1)
    for path, found in (("/dev/zero", "a device"), (tmp_path, "a folder"), (tmp_path / "pipe", "a pipe"),
                        (tmp_path / "large", "more than 4 MiB"), (tmp_path / "none", "No such file"), ("a\0b", "null byte")):  # fmt: skip
        with pytest.raises(InputError, match=rf"{found}.*give a model"):
            read_bytes(path, "give a model")


def test_a_pipe_where_one_is_meant_is_read_as_far_as_a_file_may_be_long(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def written(content: bytes) -> threading.Thread:
        def write() -> None:
            with open(pipe, "wb") as file, contextlib.suppress(BrokenPipeError):
                file.write(content)

        thread = threading.Thread(target=write)
        thread.start()
        return thread

    thread = written(b"a = 1")
    assert read_toml(pipe, "give one")[0] == {"a": 1}
    thread.join(10)
    thread = written(b"#" * (MOST_TEXT_BYTES + 1))
    with pytest.raises(InputError, match="more than 4 MiB"):
        read_text(pipe, "give one", pipes=True)
    thread.join(10)


def test_lines_without_end(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"a\r\n" + b"b" * ((16 << 20) + 1))
    lines = read_lines(tmp_path / "long", "again")
    assert next(lines) == "a"
    with pytest.raises(InputError, match="long:2: a line of more than 16 MiB"):
        next(lines)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
@pytest.mark.parametrize("kind", ["lists", "inline tables", "key of many parts", "/dev/zero"])
def test_each_verb_that_takes_a_file_says_so_in_one_line(
    tmp_path: Path,
    verb: tuple[str, ...],
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "shop.toml"
    if kind == "/dev/zero":
        file.symlink_to(kind)
    else:
        file.write_text(DEEP[kind])
    monkeypatch.setattr(sys, "argv", ["sojourn", *(word.format(file=file) for word in verb)])
    with pytest.raises(SystemExit) as end:
        cli.main()
    said = capsys.readouterr().err
    assert end.value.code == 2 and said.startswith(f"sojourn: {file}") and said.count("\n") == 1, said


@pytest.mark.parametrize("line", ["[" * 100_000, "[1]", '{"t_s": "x", "cpu": {"0": {"user": 1}}}', '{"cpu": {}, "procs_running": 1}',
                                  '{"t_s": 1, "procs": {"1": {"threads": "x"}}}', '{"t_s": 1, "cpu": {"0": ["x"]}}'])  # fmt: skip
def test_host_samples_of_another_shape(tmp_path: Path, line: str) -> None:
    (tmp_path / "host.ndjson").write_text('{"format": "sojourn-host", "version": 1}\n' + line + "\n")
    with pytest.raises(RunFolderError, match=r"host.ndjson:2: "):
        read_samples(tmp_path / "host.ndjson")


@pytest.mark.parametrize(
    "columns", [[["a", "O"]], [["a", "V0"]], [["a", "f8"], ["a", "f8"]], [], 5, [["a"]], [["a", "f8", 2]]]
)
def test_record_logs_of_another_shape(tmp_path: Path, columns: object) -> None:
    header = {"format": "sojourn-record", "version": 1, "columns": columns, "meta": {}}
    (tmp_path / "requests.rec").write_bytes(json.dumps(header).encode() + b"\n" + bytes(64))
    with pytest.raises(RunFolderError, match="not a record log"):
        read_log(tmp_path / "requests.rec")
