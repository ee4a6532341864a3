"""`sojourn plan model.toml --vary cores=1..16 …`: which configuration meets an objective at least cost."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from typer.core import TyperGroup

from sojourn.cases import commands, imported
from sojourn.cli.console import console, finite, print_table
from sojourn.cli.on_option import OnOption, workers_on
from sojourn.cli.vary_option import factors
from sojourn.errors import ObjectiveMissed
from sojourn.narrow_tables import WidthAwareTable
from sojourn.terminal import say
from sojourn.units import USUAL_LEVEL, duration_s, levels, per_second, percent, seconds

if TYPE_CHECKING:
    from sojourn.plan import Plan, PlannedConfiguration

HERE = "configurations"
MOST_SHOWN = 20  # of the front


class _WithoutItsName(TyperGroup):
    """`sojourn plan model.toml` is `sojourn plan configurations model.toml`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        known = args and (args[0] in self.commands or args[0].startswith("-"))
        return super().resolve_command(ctx, args if known else [HERE, *args])


app = typer.Typer(
    cls=_WithoutItsName, no_args_is_help=True,
    help="Plans capacity: which configuration meets an objective at least cost, and how sure that is.",
)  # fmt: skip


@app.command(HERE)
def configurations(
    model: Annotated[Path, typer.Argument(help="a model file, or a fitted.toml")],
    objective: Annotated[str, typer.Option(help="what must hold at every load: p99 < 50ms and utilisation{station=cpu} < 0.8")],
    vary: Annotated[
        list[str] | None,
        typer.Option(help="cores=1..16 or stations.cpu.servers=1,2,4; several: all combinations; none: the model as it is"),
    ] = None,
    cost: Annotated[
        str, typer.Option(help="arithmetic of what is varied: 0.04*cores + 0.01*nics; without: all, in the order given")
    ] = "",
    load: Annotated[str, typer.Option(help="900, 200..900, 600+5%*12 (growth), or a .csv with a column rate_per_s")] = "",
    price: Annotated[float | None, typer.Option(help="of a missed objective; without: five times the cheapest choice")] = None,
    level: Annotated[float, typer.Option(help="of the intervals")] = USUAL_LEVEL,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object: the choices, the front, steps, notes")] = False,
    on: OnOption = "",
) -> None:  # fmt: skip
    """Every combination of --vary on the model: the cheapest that meets the objective, least regret, the front of cost, violation
    and robustness, what binds, and what one step more would buy. Its name may be left out."""
    from sojourn.plan import plan as plan_

    with workers_on(on, "planning") as workers:
        found = plan_(
            model, factors(vary or []), objective, cost, load=load or None, price=price, level=level, on=workers
        )
    if as_json:
        say(json.dumps(finite(found.to_dict()), allow_nan=False, ensure_ascii=False))
    else:
        _print(found)
    if found.first is None and found.cheapest_outside is None:
        raise typer.Exit(ObjectiveMissed.exit_code)


