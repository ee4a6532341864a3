"""`sojourn calc`: formulas for queues put together, stations with several servers, and balance of load."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from sojourn.cases import commands, imported
from sojourn.cli.console import console, print_table
from sojourn.cli.json_answer import say_answer
from sojourn.errors import InputError
from sojourn.narrow_tables import WidthAwareTable
from sojourn.units import duration_s, levels, per_second, percent, seconds

if TYPE_CHECKING:
    from sojourn.plan import NestedLevel

app = typer.Typer(no_args_is_help=True)


@app.command()
def merge(
    models: Annotated[list[Path], typer.Argument(help="model files of one queue each")],
    servers: Annotated[int | None, typer.Option("--merged-servers", help="of the merged queue; without: all of them")] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="print one JSON object: desks, merged_queue, merged_response_s, priorities, notes"),
    ] = False,
) -> None:  # fmt: skip
    """Puts several queues in one line before all servers.

    It says what each desk's customers gain or lose by it.
    """
    from sojourn.plan import merge as merge_

    found = merge_(*models, servers=servers)
    if as_json:
        say_answer("calc merge", asdict(found))
        return
    table = Table("", "servers", "calls", "service", "busy", "wait", "response", "", box=None, header_style="dim")
    for one in (*found.desks, found.merged_queue):
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
        out.print(f"old customers of {order.served_first} first: waits {waits}", markup=False)
    for line in found.notes:
        out.print(line, style="dim", markup=False)


@app.command("table")
def table_(
    servers: Annotated[int, typer.Option(help="equal servers with one line")],
    service: Annotated[str, typer.Option("--service-time", help="mean service time, as 127us")],
    utilisation: Annotated[str, typer.Option("--utilisation-percent", help="of a server, in per cent: 0..80:20 or 50,70,90")] = "0..80:20",
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object: rows in SI units")] = False,
) -> None:  # fmt: skip
    """Response times of one station at growing load (M/M/m)."""
    from sojourn.plan import staff_table

    rows = staff_table(
        servers, duration_s(service, "--service-time"), [u / 100 for u in levels(utilisation, "--utilisation-percent")]
    )
    if as_json:
        say_answer("calc table", {"rows": rows.to_dicts()})
        return
    shown = Table("busy", "rate", "response", "wait", "waits", "p99", box=None, header_style="dim")
    for row in rows.iter_rows(named=True):
        shown.add_row(
            percent(row["utilisation"]), per_second(row["rate_per_s"]), seconds(row["response_s"], 4), seconds(row["waiting_s"]),
            percent(row["waiting_probability"]), seconds(row["p99_s"]),
        )  # fmt: skip
    print_table(shown)


@app.command()
def balance(
    centres: Annotated[int, typer.Option("--centre-count", help="number of service centres, disks, links or shards")],
    pieces: Annotated[int, typer.Option("--pieces-per-item", help="parts of an item, dealt to the centres one by one")] = 1,
    items: Annotated[float | None, typer.Option(help="items in all; without: 16 a centre")] = None,
    mean: Annotated[float, typer.Option("--item-mean", help="work of an item")] = 1.0,
    deviation: Annotated[float, typer.Option("--item-deviation", help="standard deviation of an item, in the same unit")] = 0.5,
    piece_deviation: Annotated[float | None, typer.Option(help="standard deviation of a piece")] = None,
    nested_level: Annotated[list[str] | None, typer.Option(help="a level below: CENTRES:PIECES:DEVIATION, e.g. 4:11:6")] = None,
    sizes: Annotated[Path | None, typer.Option("--sizes-file", help="a .csv in place of these: a row a piece, item and size")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
) -> None:  # fmt: skip
    """Says how much work the busiest of several centres has.

    More than the mean, where items are dealt evenly, at random, or in pieces. --nested-level CENTRES:PIECES:DEVIATION, which may be given
    several times: each centre deals pieces of what it gets to so many centres of its own.
    """
    from sojourn.plan import balance as balance_
    from sojourn.plan import piece_sizes

    lines = []
    if sizes is not None:
        if items is not None or piece_deviation is not None:
            raise InputError(
                "--items or --piece-deviation beside --sizes-file",
                "--sizes-file",
                "leave one of the two out: the table has both",
            )
        s = piece_sizes(sizes)
        items, mean, deviation, piece_deviation = s.items, s.item_mean, s.item_deviation, s.piece_deviation or None
        pieces = max(1, round(s.pieces_per_item))
        lines.append(
            f"{sizes}: {s.items} items of {s.item_mean:.5g} ± {s.item_deviation:.4g}, in {s.pieces_per_item:.4g} pieces each of "
            f"{s.piece_mean:.5g} ± {s.piece_deviation:.4g}"
        )
    b = balance_(
        centres, items=items, item_mean=mean, item_deviation=deviation, pieces_per_item=pieces, piece_deviation=piece_deviation,
        levels=[_level(one) for one in nested_level or ()],
    )  # fmt: skip
    if as_json:
        say_answer("calc balance", asdict(b))
        return
    lines += [
        f"expected maximum of {b.centres} standard normals: {b.expected_max_of_normals:.5g} "
        f"(bound √(2 ln M) {b.max_of_normals_bound:.4g}, Blom {b.max_of_normals_by_blom:.4g})",
        f"{b.items:g} items of {mean:g} ± {deviation:g}: mean load {b.items * mean / b.centres:.4g} a centre",
        f"assigned in turn: busiest {b.busiest_if_in_turn:.4g}, {percent(b.busiest_over_mean_if_in_turn)} more than the mean",
        f"at random: busiest {b.busiest_if_random:.4g}, {percent(b.busiest_over_mean_if_random)} more than the mean",
        f"{pieces} pieces per item balance better if the standard deviation of a piece is "
        f"below {b.break_even_piece_deviation:.4g} (deviation/√{pieces})",
    ]
    if piece_deviation is not None and (ratio := b.excess_ratio) is not None:
        word, by = ("smaller", ratio) if ratio >= 1 else ("larger", 1 / ratio)
        lines.append(
            f"with pieces that deviate by {piece_deviation:g} the excess work of the busiest centre is {by:.3g} times {word}"
        )
    lines += [
        f"on level {k} of {one.centres} centres: busiest {one.busiest:.4g}, {percent(one.busiest_over_mean)} more than the mean"
        for k, one in enumerate(b.levels, 1)
    ]
    for line in lines:
        console().print(line, markup=False, soft_wrap=True)


def _level(text: str) -> NestedLevel:
    """CENTRES:PIECES:DEVIATION."""
    from sojourn.plan import NestedLevel

    try:
        centres, pieces, deviation = text.split(":")
        return NestedLevel(int(centres), float(pieces), float(deviation))
    except ValueError:
        raise InputError(repr(text), "--nested-level", "give CENTRES:PIECES:DEVIATION, as 4:11:6") from None


for _name, _place in {**commands("plan", {}), **commands("calc", {})}.items():  # a case of before may say `plan`
    app.command(_name)(imported(_place))
