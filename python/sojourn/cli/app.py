"""The command line's verbs, each imported when it is used."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import typer

# a file each, of the same name; the last two are groups with words of their own
VERBS = ("load", "measure", "solve", "methods", "fit", "predict", "simulate", "validate", "report", "study")
GROUPS = ("serve", "design", "lab")


def command_line(words: Sequence[str] = ()) -> typer.Typer:
    """The command line; where its first word is a verb, with this verb only: to import all of them takes longer than
    most of them need."""
    app = typer.Typer(
        name="sojourn",
        help="Measure a service under a known load, fit a queueing model, predict what nobody has run.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )

    @app.callback()
    def _verbs() -> None:
        """Keeps a single verb a verb: typer would make it the whole command."""

    asked = tuple(words[:1])
    named = asked if asked and asked[0] in (*VERBS, *GROUPS) else (*VERBS, *GROUPS)
    for name in named:
        module = import_module(f"sojourn.cli.{name}")
        if name in VERBS:
            app.command(name)(getattr(module, name))
        else:
            app.add_typer(module.app, name=name)
    return app
