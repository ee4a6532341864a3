"""Every verb of the command line with its arguments and options, from typer."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import typer

from reference.markdown import plain, table
from sojourn.cli.app import command_line
from sojourn.cli.verbs import VERBS

HEAD = """# Commands

Every verb with its arguments and options. `sojourn VERB --help` says the same. What commands end with:
[exit codes](exit-codes.md). Times are written `250ms`, `8s`, `2m`, and a number
without a unit is in seconds: `8` is `8s`. Levels are written `50,100` or `50..350:50`.

- **Completion**: `sojourn --install-completion` sets it up for bash, zsh, fish or PowerShell. `--show-completion` only prints the
  script.
- **Colours** need a terminal. The environment variable `NO_COLOR=1` switches them off.
- **Without a terminal**, in a pipe or in CI, no progress is drawn. Tables are then 140 columns wide.
- **`--json`** prints one JSON object on standard output. Everything else goes to standard error.
"""
KINDS = {int: "whole number", float: "number", Path: "file or folder"}


def page() -> str:
    command = typer.main.get_command(command_line())
    return f"{HEAD}\n{overview()}\n" + "\n".join(
        part for name in VERBS for part in sections(command.commands[name], f"sojourn {name}")
    )


def overview() -> str:
    """The list of verbs in their groups, as `sojourn --help` has it."""
    return table(("group", "verb", "what it does"), ((one.group, f"`{name}`", one.line) for name, one in VERBS.items()))


def sections(command: Any, name: str) -> Iterator[str]:
    """The command itself, or those of a group, in order."""
    if not hasattr(command, "commands"):
        yield section(command, name)
        common = {param.name for param in command.params}
        for url, inner in getattr(command, "protocols", {}).items():
            yield section(inner, f"{name} {url}", common)
        return
    for part, inner in command.commands.items():
        if not inner.hidden:
            yield from sections(inner, f"{name} {part}")


def section(command: Any, name: str, common: Collection[str] = ()) -> str:
    """`common`: options that stand in the section of the command without a URL."""
    params = [p for p in command.params if p.name not in common]
    arguments = [p for p in params if p.param_type_name == "argument"]
    options = [p for p in params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join([name, *(placeholder(p) for p in arguments), *(["[OPTIONS]"] if options else [])])
    parts = [f"## `{name}`\n", plain(" ".join((command.help or "").split())) + "\n", f"    {usage}\n"]
    if arguments:
        parts.append(table(("argument", "meaning"), ((f"`{p.metavar or p.name.upper()}`", said(p)) for p in arguments)))
    for panel in dict.fromkeys(p.rich_help_panel for p in sorted(options, key=lambda p: p.rich_help_panel is not None)):
        rows = ((flags(p), kind(p), default(p), said(p)) for p in options if p.rich_help_panel == panel)
        parts.append(table((panel or "option", "value", "default", "meaning"), rows))
    if examples := [line for line in (command.epilog or "").splitlines() if line.startswith(("sojourn ", "sudo "))]:
        parts.append("Examples:\n")
        parts.append("\n".join(f"    {example}" for example in examples) + "\n")
    return "\n".join(parts)


def placeholder(param: Any) -> str:
    name = (param.metavar or param.name).upper() + ("..." if param.nargs == -1 else "")
    return name if param.required else f"[{name}]"


def flags(param: Any) -> str:
    both = [*param.opts, *param.secondary_opts]
    return ", ".join(f"`{flag}`" for flag in both)


def kind(param: Any) -> str:
    if param.is_flag:
        return ""
    annotation = param.type_descriptor.annotation
    one = (get_args(annotation) or (annotation,))[0] if get_origin(annotation) is list else annotation
    return KINDS.get(one, "text") + (", several times" if param.multiple else "")


def default(param: Any) -> str:
    if param.required:
        return "–"
    value = param.default
    if value is None or value is False or value == "" or callable(value) or (param.is_flag and value is True):
        return ""
    return f"`{value}`"


def said(param: Any) -> str:
    return param.help or ""
