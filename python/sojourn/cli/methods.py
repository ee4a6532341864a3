"""`sojourn methods [model.toml]`: which methods there are, and which apply to a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from sojourn.cli.console import console
from sojourn.cli.json_answer import say_answer
from sojourn.file_kind import FIT, MODEL, expect

if TYPE_CHECKING:
    from sojourn.solve.method import Method


def methods(
    model: Annotated[Path | None, typer.Argument(help="a model file: lists the methods that apply to it")] = None,
    every: Annotated[bool, typer.Option("--all", help="also the methods that do not apply to the file, and why")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print them as JSON")] = False,
) -> None:  # fmt: skip
    """Lists methods to solve a model, and which of them apply.

    Of each: name, what it is, exact or not, its source.
    """
    from sojourn.model import Model
    from sojourn.solve import methods as methods_
    from sojourn.solve.automatic_method import preferred
    from sojourn.solve.load_dependent_times import at_rest
    from sojourn.solve.nearest_methods import nearest
    from sojourn.solve.registry import NO_SIMULATION, SIMULATE, can_be_simulated, family

    if model:
        expect(model, MODEL, FIT)
    it = Model.read(model) if model else None
    found = methods_(it)
    best = next((m.name for m, _ in preferred(at_rest([it.network]))), "") if it else ""

    def exact(method: Method) -> bool:
        return method.exact_for(it.network) if it else method.exact

    if as_json:
        rows = [
            {"name": m.name, "title": m.title, "family": family(m), "exact": exact(m), "on_request_only": m.on_request_only,
             "sources": list(m.sources), **({"applies": why is None, "reason": why or ""} if it else {})}
            for m, why in found
        ]  # fmt: skip
        say_answer("methods", {"chosen_by_auto": best, "methods": rows} if it else {"methods": rows})
        return
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("method", no_wrap=True)
    for head in ("what it is", "", *(["applies"] if it else ["source"])):
        table.add_column(head)
    others = [m for m, why in found if why is not None]
    for m, why in sorted(found, key=lambda pair: pair[1] is not None):
        if why and not every:
            continue
        kind = "on request" if m.on_request_only else "exact" if exact(m) else "approximate"
        last = "; ".join(m.sources) if not it else f"no: {why}" if why else _yes(m.name, best)
        table.add_row(m.name, m.title, kind, last, style="dim" if why else "")
    out = console()
    if table.row_count:
        out.print(table)
    if it and not best:
        remedy = f"or {SIMULATE}" if can_be_simulated(it.network) else NO_SIMULATION
        out.print(f"no method applies; {nearest(it.network)}; {remedy}", markup=False, soft_wrap=True)
    if others and not every:
        out.print(f"{len(others)} others do not apply: --all shows why", style="dim", markup=False)


def _yes(name: str, best: str) -> Text:
    return Text("yes; auto takes it" if name == best else "yes", "green")
