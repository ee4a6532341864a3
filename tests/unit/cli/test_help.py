"""`sojourn --help` and the help of each verb: groups, one short line, three examples that parse, ten options first."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from sojourn.cli.app import asked_words, command_line
from sojourn.cli.command_examples import EXAMPLES
from sojourn.cli.former_names import FORMER, present
from sojourn.cli.former_options import OPTIONS_OF
from sojourn.cli.verbs import ASK, DECIDE, MACHINE, MODEL, STUDY, VERBS

LONGEST_LINE = 60  # of the description of a verb: with its name within 80 columns
MOST_FIRST = 10
COLOURS = ("NO_COLOR", "FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TERMINAL_WIDTH", "COLUMNS")  # of the caller
GROUPS = [ASK, MODEL, DECIDE, STUDY, MACHINE]


def leaves(command: Any, name: str = "sojourn") -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield name, command
    for inside in ("commands", "protocols"):
        for part, inner in getattr(command, inside, {}).items():
            yield from leaves(inner, f"{name} {part}")


def sojourn(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sojourn", *words]
    plain = {name: value for name, value in os.environ.items() if name not in COLOURS}
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**plain, **variables})


@pytest.fixture(scope="module")
def whole() -> Any:
    return get_command(command_line())


def test_every_verb_has_a_group_and_a_short_line(whole: Any) -> None:
    assert set(whole.commands) == set(VERBS)
    for name, verb in VERBS.items():
        assert verb.group in GROUPS and len(verb.line) <= LONGEST_LINE and verb.line.endswith("."), name
        assert whole.commands[name].rich_help_panel == verb.group


def test_the_list_shows_the_groups_in_order_and_ends_with_the_exit_codes() -> None:
    said = CliRunner().invoke(command_line([]), ["--help"], env={"COLUMNS": "80"}).output
    at = [said.index(f"─ {group} ─") for group in GROUPS]
    assert at == sorted(at) and all(len(line) <= 80 for line in said.splitlines())
    end = said[said.index("Exit codes:") :]
    assert "7 an objective is missed" in " ".join(end.split()) and "docs/reference/exit-codes.md" in end
    assert "╭" not in end  # nothing stands behind them


@pytest.mark.parametrize("name", VERBS)
def test_three_examples_that_the_verb_understands(whole: Any, name: str) -> None:
    assert len(set(VERBS[name].examples)) == 3
    for example in VERBS[name].examples:
        words = shlex.split(example.removeprefix("sudo "))
        assert words[:2] == ["sojourn", name] and len(example) <= 100
        command, rest = whole.commands[name], words[2:]
        if "--help" in rest:
            continue
        while hasattr(command, "commands"):
            command, rest = command.commands[rest[0]], rest[1:]
        command.make_context(example, rest)  # raises for what it does not know or lacks; runs nothing
    said = CliRunner().invoke(command_line([name]), [name, "--help"], env={"COLUMNS": "140"}).output
    assert all(example in said for example in VERBS[name].examples)


def test_at_most_ten_options_come_first(whole: Any) -> None:
    many = 0
    for name, command in leaves(whole):
        own = [one for one in command.params if one.param_type_name == "option"]
        assert len([one for one in own if not one.rich_help_panel]) <= MOST_FIRST, name
        many += any(one.rich_help_panel == "More options" for one in own)
    assert many >= 5
    for name, verb in VERBS.items():
        verbs = [whole.commands[name], *getattr(whole.commands[name], "protocols", {}).values()]
        known = {param.name for one in verbs for param in getattr(one, "params", ())}
        assert set(verb.more) <= known, name


@pytest.mark.parametrize("old", FORMER)
def test_a_former_name_is_understood_and_the_new_one_is_said(old: tuple[str, ...]) -> None:
    words, note = present([*old, "--json"])
    assert words == [*FORMER[old], "--json"] and note.endswith(f"sojourn {' '.join(FORMER[old])}")
    said = sojourn(*old, "--help")
    assert said.returncode == 0 and said.stderr.splitlines() == [note]
    assert f"sojourn {' '.join(FORMER[old])} " in said.stdout.splitlines()[1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("policy.toml --on m.toml --load sine", "simulate policy.toml --model m.toml --load sine"),
        ("policy.toml --replay runs/1 --workers 8", "replay policy.toml --recorded-workers 8 runs/1"),
        ("--live=http://h:1 policy.toml --act", "live policy.toml --act http://h:1"),
    ],
)
def test_the_commands_below_control_were_options_of_it(old: str, new: str) -> None:
    words, note = present(["control", *old.split()])
    assert words == ["control", *new.split()] and "is now called sojourn control" in note
    assert present(words) == (words, "") and present(["control", "--help"])[1] == ""
    command = get_command(command_line(["control"])).commands["control"].commands[words[1]]  # type: ignore[attr-defined]
    command.make_context(old, words[2:])


@pytest.mark.parametrize(("command", "old"), [(verb, old) for verb, olds in OPTIONS_OF.items() for old in olds])
def test_a_former_option_is_understood_and_the_new_one_is_said(whole: Any, command: str, old: str) -> None:
    first = [] if command == "lab disk" else ["x"]  # a word there begins a command
    words, note = present([*command.split(), *first, f"{old}=7", "--", old])
    new, _, value = OPTIONS_OF[command][old].partition(" ")
    changed = [new, value] if value else [f"{new}=7"]
    assert words == [*command.split(), *first, *changed, "--", old]
    assert note == f"{old} is now called {OPTIONS_OF[command][old]}"
    verb = whole
    for name in command.split():
        verb = verb.commands[name]
    known = {
        flag
        for one in (verb, *getattr(verb, "protocols", {}).values())
        for param in one.params
        for flag in (*param.opts, *param.secondary_opts)
    }
    assert new in known and old not in known


def test_former_options_beside_each_other_and_those_of_another_program() -> None:
    words, note = present(["load", "file:/x", "--csv", "--read", "1", "--span=1g"])
    assert words == ["load", "file:/x", "--output-format", "csv", "--read-fraction", "1", "--region-size=1g"]
    assert len(note.splitlines()) == 3
    ran = ["lab", "disk", "--size", "1G", "--at", "/tmp", "touch", "--at", "x"]
    assert present(ran)[0] == [*ran[:4], "--image-folder", *ran[5:]]
    kept = ["fit", "runs", "--overwrite", "--rate", "5"]  # of other verbs
    assert present(kept) == (kept, "")


@pytest.mark.parametrize("typed", ["", "si", "policy.toml", "simulat policy.toml --on m.toml", "--help"])
def test_words_below_control_that_were_none_of_its_options(typed: str) -> None:
    words = ["control", *typed.split()]
    assert present(words) == (words, "")


def test_commands_of_cases_were_below_plan() -> None:
    assert present(["plan", "storage", "--json"])[0] == ["calc", "storage", "--json"]
    assert present(["plan", "nothing-of-a-case"]) == (["plan", "nothing-of-a-case"], "")


def test_commands_below_a_verb_have_a_short_first_line(whole: Any) -> None:
    for name, command in leaves(whole):
        said = (command.help or "").partition("\n\n")[0]
        assert said.endswith(".") and len(said) <= LONGEST_LINE, (name, said)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_commands_below_a_verb(whole: Any, name: str) -> None:
    verb, part = name.split()
    for example in EXAMPLES[name]:
        words = shlex.split(example.removeprefix("sudo "))
        assert words[:3] == ["sojourn", verb, part] and len(example) <= 100
        whole.commands[verb].commands[part].make_context(example, words[3:])
    said = CliRunner().invoke(command_line([verb]), [verb, part, "--help"], env={"COLUMNS": "140"}).output
    assert all(example in said for example in EXAMPLES[name])


def test_what_is_no_former_name_stays() -> None:
    assert present(["plan", "model.toml"]) == (["plan", "model.toml"], "")
    assert present([]) == ([], "")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("sojourn mea", ["measure"]),
        ("sojourn load --rat", ["--rate"]),
        ("sojourn calc ba", ["balance"]),
        ("sojourn calc storage --read", ["--read-fraction"]),  # a former name, not yet typed to its end
    ],
)
def test_a_shell_is_told_what_could_follow(typed: str, offered: list[str]) -> None:
    """As the script of `sojourn --show-completion bash` asks."""
    asks = {"COMP_WORDS": typed.replace(" ", "\n"), "COMP_CWORD": str(typed.count(" "))}
    code = "import sys; from sojourn.cli import main; sys.argv = ['sojourn']; main()"
    command = [sys.executable, "-c", code]
    env = {**os.environ, "_SOJOURN_COMPLETE": "complete_bash", **asks}
    said = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert said.stdout.split() == offered and not said.stderr, said.stderr
    zsh = {"_SOJOURN_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": typed}
    assert asked_words(["anything"], zsh) == typed.split()[1:]


def test_completion_is_offered() -> None:
    said = sojourn("--help")
    assert "--install-completion" in said.stdout and "--show-completion" in said.stdout


def test_no_colour_is_asked_for_by_its_variable() -> None:
    """https://no-color.org: a variable that is not empty, whatever its value; FORCE_COLOR stands for a terminal here."""
    coloured = sojourn("methods", FORCE_COLOR="1", TERM="xterm-256color")
    plain = sojourn("methods", FORCE_COLOR="1", NO_COLOR="1", TERM="xterm-256color")
    assert "\x1b[3" in coloured.stdout or "\x1b[2" in coloured.stdout
    assert not [part for part in plain.stdout.split("\x1b[")[1:] if part.startswith(("3", "4", "9"))]
