"""`sojourn control simulate|replay|live POLICY`: a policy of capacity on a model, over a recorded log, or beside a live service."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.cli.console import check_writable, console
from sojourn.cli.json_answer import say_answer
from sojourn.errors import InputError

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
    "load": "load", "policy": "policy", "mean_missing_workers": "workers too few", "mean_spare_workers": "too many",
    "share_of_time_short": "time with too few", "share_of_time_over": "with too many", "instability": "instability",
}  # fmt: skip
SHARES = ("late_requests", "late_windows", "worst_window", "share_of_time_short", "share_of_time_over", "instability")

app = typer.Typer(help="Tries a policy that sets the number of workers.", no_args_is_help=True)
PolicyFile = Annotated[Path, typer.Argument(help="a policy file: docs/howto/control-capacity.md has its keys")]
LoadName = Annotated[
    str, typer.Option(help="a CSV file (at_s,rate_per_s), a folder, a name (sine, day, worldcup98 …), or all")
]
Rate = Annotated[float, typer.Option(help="mean rate of a load with a name, 1/s")]
Length = Annotated[
    str, typer.Option("--for", help="how long a load with a name is; a day of a web log is played in it")
]


@app.command("simulate")
def simulate_policy(
    policy: PolicyFile,
    model: Annotated[Path, typer.Option(help="file of the model on which the policy runs: one queue, one open class")],
    load: LoadName = "all",
    against: Annotated[
        list[Path] | None, typer.Option("--compare-with", help="another policy file, or a folder of them, to compare")
    ] = None,
    elasticity: Annotated[bool, typer.Option("--elasticity", help="workers too few and too many, against what the load needed")] = False,
    plot: Annotated[Path | None, typer.Option(help="draw late requests against core-hours; a folder is a curve")] = None,
    rate: Rate = 240.0,
    duration: Length = "30m",
    lag: Annotated[str, typer.Option("--provisioning-delay", help="until a worker that is added serves; default at once")] = "",
    seed: Annotated[int, typer.Option(help="of the first run")] = 1,
    seeds: Annotated[int, typer.Option("--replications", help="runs, each with a seed of its own")] = 1,
    out: Annotated[Path | None, typer.Option(help="write the log of decisions here, one folder for each policy, load and seed")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the rows as one JSON object")] = False,
) -> None:  # fmt: skip
    """Runs a policy on a model, under a load that varies.

    A row for each load and policy: late requests, core-hours, changes.
    """
    from sojourn.control.comparison import compared, violations_and_cost
    from sojourn.control.elasticity import needed_workers
    from sojourn.control.load_trace import read as read_loads
    from sojourn.file_kind import FIT, MODEL, expect
    from sojourn.model import Model
    from sojourn.report.figure_files import check_figure_file, write_figure
    from sojourn.units import duration_s

    expect(model, MODEL, FIT)
    pool = Model.read(model)
    if seeds < 1 or not 0 < rate < float("inf"):
        raise InputError((seeds, rate), "--replications, --rate", "give one or more replications and a rate > 0")
    if out is not None:
        check_writable(out / "log")
    if plot is not None:
        check_figure_file(plot, "--plot")
    policies = compared([policy, *(against or [])], pool)
    loads = read_loads(load, rate, duration_s(duration, "--for"))
    lag_s = duration_s(lag, "--provisioning-delay") if lag else 0.0
    rows = []
    for each in loads:
        needed = needed_workers(pool, policies[0].objective, each) if elasticity else None
        rows += [_run(one, pool, each, range(seed, seed + seeds), lag_s, out, needed) for one in policies]
    if plot is not None:
        write_figure(violations_and_cost(rows, policies[0].objective), plot)
    if as_json:
        say_answer("control simulate", {"objective": policies[0].objective, "rows": rows})
        return
    _print(rows, policies[0].objective, seeds)


@app.command("replay")
def replay_policy(
    policy: PolicyFile,
    folder: Annotated[
        Path | None, typer.Argument(help="a folder that `control simulate` or `control live` wrote, or a run folder", show_default=False)
    ] = None,
    hours: Annotated[
        str, typer.Option("--observed-windows", help="observed hours: windows of `sojourn observe`, or prometheus://HOST:9090")
    ] = "",
    series: Annotated[Path | None, typer.Option("--metric-map", help="of Prometheus: which series is which class and resource")] = None,
    begin: Annotated[str, typer.Option("--prometheus-from", help="of Prometheus: where to begin, a time before now: -7d")] = "",
    end: Annotated[str, typer.Option("--prometheus-to", help="of Prometheus: where to end, in the same way; usually now")] = "",
    window: Annotated[str, typer.Option("--prometheus-window", help="of Prometheus: how long a window is; usually 5m")] = "",
    resource: Annotated[
        str, typer.Option("--worker-resource", help="with --observed-windows: whose share is how busy a worker was; usually the busiest")
    ] = "",
    model: Annotated[
        Path | None, typer.Option(help="with --observed-windows: the model that the policy begins with: one queue, one class")
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--recorded-workers", help="workers in place; of --observed-windows usually the cores of the resource")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the decisions as one JSON object")] = False,
) -> None:  # fmt: skip
    """Lets a policy decide again on what a log or a run has.

    The workers in place are the recorded ones: it says what the policy would have done, not what would have come of it. With
    --observed-windows the workers are those that the policy would have set: what it would have done over hours of a service, how many
    worker-hours that is, and in how many minutes it would have had too few, or low confidence in what it knew.
    """
    from sojourn.control.policy_file import read

    if not hours:
        if folder is None:
            raise InputError(
                "no folder",
                "control replay",
                "give a folder with a log or a run, or --observed-windows with observed windows",
            )
        for option, given in (
            ("--metric-map", series),
            ("--prometheus-from", begin),
            ("--prometheus-to", end),
            ("--prometheus-window", window),
            ("--model", model),
        ):
            if given:
                raise InputError(option, str(folder), "leave it out: it is of --observed-windows")
        return _replay(read(policy), folder, workers, as_json)
    if folder is not None:
        raise InputError(
            str(folder), "--observed-windows", "leave the folder out: --observed-windows names what is replayed"
        )
    from sojourn.cli.control_over import hours_of, over
    from sojourn.control.simulate import single_queue
    from sojourn.model import Model

    pool = Model.read(model) if model is not None else None
    scv = single_queue(pool)[1].scv if pool is not None else 1.0
    over(read(policy, pool), hours_of(hours, series, (begin, end), window, workers, resource), scv, as_json)


@app.command("live")
def run_beside(
    policy: PolicyFile,
    service: Annotated[str, typer.Argument(help="a file about your service (service.toml); or the URL of sojourn's own web shop")],
    act: Annotated[bool, typer.Option("--act", help="apply the decisions; needs --model, on which the policy has to pass first")] = False,
    force: Annotated[bool, typer.Option("--skip-simulated-check", help="with --act: without having passed on a model")] = False,
    model: Annotated[Path | None, typer.Option(help="file of the model on which the policy has to pass: one queue, one open class")] = None,
    load: Annotated[str, typer.Option("--simulated-check-load", help="the load on that model, as --load of control simulate")] = "all",
    rate: Annotated[float, typer.Option("--simulated-check-rate", help="mean rate of that load, 1/s")] = 240.0,
    duration: Annotated[str, typer.Option("--simulated-check-duration", help="how long that load is")] = "30m",
    lease: Annotated[str, typer.Option(help="with --act: settings not renewed within this are undone; default 3 periods")] = "",
    stop_file: Annotated[Path | None, typer.Option(help="end when this file exists; so do q and Enter, and SIGTERM")] = None,
    stop_after: Annotated[str, typer.Option(help="end after so long")] = "",
    pid: Annotated[int | None, typer.Option("--service-pid", help="the process whose cores and steering are set")] = None,
    out: Annotated[Path | None, typer.Option(help="write the log of decisions here (default: runs/control-TIME)")] = None,
) -> None:  # fmt: skip
    """Lets a policy decide beside a live service; --act: sets it.

    Without --act it is a dry run, which decides the same on the same figures and sets nothing. It sends no load:
    --simulated-check-load, --simulated-check-rate and --simulated-check-duration are of the simulation of --model, in which the policy has
    to keep its objective before it may act.
    """
    from sojourn.cli.control_live import LiveOptions, beside
    from sojourn.control.load_trace import read as read_loads
    from sojourn.control.policy_file import read
    from sojourn.file_kind import FIT, MODEL, expect
    from sojourn.model import Model
    from sojourn.units import duration_s

    if model is not None:
        expect(model, MODEL, FIT)
    pool = Model.read(model) if model is not None else None
    loads = read_loads(load, rate, duration_s(duration, "--simulated-check-duration")) if pool else []
    beside(read(policy, pool), pool, loads, LiveOptions(service, act, force, lease, stop_file, stop_after, out, pid))


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
        rows = [{"recorded_workers": one.recorded_workers, **one.decision.to_dict()} for one in found]
        say_answer("control replay", {"decisions": rows})
        return
    out = console()
    for one in found:
        if not one.same:
            it = one.decision
            out.print(
                f"{it.observed.window_end_s:g} s: {it.workers} instead of {one.recorded_workers}: {it.reason}",
                markup=False,
                soft_wrap=True,
            )
    same = sum(one.same for one in found)
    out.print(f"{same} of {len(found)} decisions as recorded", markup=False)
