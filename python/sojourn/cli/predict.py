"""`sojourn predict`: from a fitted model, or from parameters given on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from sojourn.cli.console import console
from sojourn.cli.json_answer import say_answer
from sojourn.cli.model_file_commands import check_fitted, predict_file
from sojourn.cli.set_option import settings
from sojourn.cli.vary_option import factors
from sojourn.errors import InputError
from sojourn.narrow_tables import WidthAwareTable
from sojourn.table import Metrics
from sojourn.units import USUAL_LEVEL, interval, levels, percent


def predict(
    fitted: Annotated[Path | None, typer.Argument(help="a fitted.toml")] = None,
    model: Annotated[str, typer.Option(help="without a file: two-class or mmm")] = "",
    given: Annotated[
        str,
        typer.Option(
            "--set",
            help="a factor of the runs, or a number in the model file by its path: workers=4,demands_s.cpu.user=0.01; with --model "
            "its parameters: cores=2,nics=2,mu1_per_s=2970,p=1,…",
        ),
    ] = "",
    rate: Annotated[str, typer.Option(help="requests per second: 50..700:50, or rate_per_s in --set")] = "",
    vary: Annotated[
        list[str] | None, typer.Option(help="model file only: stations.cpu.servers=2,4 or users=50..400:50")
    ] = None,
    level: Annotated[float, typer.Option(help="level of the intervals (model file only)")] = USUAL_LEVEL,
    as_json: Annotated[
        bool, typer.Option("--json", help="print one JSON object: method, status, message, rows")
    ] = False,
) -> None:
    """Predicts response times and throughput, with intervals.

    It also says at which rate the service is full. Intervals need a fitted file.
    """
    known = settings(given, "--set")
    if (fitted is None) == (not model):
        raise InputError(
            f"file {fitted}, --model {model or 'none'}", "predict", "give a fitted.toml or --model, not both"
        )
    if fitted is not None:
        check_fitted(fitted)
        predict_file(fitted, _asked(known, rate, vary or []), level, as_json)
        return
    if vary:
        raise InputError(f"--vary {vary[0]}", "predict", "it is for a fitted model file; give --rate and --set")
    rates = (
        levels(rate, "--rate") if rate else levels(str(known.get("rate_per_s", "")), "--rate or rate_per_s in --set")
    )
    known.pop("rate_per_s", None)
    metrics = _from_model(model, rates, known)
    if as_json:
        say_answer("predict", metrics.to_dict())
    else:
        _show(metrics)


def _asked(known: dict[str, Any], rate: str, vary: list[str]) -> dict[str, list[Any]]:
    """Factor or path → values. Raises InputError for one that is given twice, and for a rate that is none."""
    found: dict[str, list[Any]] = {}
    rates: dict[str, list[Any]] = {"rate_per_s": [*levels(rate, "--rate")]} if rate else {}
    for part in ({name: [value] for name, value in known.items()}, rates, factors(vary)):
        for name, values in part.items():
            if name in found:
                raise InputError(f"{name} twice", "predict", "give it in one of --set, --rate and --vary")
            if name == "rate_per_s" and not all(isinstance(v, int | float) and v > 0 for v in values):
                raise InputError(", ".join(map(str, values)), "--rate", "give rates above 0")
            found[name] = values
    return found


def _from_model(model: str, rates: list[float], known: dict[str, Any]) -> Metrics:
    from sojourn.solve import mmm, two_class

    solvers: dict[str, Any] = {"two-class": two_class, "mmm": mmm}
    if model not in solvers:
        raise InputError(repr(model), "--model", f"use one of {', '.join(solvers)}")
    try:
        result: Metrics = solvers[model](rates, **known)
    except TypeError as error:
        names = ", ".join(_keywords(solvers[model]))
        raise InputError(str(error).split("()")[-1].strip(), "--set", f"{model} takes {names}") from None
    return result


def _keywords(function: Any) -> list[str]:
    import inspect

    return [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]


def _show(metrics: Metrics) -> None:
    out = console()
    frame = metrics.frame
    apart = (frame["station"] == "trailing").any()  # cores that take no interrupts; M/M/m knows none
    busy = {"leading": "cores with interrupts", "trailing": "other cores"} if apart else {"leading": "cores busy"}
    table = Table("rate", "response time", "throughput", *busy.values(), "", box=None, header_style="dim")
    for at in frame["rate_per_s"].unique().sort().to_list():
        part = frame.filter(frame["rate_per_s"] == at)
        rows = {(r["station"], r["metric"]): r for r in part.iter_rows(named=True)}
        response = rows[("", "response_time")]
        table.add_row(
            f"{at:g} /s",
            _cell(response, "s"), _cell(rows.get(("", "throughput")), "1/s"),
            *(_cell(rows.get((cores, "utilisation")), "") for cores in busy), response["status"] if response["status"] != "ok" else "",
        )  # fmt: skip
    out.print(WidthAwareTable(table))
    limit = frame.filter((frame["metric"] == "saturation_rate") & (frame["station"] == ""))
    if limit.height:
        out.print(f"saturates at {_cell(limit.row(0, named=True), '1/s')}")
    for line in metrics.message.splitlines():
        # The printed Prop. 3 is a row of its own that this table does not show.
        if not line.startswith("as_printed"):
            out.print(line, style="dim", markup=False)


def _cell(row: dict[str, Any] | None, unit: str) -> str:
    if row is None:
        return ""
    return interval(row["value"], None, None, unit) if unit else percent(row["value"])
