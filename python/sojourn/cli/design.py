"""`sojourn design make|analyse`: which runs to make, and what they say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.cli.console import console
from sojourn.cli.json_answer import say_answer
from sojourn.errors import DesignError
from sojourn.terminal import say
from sojourn.units import USUAL_LEVEL

if TYPE_CHECKING:
    import polars as pl

app = typer.Typer(help="Experiment designs: which runs to make, and what they say.", no_args_is_help=True)
SIZE = re.compile(r"2\^(?P<k>\d+)(-(?P<p>\d+))?(\*(?P<r>\d+))?|(?P<kind>full|lhs|sobol)(\*(?P<n>\d+))?")


@app.command()
def make(
    size: Annotated[
        str, typer.Argument(help="2^3*3, 2^(4-1)*2, full*3, lhs*20, sobol*16: kind and repetitions or runs")
    ],
    factor: Annotated[list[str], typer.Option(help="name=level,level; once for each factor")],
    generator: Annotated[list[str] | None, typer.Option(help="of a fraction: D=ABC; once for each")] = None,
    seed: Annotated[int, typer.Option(help="seed of the order and of sampled points")] = 1,
    block: Annotated[str, typer.Option(help="repetition (a new order for each repetition) or none")] = "repetition",
    in_order: Annotated[bool, typer.Option("--in-order", help="do not randomise the order")] = False,
) -> None:
    """Prints a list of runs as CSV.

    The alias table of a fraction goes to standard error.
    """
    from sojourn.design import Factor

    runs = _made(size, [Factor.parse(text) for text in factor], generator or [], seed, block, not in_order)
    say(runs.write_csv(), end="")


def _made(size: str, factors: list[Any], generators: list[str], seed: int, block: str, randomise: bool) -> pl.DataFrame:
    from sojourn.design import alias_table, fractional, full_factorial, latin_hypercube, sobol
    from sojourn.design.factors import two_levels

    found = SIZE.fullmatch(size.replace("(", "").replace(")", "").replace(" ", ""))
    if not found:
        raise DesignError(repr(size), "size", "write 2^3*3, 2^(4-1)*2, full*3, lhs*20 or sobol*16")
    if found["kind"] in ("lhs", "sobol"):
        sampled = latin_hypercube if found["kind"] == "lhs" else sobol
        return sampled(factors, int(found["n"] or 0), seed=seed)
    if found["kind"] == "full":
        return full_factorial(factors, int(found["n"] or 1), seed=seed, block=block, randomise=randomise)
    k, p, r = int(found["k"]), int(found["p"] or 0), int(found["r"] or 1)
    if k != len(two_levels(factors)) or p != len(generators):
        given = f"{len(factors)} factors and {len(generators)} generators"
        raise DesignError(given, f"size {size}", f"give {k} factors and {p} generators (--generator D=ABC)")
    if not p:
        return full_factorial(factors, r, seed=seed, block=block, randomise=randomise)
    aliases = alias_table(factors, generators)
    for effect, others in aliases.iter_rows():
        say(f"{effect} = {others}", err=True)
    return fractional(factors, generators, r, seed=seed, block=block, randomise=randomise)


@app.command()
def analyse(
    runs: Annotated[Path, typer.Argument(help="a run list with its responses filled in")],
    response: Annotated[str, typer.Option(help="the column to explain")],
    factor: Annotated[
        list[str] | None, typer.Option("--factor-column", help="a factor's column; default: those before the response")
    ] = None,
    level: Annotated[float, typer.Option(help="confidence level of the intervals")] = USUAL_LEVEL,
    out: Annotated[Path | None, typer.Option(help="an HTML report with figures")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object")] = False,
) -> None:
    """Says which factors explain a response, and how much.

    Effects with intervals, allocation of variation, analysis of variance, residuals, and a transformation where one helps.
    """
    from sojourn.design.analyse.analysis_report import analysis, document
    from sojourn.design.run_list import read_runs
    from sojourn.report import write_html
    from sojourn.report.terminal_output import print_terminal

    found = analysis(read_runs(runs), response, factor, level)
    if as_json:
        say_answer("design analyse", found.as_dict())
        return
    page = document(found)
    print_terminal(page, console())
    if out:
        write_html(page, out)
        say(f"report: {out}")


@app.command()
def check(
    runs: Annotated[Path, typer.Argument(help="a CSV of benchmark results, a row a run")],
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object")] = False,
) -> None:
    """Says what a table of benchmark results cannot show.

    Load that was not held or was scaled, caches, no background, no repeats, a fixed order. Exit code 7 where something is wrong with it.
    """
    from dataclasses import asdict

    from rich.table import Table

    from sojourn.design.run_list import read_runs
    from sojourn.errors import ObjectiveMissed
    from sojourn.findings.benchmark_critique import criticise
    from sojourn.narrow_tables import WidthAwareTable

    found = criticise(read_runs(runs))
    wrong = [one for one in found if not one.cannot_be_seen]
    if as_json:
        say_answer("design check", {"flaws": [asdict(one) for one in found]})
    else:
        table = Table("", "", "what was seen", "what to do", box=None, header_style="dim")
        for one in found:
            table.add_row(one.name, "not told" if one.cannot_be_seen else "wrong", one.evidence, one.remedy)
        console().print(WidthAwareTable(table) if found else "no fault found that a table can show")
    if wrong:
        raise typer.Exit(ObjectiveMissed.exit_code)
