"""`sojourn control policy.toml --on model.toml --load traces/`: a policy of capacity on the model, or over a recorded log."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.cli.console import check_writable, console, finite
from sojourn.errors import InputError
from sojourn.terminal import say

if TYPE_CHECKING:
    from sojourn.control.comparison import ComparedPolicy
    from sojourn.control.load_trace import Array, Load
    from sojourn.control.policy_file import Policy
    from sojourn.model import Model

COLUMNS = {
    "load": "load", "policy": "policy", "late_requests": "late requests", "late_windows": "late windows",
    "worst_window": "worst window", "core_hours": "core-hours", "changes": "changes", "reversals": "reversals",
    "longest_s": "longest late, s",
}  # fmt: skip
ELASTICITY = {
    "load": "load", "policy": "policy", "too_few": "workers too few", "too_many": "too many",
    "time_too_few": "time with too few", "time_too_many": "with too many", "instability": "instability",
}  # fmt: skip
SHARES = ("late_requests", "late_windows", "worst_window", "time_too_few", "time_too_many", "instability")


def control(
    policy: Annotated[Path, typer.Argument(help="a policy file: docs/howto/control-capacity.md has its keys")],
    on: Annotated[Path | None, typer.Option(help="the model file to run it on: one queue, one open class")] = None,
    load: Annotated[str, typer.Option(help="a CSV file (at_s,rate_per_s), a folder, a name (sine, day, worldcup98 …), or all")] = "all",
    against: Annotated[list[Path] | None, typer.Option(help="another policy file, or a folder of them, to compare")] = None,
    elasticity: Annotated[bool, typer.Option("--elasticity", help="workers too few and too many, against what the load needed")] = False,
    plot: Annotated[Path | None, typer.Option(help="draw late requests against core-hours; a folder is a curve")] = None,
    replay: Annotated[Path | None, typer.Option(help="a folder with a log, or a run folder: the policy decides on what was seen")] = None,
    rate: Annotated[float, typer.Option(help="mean rate of a load with a name, 1/s")] = 240.0,
    duration: Annotated[str, typer.Option("--for", help="how long a load with a name is; a day of a web log is played in it")] = "30m",
    live: Annotated[str | None, typer.Option(help="URL of the web shop, or a file of your service: decide, set nothing")] = None,
    act: Annotated[bool, typer.Option("--act", help="with --live: set what is decided; with --on, on which it has to pass first")] = False,
    force: Annotated[bool, typer.Option("--force", help="with --act: without having passed on a model")] = False,
    lease: Annotated[str, typer.Option(help="with --act: the service undoes what is not renewed for so long; default 3 periods")] = "",
    stop_file: Annotated[Path | None, typer.Option(help="with --live: end when this file exists; so do q and Enter, and SIGTERM")] = None,
    stop_after: Annotated[str, typer.Option(help="with --live: end after so long")] = "",
    workers: Annotated[int | None, typer.Option(help="with --replay of a run folder: how many it had")] = None,
    pid: Annotated[int | None, typer.Option(help="with --live: the process whose cores and steering are set")] = None,
    lag: Annotated[str, typer.Option(help="until a worker that is added serves; default at once")] = "",
    seed: Annotated[int, typer.Option(help="of the first repetition")] = 1,
    seeds: Annotated[int, typer.Option(help="repetitions, each with a seed of its own")] = 1,
    out: Annotated[Path | None, typer.Option(help="write the log of decisions here, one folder for each policy, load and seed")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object: the rows, or the decisions of --replay")] = False,
) -> None:  # fmt: skip
    """Tries a policy that sets the number of workers.

    On a model under a load that varies, over a recorded log, or beside a live service.
    """
    from sojourn.control.comparison import compared, violations_and_cost
    from sojourn.control.elasticity import needed_workers
    from sojourn.control.load_trace import read as read_loads
    from sojourn.control.policy_file import read
    from sojourn.file_kind import FIT, MODEL, expect
    from sojourn.model import Model
    from sojourn.report.figure_files import check_figure_file, write_figure
    from sojourn.units import duration_s

    if live is None and (on is None) == (replay is None):
        raise InputError("neither" if on is None else "both", "--on, --replay", "give one of them, or --live")
    if live is not None and replay is not None:
        raise InputError("both", "--live, --replay", "give one of them")
    if live is None and (act or force or lease or stop_file or stop_after):
        raise InputError(
            "no service",
            "--act, --force, --lease, --stop-file, --stop-after",
            "give --live http://HOST:PORT, or --live FILE",
        )
    if (live is not None or replay is not None) and (against or elasticity or plot):
        raise InputError(
            "nothing to compare", "--against, --elasticity, --plot", "give --on MODEL without --live, --replay"
        )
    if on is not None:
        expect(on, MODEL, FIT)
    model = Model.read(on) if on is not None else None
    if replay is not None:
        _replay(read(policy), replay, workers, as_json)
        return
    if live is not None:
        from sojourn.cli.control_live import LiveOptions, beside

        loads = read_loads(load, rate, duration_s(duration, "--for")) if model else []
        options = LiveOptions(live, act, force, lease, stop_file, stop_after, out, pid)
        return beside(read(policy, model), model, loads, options)
    assert model is not None
    if seeds < 1 or not 0 < rate < float("inf"):
        raise InputError((seeds, rate), "--seeds, --rate", "give one or more seeds and a rate > 0")
    if out is not None:
        check_writable(out / "log")
    if plot is not None:
        check_figure_file(plot, "--plot")
    policies = compared([policy, *(against or [])], model)
    loads = read_loads(load, rate, duration_s(duration, "--for"))
    lag_s = duration_s(lag, "--lag") if lag else 0.0
    rows = []
    for each in loads:
        needed = needed_workers(model, policies[0].objective, each) if elasticity else None
        rows += [_run(one, model, each, range(seed, seed + seeds), lag_s, out, needed) for one in policies]
    if plot is not None:
        write_figure(violations_and_cost(rows, policies[0].objective), plot)
    if as_json:
        say(json.dumps(finite({"objective": policies[0].objective, "rows": rows}), allow_nan=False))
        return
    _print(rows, policies[0].objective, seeds)


def _run(
    policy: ComparedPolicy, model: Model, load: Load, seeds: range, lag_s: float, out: Path | None, needed: Array | None
) -> dict[str, Any]:
    """A row: means over the seeds; `needed`: workers that each second of the load needs."""
    from sojourn.control import simulate
    from sojourn.control.elasticity import elasticity, supply

    found: list[dict[str, Any]] = []
    for seed in seeds:
        run = simulate(policy.decide, model, load, seed, objective=policy.objective, rails=policy.rails, lag_s=lag_s)
        if out is not None:
            run.write(out / f"{policy.name.replace('/', '-')}-{load.name}-{seed}")
        found.append(run.figures.to_dict())
        if needed is not None:
            found[-1] |= elasticity(supply(run.log, [load.step_s * k for k in range(len(needed))]), needed).to_dict()
    means = {name: statistics.mean(one[name] for one in found) for name in found[0]}
    return {"load": load.name, "policy": policy.name, "curve": policy.curve, **means}


def _print(rows: list[dict[str, Any]], objective: str, seeds: int) -> None:
    from rich.table import Table

    title = f"{objective}, mean of {seeds} seed{'s' if seeds > 1 else ''}"
    for columns in (COLUMNS, ELASTICITY):
        if not columns.keys() <= rows[0].keys():
            continue
        table = Table(box=None, title=title, title_justify="left")
        for name, head in columns.items():
            left = name in ("load", "policy")
            table.add_column(head, justify="left" if left else "right", no_wrap=left)
        for row in rows:
            table.add_row(*(_cell(name, row[name]) for name in columns))
        console().print(table)
        title = "against the workers that each second's rate needs, measured on the model"


def _cell(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    return f"{100 * value:.2f} %" if name in SHARES else f"{value:.4g}"


def _replay(policy: Policy, folder: Path, workers: int | None, as_json: bool) -> None:
    from sojourn.control import replay

    found = replay(policy.decide, folder, policy.rails, workers)
    if as_json:
        rows = [{"recorded": one.recorded, **one.decision.to_dict()} for one in found]
        say(json.dumps(finite({"decisions": rows}), allow_nan=False))
        return
    out = console()
    for one in found:
        if not one.same:
            it = one.decision
            out.print(
                f"{it.seen.at_s:g} s: {it.workers} instead of {one.recorded}: {it.why}", markup=False, soft_wrap=True
            )
    same = sum(one.same for one in found)
    out.print(f"{same} of {len(found)} decisions as recorded", markup=False)