@app.command()
def merge(
    models: Annotated[list[Path], typer.Argument(help="model files of one queue each")],
    servers: Annotated[int | None, typer.Option(help="of the merged queue; without: all of them")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object: desks, whole, by_desk, priorities, notes")] = False,
) -> None:  # fmt: skip
    """Puts queues together: one line before all servers, and what each desk's customers gain or lose by it."""
    from sojourn.plan import merge as merge_

    found = merge_(*models, servers=servers)
    if as_json:
        say(json.dumps(finite(asdict(found)), allow_nan=False, ensure_ascii=False))
        return
    table = Table("", "servers", "calls", "service", "busy", "wait", "response", "", box=None, header_style="dim")
    for one in (*found.desks, found.whole):
        how = one.method if one.status == "ok" else f"{one.method}, {one.status}"
        times = (seconds(t, 5) for t in (one.waiting_s, one.response_s))
        table.add_row(
            one.name,
            str(one.servers),
            per_second(one.rate_per_s),
            seconds(one.service_s, 4),
            percent(one.utilisation),
            *times,
            how,
        )
    out = console()
    out.print(WidthAwareTable(table))
    for order in found.priorities:
        waits = ", ".join(f"{name} {seconds(wait, 4)}" for name, wait in order.waiting_s.items())
        out.print(f"old customers of {order.first} first: waits {waits}", markup=False)
    for line in found.notes:
        out.print(line, style="dim", markup=False)


@app.command("table")
def table_(
    servers: Annotated[int, typer.Option(help="equal servers with one line")],
    service: Annotated[str, typer.Option(help="mean service time, as 127us")],
    utilisation: Annotated[str, typer.Option(help="of a server, in per cent: 0..80:20 or 50,70,90")] = "0..80:20",
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object: rows in SI units")] = False,
) -> None:  # fmt: skip
    """Response times of one station at growing load (M/M/m)."""
    from sojourn.plan import staff_table

    rows = staff_table(
        servers, duration_s(service, "--service"), [u / 100 for u in levels(utilisation, "--utilisation")]
    )
    if as_json:
        say(json.dumps({"rows": finite(rows.to_dicts())}, allow_nan=False))
        return
    shown = Table("busy", "rate", "response", "wait", "waits", "p99", box=None, header_style="dim")
    for row in rows.iter_rows(named=True):
        shown.add_row(
            percent(row["utilisation"]), per_second(row["rate_per_s"]), seconds(row["response_s"], 4), seconds(row["waiting_s"]),
            percent(row["waits"]), seconds(row["p99_s"]),
        )  # fmt: skip
    print_table(shown)


@app.command()
def balance(
    centres: Annotated[int, typer.Option(help="service centres, disks, links, shards")],
    quanta: Annotated[int, typer.Option(help="pieces of an item")] = 1,
    items: Annotated[float | None, typer.Option(help="items in all; without: 16 a centre")] = None,
    mean: Annotated[float, typer.Option(help="work of an item")] = 1.0,
    deviation: Annotated[float, typer.Option(help="its standard deviation, in the same unit")] = 0.5,
    quantum_deviation: Annotated[float | None, typer.Option(help="standard deviation of a piece")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
) -> None:  # fmt: skip
    """How much more than the mean the busiest of several centres has: items dealt evenly, at random, or in pieces."""
    from sojourn.plan import balance as balance_

    b = balance_(
        centres, items=items, mean=mean, deviation=deviation, quanta=quanta, quantum_deviation=quantum_deviation
    )
    if as_json:
        say(json.dumps(finite(asdict(b)), allow_nan=False))
        return
    lines = [
        f"expected maximum of {b.centres} standard normals: {b.expected_maximum:.5g} (bound √(2 ln M) {b.bound:.4g}, Blom {b.blom:.4g})",
        f"{b.items:g} items of {b.mean:g} ± {b.deviation:g}: mean load {b.items * b.mean / b.centres:.4g} a centre",
        f"dealt evenly: busiest {b.even:.4g}, {percent(b.even_over)} more than the mean",
        f"at random: busiest {b.random:.4g}, {percent(b.random_over)} more than the mean",
        f"{b.quanta} pieces an item spread better where a piece deviates by less than {b.break_even:.4g} (deviation/√{b.quanta})",
    ]
    if b.gain is not None and b.quantum_deviation is not None:
        word = "smaller" if b.gain >= 1 else "larger"
        by = b.gain if b.gain >= 1 else 1 / b.gain
        lines.append(
            f"with pieces that deviate by {b.quantum_deviation:g} the busiest's excess is {by:.3g} times {word}"
        )
    for line in lines:
        console().print(line, markup=False, soft_wrap=True)


for _name, _place in commands("plan", {}).items():
    app.command(_name)(imported(_place))


def _print(found: Plan) -> None:
    from sojourn.plan.plan_result import settings_text

    out = console()
    for line in found.lines():
        out.print(line, markup=False, soft_wrap=True)
    robust = "draws that meet it" if found.draws else "room"
    table = Table(
        *(["front", "cost"] if found.priced else [""]), "", "violation", robust, "", box=None, header_style="dim"
    )
    seen = {_cells(one)[3:]: one for one in reversed(found.front)}  # of those that look alike the cheapest
    told = [one for one in found.front if not found.priced or seen[_cells(one)[3:]] is one][:MOST_SHOWN]
    for one in told:
        name, cost, *rest = _cells(one)
        table.add_row(*([name, cost] if found.priced else [name]), *rest)
    if found.front:
        out.print(WidthAwareTable(table))
    if len(found.front) > len(told):
        more = ", of equal figures or dearer" if found.priced else ""
        out.print(f"and {len(found.front) - len(told)} more{more} (--json has all)", style="dim")
    if found.by_load:
        grows = "%" in (found.load or "")
        table = Table(
            *(["period"] if grows else []),
            found.load_name,
            *(["cheapest there", "cost"] if found.priced else ["first that meets it"]),
            box=None,
            header_style="dim",
        )
        for period, at in enumerate(found.by_load):
            settings = "none" if at.settings is None else settings_text(at.settings) or "the model as it is"
            cells = [f"{at.load:g}", settings]
            if found.priced:
                cells.append("" if at.cost is None else f"{at.cost:.4g}")
            table.add_row(*([str(period)] if grows else []), *cells)
        out.print(WidthAwareTable(table))
    for line in found.notes:
        out.print(line, style="dim", markup=False)


def _cells(one: PlannedConfiguration) -> tuple[str, ...]:
    violation = max(one.violation, 0.0)
    robust = percent(max(-one.violation, 0.0)) if one.chance is None else percent(one.chance)
    return (
        one.name, "" if one.cost is None else f"{one.cost:.4g}", "; ".join(map(str, one.terms)), percent(violation), robust,
        "outside what was measured" if one.inside is False else "",
    )  # fmt: skip
