"""`sojourn compare A B`: run folders, two commands or two URLs; better, worse, equivalent, or cannot tell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.cli import http_options as http
from sojourn.cli.console import print_table
from sojourn.cli.json_answer import say_answer
from sojourn.cli.load_command import HttpCommand
from sojourn.cli.machine_option import Wait, held
from sojourn.cli.measure import HOST, cores, shown
from sojourn.cli.option_classes import with_options
from sojourn.cli.query import CANNOT_TELL
from sojourn.cli.verdict_files import Html, Junit, Markdown, check_files, print_lines, write_files
from sojourn.errors import InputError, ObjectiveMissed
from sojourn.load.http_load import HttpOptions
from sojourn.load.load_options import values
from sojourn.terminal import say
from sojourn.units import USUAL_LEVEL, duration_s, share

if TYPE_CHECKING:
    from sojourn.compare import Comparison, InterleavedLimits

Command = HttpCommand  # what `app` takes for this verb
TURN: dict[str, Any] = {"rich_help_panel": "Measured here, in turn"}
UNSAID: dict[str, Any] = {**TURN, "show_default": False}
IN_TURN, URLS, COMMANDS = ("--service-urls", "--commands"), ("--service-urls",), ("--commands",)
OF_URLS = [name for name in http.OF_ONE_REQUEST if name != "unix_socket"]
ONLY_WITH: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("blocks", "within", "seed", "timeout"), IN_TURN),
    **dict.fromkeys(
        ("rate", "users", "length", "connections", "service_runs_on_cores", *OF_URLS, "out", "wait"), URLS,
    ),
    "warm_up": COMMANDS,
}  # fmt: skip


@with_options(HttpOptions, only=OF_URLS)
def compare(
    context: typer.Context,
    sources: Annotated[
        list[Path] | None, typer.Argument(help="A and B: run folders, or folders that hold them; or one that holds a and b")
    ] = None,
    commands: Annotated[tuple[str, str] | None, typer.Option(help="two commands, run in turn", show_default=False)] = None,
    service_urls: Annotated[tuple[str, str] | None, typer.Option(help="two URLs, loaded in turn", show_default=False)] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="compared: mean, p50, p90, p99, throughput, demand; of commands time, cpu; several times", show_default=False),
    ] = None,
    margin: Annotated[str, typer.Option("--equivalence-margin", help="largest relative difference that does not matter")] = "5%",
    level: Annotated[float, typer.Option(help="of the intervals")] = USUAL_LEVEL,
    blocks: Annotated[int, typer.Option(help="number of blocks; each holds one run of A and one of B", **TURN)] = 10,
    within: Annotated[str, typer.Option(help="time limit for all blocks", **TURN)] = "3m",
    warm_up: Annotated[int, typer.Option("--warm-up-runs", help="commands: warm-up runs of each", **TURN)] = 1,
    rate: Annotated[float | None, typer.Option(help="URLs: requests per second", **UNSAID)] = None,
    users: Annotated[int | None, typer.Option(help="URLs: closed loop with this many users", **UNSAID)] = None,
    length: Annotated[str, typer.Option("--for", help="URLs: length of each run", **TURN)] = "6s",
    connections: Annotated[int, typer.Option(help="URLs: connections opened before the start", **TURN)] = 64,
    timeout: Annotated[str | None, typer.Option(help="time limit: of a request (default: 10s), of a command (10m)", **UNSAID)] = None,
    seed: Annotated[
        int | None, typer.Option(help="repeats the order and the schedules (default: a new seed each time)", **UNSAID)
    ] = None,
    service_runs_on_cores: Annotated[
        str, typer.Option(help="URLs: cores they run on, e.g. 0,1; default: those their processes may use, else all", **HOST)
    ] = "",
    wait: Wait = None,
    out: Annotated[Path | None, typer.Option(help="URLs: folder for the runs (default: runs/compare-TIME)", show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the answer as one JSON object")] = False,
    markdown: Markdown = None,
    junit: Junit = None,
    html: Html = None,
    **given: Any,
) -> None:  # fmt: skip
    """Says whether B is slower than A, or cannot tell.

    The answer is better, worse, equivalent within --equivalence-margin, or cannot tell and how many more runs would.
    A difference has an interval, and equivalence a test of its own: that no difference was found does not show that there is none. Exit
    code 0: better or equivalent, 7: worse, 8: cannot tell.
    """
    from sojourn.compare import InterleavedLimits
    from sojourn.compare.comparison_report import comparison_document, junit_cases

    if sum(given is not None for given in (sources or None, commands, service_urls)) != 1:
        raise InputError("A and B", "compare", "give two folders, or --commands 'A' 'B', or --service-urls A B")
    _only_what_means_something(context, "--service-urls" if service_urls else "--commands" if commands else "")
    check_files(markdown, junit, html)
    judged: dict[str, Any] = {
        "metrics": metric or (),
        "equivalence_margin": share(margin, "--equivalence-margin"),
        "level": level,
    }
    if sources:
        found = _folders(sources, judged)
    else:
        limits = InterleavedLimits(blocks, duration_s(within, "--within"), seed)
        if commands is not None:
            found = _commands(commands, limits, warm_up, timeout, judged)
        else:
            assert service_urls is not None
            load = values(HttpOptions, given)
            load |= {
                "connections": connections, "timeout_s": duration_s(timeout or "10s", "--timeout"), "rate_per_s": rate, "users": users,
                "run_s": duration_s(length, "--for"), "cores": cores(service_runs_on_cores, "--service-runs-on-cores"), "out": out,
            }  # fmt: skip
            with held("compare", wait, service_urls):
                found = _urls(service_urls, limits, load, judged)
    say_answer("compare", found.to_dict()) if as_json else _tell(found)
    write_files("compare", comparison_document(found), junit_cases(found), markdown, junit, html)
    raise typer.Exit({"worse": ObjectiveMissed.exit_code, "cannot tell": CANNOT_TELL}.get(found.verdict, 0))


def _only_what_means_something(context: typer.Context, kind: str) -> None:
    """Raises InputError for an option that was given and means nothing for this kind of sides."""
    for option in context.command.params:
        kinds = ONLY_WITH.get(option.name or "")
        source = context.get_parameter_source(option.name or "")
        if kinds and kind not in kinds and source is not None and source.name != "DEFAULT":
            has = f"{' and '.join(kinds)} {'have' if len(kinds) > 1 else 'has'}"
            raise InputError(option.opts[0], "compare", f"only {has} this; remove it")


def _folders(sources: list[Path], judged: dict[str, Any]) -> Comparison:
    from sojourn.compare import compare as compare_runs
    from sojourn.compare.comparison import names_of

    if len(sources) == 1:
        sources = [sources[0] / side for side in ("a", "b")]
    if len(sources) != 2:
        raise InputError(f"{len(sources)} folders", "compare", "give two, A and B; a folder may hold several runs")
    return compare_runs(sources[0], sources[1], names=names_of(*sources), **judged)


def _commands(
    run: tuple[str, str], limits: InterleavedLimits, warm_up: int, timeout: str | None, judged: dict[str, Any]
) -> Comparison:
    from sojourn.compare import compare_commands
    from sojourn.compare.compare_commands import TIMEOUT_S

    timeout_s = TIMEOUT_S if timeout is None else duration_s(timeout, "--timeout")
    return compare_commands(
        run[0], run[1], limits=limits, warm_up=warm_up, timeout_s=timeout_s, told=_progress, **judged
    )


def _urls(url: tuple[str, str], limits: InterleavedLimits, load: dict[str, Any], judged: dict[str, Any]) -> Comparison:
    from sojourn.compare import compare_urls

    return compare_urls(url[0], url[1], limits=limits, told=_progress, shown=shown, **load, **judged)


def _progress(line: str) -> None:
    say(line, err=True)


def _tell(found: Comparison) -> None:
    from rich.table import Table

    first, *rest = found.lines()
    print_lines([first], bold=True)
    table = Table(
        "metric", *found.names, f"{found.names[1]} against {found.names[0]}", "verdict", box=None, header_style="dim"
    )
    for one in found.metrics:
        table.add_row(*one.cells)
    print_table(table)
    print_lines(rest)
