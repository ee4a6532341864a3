"""Every `sojourn …` command that README and docs show is one that the command line accepts; nothing is run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from sojourn.cli.app import command_line
from sojourn.cli.verbs import VERBS

ROOT = Path(__file__).resolve().parents[2]
GENERATED = {"commands.md", "python.md"}  # from the options themselves
PAGES = [
    ROOT / "README.md",
    *(p for p in sorted((ROOT / "docs").rglob("*.md")) if p.name not in GENERATED and p.parent.name != "decisions"),
]
LINE = re.compile(r"^ {4,}(?:\$ )?(?:sudo )?(sojourn [a-z].*)$", re.MULTILINE)
INLINE = re.compile(r"`((?:sudo )?sojourn [a-z][^`]*)`")


@cache
def whole() -> Any:
    return get_command(command_line())


def blocks(text: str) -> Iterator[str]:
    """Commands on lines of their own, in indented and in console or sh blocks, without the words beside them."""
    fenced = re.sub(
        r"```(\w*)\n(.*?)```", lambda m: indented(m[2]) if m[1] in ("console", "sh") else "", text, flags=re.DOTALL
    )
    fenced = re.sub(r" \\\n\s+", " ", fenced)
    for found in LINE.finditer(fenced):
        yield re.split(r" {2,}| # ", found[1])[0]


def indented(text: str) -> str:
    return "\n" + "".join(f"    {line}\n" for line in text.splitlines()) + "\n"


def inline(text: str) -> Iterator[str]:
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for found in INLINE.finditer(text):
        yield " ".join(found[1].removeprefix("sudo ").split())


def words_of(line: str) -> list[str]:
    """The words of the first command: a pipe, a redirection or a further command ends it."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";|&>")
    lexer.whitespace_split, found = True, []
    for word in lexer:
        if set(word) <= set(";|&>"):
            break
        found.append(word)
    return found


def leaf(words: list[str]) -> tuple[Any, list[str]]:
    """The command that the words name, and what follows them."""
    command, rest = whole(), words
    while hasattr(command, "commands") and rest and rest[0] in command.commands:
        command, rest = command.commands[rest[0]], rest[1:]
    return command, rest


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_command_on_its_own_line_is_accepted_whole(page: Path) -> None:
    for line in blocks(page.read_text()):
        words = words_of(line)
        command, rest = leaf(words[1:])
        if not {"--help", "…", "..."} & set(rest):
            command.make_context(line, rest)  # raises for what it does not know or lacks


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_verbs_and_options_within_sentences_exist(page: Path) -> None:
    for line in inline(page.read_text()):
        words = re.sub(r"['\"]", "", line).split()
        command, rest = leaf(words[1:])
        assert command is not whole() or words[1] in VERBS, line
        known = {flag for one in command.params for flag in (*one.opts, *one.secondary_opts)} | {"--help", "--version"}
        if words[1] == "load" or "…" in words:  # its options depend on the URL; any of its commands
            known |= set(re.findall(r"`(--[a-z-]+)", (ROOT / "docs/reference/commands.md").read_text()))
        given = rest[: rest.index("--")] if "--" in rest else rest
        options = {re.sub(r"[=,;.)].*", "", word) for word in given if word.startswith("--")}
        assert options <= known, f"{line}: {sorted(options - known)}"


def test_a_command_that_does_not_exist_is_seen() -> None:
    assert words_of("sojourn query 'p99 > 1s; x' runs | head") == ["sojourn", "query", "p99 > 1s; x", "runs"]
    assert list(blocks("text\n\n    $ sojourn load URL --ratte 5    a comment\n")) == ["sojourn load URL --ratte 5"]
    with pytest.raises(Exception, match="ratte"):
        leaf(["load"])[0].make_context("load", ["URL", "--ratte", "5"])
