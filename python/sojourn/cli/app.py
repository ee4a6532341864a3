"""The command line's verbs, each imported when it is used."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from sojourn.terminal import say

# a file each, of the same name, with what the list of verbs says of it: the first paragraph of its own help
VERBS = {
    "capacity": "Finds how many requests per second a service can take within an objective, by a few runs that a model chooses.",
    "compare": "Compares B with A, run by run: better, worse, equivalent within a margin, or cannot tell and how many more runs would.",
    "try": "Tries sojourn on a small service of its own, in about a minute: a ramp, a fit, two predictions, and then their runs.",
    "load": "Puts a known load on a service and says how long answers took, from when they were due and from when sent.",
    "measure": (
        "Measures a service at several rates, or with several numbers of users: requests, host metrics, verdict and Metrics of "
        "each in a run folder."
    ),
    "cpu": "CPU time that a command made the whole machine use, kernel and interrupts included, with its error.",
    "solve": "Solves a model: exactly where that is affordable, else by the best approximation; it says which and why.",
    "methods": "Lists the methods of `sojourn solve`: name, what it is, exact or not, its source.",
    "fit": "Fits models to measured runs: the unknowns of a model file, with intervals; of several, averaged.",
    "predict": (
        "Predicts response time, throughput and utilisation, with intervals where a fit is given, and where it saturates."
    ),
    "simulate": "Simulates a model: means and quantiles with intervals, until they are known to --precision.",
    "validate": "A fitted model beside measured runs, point by point: predicted, its interval, measured, error.",
    "query": "Asks run folders and models a question such as `p99 < 50ms and errors < 0.1%`: yes, no, or cannot tell, and why.",
    "control": (
        "Runs a policy of the number of workers on a model under a load that varies, over a recorded log, or beside a live service."
    ),
    "oscillation": (
        "Says whether the bottleneck oscillates between two resources, and whether means over a second would show it."
    ),
    "report": (
        "Writes one self-contained HTML file: what came out, what limits it, figures, tables, how it was measured."
    ),
    "study": "Runs a study: measure, fit, predict, write the prediction down, run it, compare, report.",
}
FILES = {"try": "trial"}  # verb → file and function, where the verb is a word of Python
# groups with words of their own
GROUPS = {
    "serve": "Starts a service on loopback, until Ctrl-C.",
    "design": "Experiment designs: which runs to make, and what they say.",
    "plan": "Plans capacity: which configuration meets an objective at least cost, and how sure that is.",
    "lab": "The lab: hosts, NICs, interrupt steering on this machine.",
}
FORMER = {"duration": "for"}  # options by a former name


def command_line(words: Sequence[str] | None = None) -> typer.Typer:
    """The command line. Where its first word is a verb, with this verb only, and where it is none, with their names and what they
    do: to import all of them takes longer than most of them need. None: all of them."""
    app = typer.Typer(
        name="sojourn",
        help="Measure a service under a known load, fit a queueing model, predict what nobody has run.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"token_normalize_func": lambda name: FORMER.get(name, name)},
    )

    @app.callback()
    def _verbs(
        version: Annotated[
            bool, typer.Option("--version", callback=_version, is_eager=True, help="which version this is")
        ] = False,
    ) -> None:
        """Keeps a single verb a verb: typer would make it the whole command."""

    if words is not None and (not words or words[0] not in VERBS | GROUPS):
        for name, help_ in (VERBS | GROUPS).items():
            app.command(name, help=help_)(lambda: None)
        return app
    for name in words[:1] if words else VERBS | GROUPS:
        file = FILES.get(name, name)
        module = import_module(f"sojourn.cli.{file}")
        if name in VERBS:
            app.command(name)(getattr(module, file))
        else:
            app.add_typer(module.app, name=name)
    return app


def _version(asked: bool) -> None:
    from sojourn.version import __version__

    if asked:
        say(f"sojourn {__version__}")
        raise typer.Exit
