"""`sojourn try`: no service at hand: what sojourn does, shown on a small one of its own, in about a minute."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sojourn.cli.console import console, print_table
from sojourn.cli.json_answer import say_answer
from sojourn.cli.load_run import end
from sojourn.cli.measure import shown
from sojourn.terminal import say
from sojourn.units import seconds

if TYPE_CHECKING:
    from sojourn.trial import Trial

OWN = "for a service of your own:  sojourn capacity http://127.0.0.1:8080/ --objective 'p99 < 50ms'"


def trial(
    out: Annotated[Path | None, typer.Option(help="folder for the results (default: runs/try-TIME)", show_default=False)] = None,
    seed: Annotated[
        int | None, typer.Option(help="repeats the schedules (default: a new seed each time)", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the result as one JSON object")] = False,
) -> None:  # fmt: skip
    """Measures, fits and predicts a small service, in a minute.

    A ramp, a fit, two predictions, and then the runs that check them.
    It starts an HTTP service on loopback with two workers, measures it at a little more than half of what it bears, and predicts more load
    and twice the workers before they are run.
    """
    from sojourn.trial import trial as try_it

    found = try_it(out, seed=seed, shown=shown, told=lambda line: say(line, err=as_json))
    if as_json:
        say_answer("try", found.to_dict())
    else:
        _tell(found)
    end([f"{one.where}: {reason}" for one in found.predictions for reason in one.reasons], "try")


def _tell(found: Trial) -> None:
    from rich.table import Table

    table = Table("", "mean response time, predicted", "then measured", "", box=None, header_style="dim")
    for one in found.predictions:
        table.add_row(one.where, one.predicted_text, seconds(one.measured), one.told)
    print_table(table)
    printed = console()
    for line in (found.last_line(), OWN):
        printed.print(line, markup=False, highlight=False, soft_wrap=True)
