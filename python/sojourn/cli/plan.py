"""`sojourn plan model.toml --vary cores=1..16 …`: which configuration meets an objective at least cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from sojourn.cli.console import console
from sojourn.cli.json_answer import say_answer
from sojourn.cli.parallel_option import ParallelOption, workers_on
from sojourn.cli.vary_option import factors
from sojourn.errors import ObjectiveMissed
from sojourn.narrow_tables import WidthAwareTable
from sojourn.terminal import say
from sojourn.units import USUAL_LEVEL, duration_s, percent

if TYPE_CHECKING:
    from sojourn.plan import Plan, PlannedConfiguration

MOST_SHOWN = 20  # of the front


def plan(
    model: Annotated[Path, typer.Argument(help="a model file, or a fitted.toml")],
    objective: Annotated[str, typer.Option(help="objective at every load: p99 < 50ms and utilisation{station=cpu} < 0.8")],
    vary: Annotated[
        list[str] | None,
        typer.Option(help="cores=1..16 or stations.cpu.servers=1,2,4; several: all combinations; without it, the model is not varied"),
    ] = None,
    cost: Annotated[
        str, typer.Option(help="formula of the varied numbers: 0.04*cores + 0.01*nics; without it, configurations keep the given order")
    ] = "",
    load: Annotated[str, typer.Option(help="900, 200..900, 600+5%*12 (growth), or a .csv with a column rate_per_s")] = "",
    miss_price: Annotated[float | None, typer.Option(help="price of a missed objective; default: five times the cheapest choice")] = None,
    level: Annotated[float, typer.Option(help="of the intervals")] = USUAL_LEVEL,
    to: Annotated[
        str, typer.Option("--manifest-kind", help="print a manifest instead: hpa, keda, policy (of sojourn control); --vary: replicas")
    ] = "",
    name: Annotated[str, typer.Option("--deployment-name", help="with --manifest-kind: the Deployment")] = "service",
    metric: Annotated[
        str, typer.Option("--pod-metric", help="with --manifest-kind hpa: a metric of pods, requests per second; default: CPU utilisation")
    ] = "",
    query: Annotated[
        str, typer.Option("--prometheus-query", help="of --manifest-kind keda: Prometheus query, requests per second of all; default: CPU")
    ] = "",
    server: Annotated[
        str, typer.Option("--prometheus-server", help="with --prometheus-query: the address of Prometheus in the cluster")
    ] = "",
    scale_down: Annotated[
        str, typer.Option("--scale-down-window", help="with --manifest-kind: how long the most replicas asked for are kept")
    ] = "5m",
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object: the choices, the front, steps, notes")] = False,
    parallel: ParallelOption = "",
) -> None:  # fmt: skip
    """Finds the cheapest configuration that meets an objective.

    Every combination of --vary is tried on the model. It also prints the choice of least regret, the front of cost, violation and
    robustness, what limits each, and what one step more would buy.
    """
    from sojourn.plan import plan as plan_

    if to:
        return _manifest(
            model, vary or [], objective, load, level, duration_s(scale_down, "--scale-down-window"), to,
            {"name": name, "metric": metric, "query": query, "server": server},
        )  # fmt: skip
    with workers_on(parallel, "planning") as workers:
        found = plan_(
            model,
            factors(vary or []),
            objective,
            cost,
            load=load or None,
            miss_price=miss_price,
            level=level,
            parallel=workers,
        )
    if as_json:
        say_answer("plan", found.to_dict())
    else:
        _print(found)
    if found.first is None and found.cheapest_outside_validated_range is None:
        raise typer.Exit(ObjectiveMissed.exit_code)


def _manifest(
    model: Path, vary: list[str], objective: str, load: str, level: float, scale_down_s: float, kind: str, more: dict[str, str]
) -> None:  # fmt: skip
    from sojourn.plan.scaling_manifest import manifest
    from sojourn.plan.scaling_rule import scaling_rule

    rule = scaling_rule(model, factors(vary), objective, load or None, level=level, scale_down_s=scale_down_s)
    say(manifest(rule, kind, **more), end="")


def _print(found: Plan) -> None:
    from sojourn.plan.plan_result import settings_text

    out = console()
    for line in found.lines():
        out.print(line, markup=False, soft_wrap=True)
    robust = "draws that meet it" if found.draws else "room"
    table = Table(
        *(["front", "cost"] if found.cost_given else [""]), "", "violation", robust, "", box=None, header_style="dim"
    )
    seen = {_cells(one)[3:]: one for one in reversed(found.pareto_front)}  # of those that look alike the cheapest
    told = [one for one in found.pareto_front if not found.cost_given or seen[_cells(one)[3:]] is one][:MOST_SHOWN]
    for one in told:
        name, cost, *rest = _cells(one)
        table.add_row(*([name, cost] if found.cost_given else [name]), *rest)
    if found.pareto_front:
        out.print(WidthAwareTable(table))
    if len(found.pareto_front) > len(told):
        more = ", with equal or worse figures" if found.cost_given else ""
        out.print(f"and {len(found.pareto_front) - len(told)} more{more} (--json has all)", style="dim")
    if found.by_load:
        grows = "%" in (found.load or "")
        table = Table(
            *(["period"] if grows else []),
            found.load_name,
            *(["cheapest there", "cost"] if found.cost_given else ["first that meets it"]),
            box=None,
            header_style="dim",
        )
        for period, at in enumerate(found.by_load):
            settings = "none" if at.settings is None else settings_text(at.settings) or "the model unchanged"
            cells = [f"{at.load:g}", settings]
            if found.cost_given:
                cells.append("" if at.cost is None else f"{at.cost:.4g}")
            table.add_row(*([str(period)] if grows else []), *cells)
        out.print(WidthAwareTable(table))
    for line in found.notes:
        out.print(line, style="dim", markup=False)


def _cells(one: PlannedConfiguration) -> tuple[str, ...]:
    violation = max(one.violation, 0.0)
    share = one.share_of_draws_that_meet_it
    robust = percent(max(-one.violation, 0.0) if share is None else share)
    return (
        one.name, "" if one.cost is None else f"{one.cost:.4g}", "; ".join(map(str, one.terms)), percent(violation), robust,
        "outside what was measured" if one.in_validated_range is False else "",
    )  # fmt: skip
