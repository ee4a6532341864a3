"""Verbs by a former name: still understood, and the present name is said."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sojourn.cases import commands

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
A_WORD = re.compile(r"[a-z][a-z-]*")


def present(words: Sequence[str]) -> tuple[list[str], str]:
    """The words as they are called now, and what to say about it; "" where nothing has changed."""
    if words[:1] == ["control"] and _is_former_control(words[1:]):
        return _below_control(words[1:])
    new = FORMER.get(tuple(words[:2]))
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
    return [
        "control",
        "simulate",
        *words,
    ], "sojourn control POLICY --on is now called sojourn control simulate POLICY --on"
