"""The command line's verbs, each imported when it is used."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from sojourn.cli.command_examples import EXAMPLES
from sojourn.cli.first_options import FirstOptions
from sojourn.cli.former_names import FORMER_OPTIONS
from sojourn.cli.verbs import VERBS
from sojourn.terminal import say

FILES = {"try": "trial"}  # verb → file and function, where the verb is a word of Python


EXIT_CODES = (
    "Exit codes: 0 done; 2 bad input; 3 a run is not valid; 4 this machine lacks something; 5 the service failed; 7 an objective is "
    "missed; 8 cannot tell; 130 interrupted. All of them: docs/reference/exit-codes.md"
)
COMPLETES = "_SOJOURN_COMPLETE"  # set by a shell that asks what could follow


def asked_words(arguments: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """The words of the command line; where a shell asks what could follow, those that are there so far."""
    if COMPLETES not in environment:
        return list(arguments)
    return (environment.get("_TYPER_COMPLETE_ARGS") or environment.get("COMP_WORDS", "")).split()[1:]


def command_line(words: Sequence[str] | None = None) -> typer.Typer:
    """The command line. Where its first word is a verb, with this verb only, and where it is none, with their names and what they
    do: to import all of them takes longer than most of them need. None: all of them."""
    one = words is not None and len(words) > 0 and words[0] in VERBS
    app = typer.Typer(
        name="sojourn",
        help="Measure a service under a known load, fit a queueing model, predict what nobody has run.",
        epilog=EXIT_CODES,
        no_args_is_help=True,
        add_completion=not one or COMPLETES in os.environ,
        pretty_exceptions_enable=False,
        context_settings={"token_normalize_func": lambda name: FORMER_OPTIONS.get(name, name)},
    )

    @app.callback()
    def _verbs(
        version: Annotated[
            bool, typer.Option("--version", callback=_version, is_eager=True, help="which version this is")
        ] = False,
    ) -> None:
        """Keeps a single verb a verb: typer would make it the whole command."""

    if words is not None and not one:
        for name, verb in VERBS.items():
            app.command(name, help=verb.line, rich_help_panel=verb.group)(lambda: None)
        return app
    for name in words[:1] if words else VERBS:
        verb, file = VERBS[name], FILES.get(name, name)
        module = import_module(f"sojourn.cli.{file}")
        seen: dict[str, Any] = {"rich_help_panel": verb.group, "epilog": "\n".join(("Examples:", *verb.examples))}
        if (group := getattr(module, "app", None)) is not None:
            for command in group.registered_commands:
                command.cls = FirstOptions
                if examples := EXAMPLES.get(f"{name} {command.name or getattr(command.callback, '__name__', '')}"):
                    command.epilog = "\n".join(("Examples:", *examples))
            app.add_typer(group, name=name, help=verb.line, **seen)
        else:
            app.command(name, cls=getattr(module, "Command", FirstOptions), **seen)(getattr(module, file))
    return app


def _version(asked: bool) -> None:
    from sojourn.version import __version__

    if asked:
        say(f"sojourn {__version__}")
        raise typer.Exit
