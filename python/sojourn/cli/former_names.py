"""Verbs and options by a former name: still understood, and the present name is said."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sojourn.cases import commands
from sojourn.cli.former_options import OPTIONS_OF

# words at the beginning → those in their place
FORMER: dict[tuple[str, ...], tuple[str, ...]] = {
    ("plan", "configurations"): ("plan",),
    ("plan", "merge"): ("calc", "merge"),
    ("plan", "table"): ("calc", "table"),
    ("plan", "balance"): ("calc", "balance"),
    ("lab", "doctor"): ("doctor",),
}
FORMER_OPTIONS = {"duration": "for"}  # without their dashes
CONTROL = {
    "--replay": "replay",
    "--live": "live",
}  # options of `control` that are commands below it now; else it is `simulate`
FORMERLY = {"--on", *CONTROL}
BEFORE_A_COMMAND = [
    "lab",
    "disk",
]  # each of its options takes a value; behind them stands another program's command line
A_WORD = re.compile(r"[a-z][a-z-]*")


def present(words: Sequence[str]) -> tuple[list[str], str]:
    """The words as they are called now, and what to say about it, a line for each; "" where nothing has changed."""
    now, note = _present_verb(words)
    options = OPTIONS_OF.get(" ".join(now[:2])) or OPTIONS_OF.get(" ".join(now[:1]), {})
    notes = [note] if note else []
    end = _command_at(now) if now[:2] == BEFORE_A_COMMAND else None
    for at, word in enumerate(now):
        option, equals, value = word.partition("=")
        if option == "--" or at == end:
            break
        if (new := options.get(option)) is not None:
            now[at : at + 1] = [new + equals + value] if " " not in new else new.split(" ")
            notes.append(f"{option} is now called {new}")
    return now, "\n".join(notes)


def _command_at(words: Sequence[str]) -> int:
    """Where the command to run begins."""
    at = len(BEFORE_A_COMMAND)
    while at < len(words) and words[at].startswith("-"):
        at += 1 if "=" in words[at] else 2
    return at


def _present_verb(words: Sequence[str]) -> tuple[list[str], str]:
    if words[:1] == ["control"] and _is_former_control(words[1:]):
        return _below_control(words[1:])
    new: tuple[str, ...] | None = FORMER.get(tuple(words[:2]))
    if new is None and words[:1] == ["plan"] and len(words) > 1 and A_WORD.fullmatch(words[1]):
        new = ("calc", words[1]) if words[1] in commands("calc", {}) else None  # of a case
    if new is None:
        return list(words), ""
    return [*new, *words[2:]], f"sojourn {' '.join(words[:2])} is now called sojourn {' '.join(new)}"


def _is_former_control(words: Sequence[str]) -> bool:
    """Whether an option that `control` had is among them. A plain word at the beginning is a command, perhaps mistyped, and no file."""
    if not words or A_WORD.fullmatch(words[0]):
        return False
    return any(word.partition("=")[0] in FORMERLY for word in words)


def _below_control(words: Sequence[str]) -> tuple[list[str], str]:
    """`policy.toml --replay FOLDER` as `control replay policy.toml FOLDER`."""
    for at, word in enumerate(words):
        option, equals, value = word.partition("=")
        if (name := CONTROL.get(option)) is not None:
            last = [value] if equals else list(words[at + 1 : at + 2])
            rest = [*words[:at], *words[at + (1 if equals else 2) :], *last]
            now = f"sojourn control {name} POLICY {'FOLDER' if name == 'replay' else 'SERVICE'}"
            return ["control", name, *rest], f"sojourn control {option} is now called {now}"
    words = ["--model" if word == "--on" else word for word in words]
    return [
        "control",
        "simulate",
        *words,
    ], "sojourn control POLICY --on is now called sojourn control simulate POLICY --model"
