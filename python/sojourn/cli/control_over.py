"""`sojourn control replay POLICY --observed-windows SOURCE`: a policy over hours that were observed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.cli.console import console
from sojourn.cli.json_answer import say_answer
from sojourn.errors import InputError
from sojourn.terminal import say

if TYPE_CHECKING:
    from sojourn.control.over_hours import PolicyOverHours
    from sojourn.control.policy_file import Policy
    from sojourn.control.recorded_hours import RecordedHours

MOST_ROWS = 12
OPTIONS = ("--prometheus-from", "--prometheus-to", "--prometheus-window")


def hours_of(
    source: str, series: Path | None, between: tuple[str, str], window: str, workers: int | None, resource: str
) -> RecordedHours:
    """Of folders that `observe` wrote, or of a Prometheus server. Raises InputError, RunFolderError, ServiceError."""
    from sojourn.cli.observe import prometheus_windows
    from sojourn.control.recorded_hours import RecordedHours, RecordedWindow, hours_of_folders

    if "://" not in source:
        for option, given in zip(("--metric-map", *OPTIONS), (series, *between, window), strict=True):
            if given:
                raise InputError(option, source, "leave it out: it is of prometheus://HOST:9090")
        return hours_of_folders([Path(source)], workers, resource)
    seen = prometheus_windows(source, series, between, window, OPTIONS)
    windows = [RecordedWindow(one.start_s, one.length_s, one.rate_per_s, one.busy) for one in seen.windows]
    for note in seen.notes:
        say(f"- {note}", err=True)
    return RecordedHours.of(windows, seen.capacity, workers, resource, source)


def over(policy: Policy, hours: RecordedHours, scv: float, as_json: bool) -> None:
    """One screen, or JSON."""
    from sojourn.control.over_hours import over_hours

    found = over_hours(policy.decide, hours, policy.rails, objective=policy.objective, scv=scv)
    if as_json:
        say_answer("control over", found.to_dict())
        return
    _print(policy, hours, found)


def _print(policy: Policy, hours: RecordedHours, found: PolicyOverHours) -> None:
    from rich.table import Table

    from sojourn.control.over_hours import parts

    told, out = found.to_dict(), console()
    table = Table(
        "from, UTC",
        "rate, 1/s",
        "workers",
        "too few, min",
        "late, min",
        "low confidence, min",
        box=None,
        header_style="dim",
    )
    for row in parts(found, MOST_ROWS):
        rates = f"{row['rates'][0]:.4g} … {row['rates'][1]:.4g}" if row["rates"] else "not recorded"
        low, high = row["workers"]
        minutes = (f"{row[name]:.0f}" for name in ("short", "missed", "uncertain"))
        table.add_row(_at(row["start_s"]), rates, f"{low} … {high}" if low < high else f"{low}", *minutes)
    out.print(table)
    saved = 1 - told["worker_hours"] / told["recorded_worker_hours"]
    lines = [
        f"{policy.name}: {told['least_workers']} to {told['most_workers']} workers, {told['worker_hours']:.4g} worker-hours; recorded "
        f"{found.recorded_workers} workers, {told['recorded_worker_hours']:.4g} "
        f"({abs(100 * saved):.0f} % {'fewer' if saved >= 0 else 'more'})",
        f"{told['changes']} changes, {told['reversals']} of them reversals; a decision each {hours.windows[0].length_s:g} s, live each "
        f"{float(getattr(policy.decide, 'period_s', 2.0)):g} s",
        f"too few workers for the load in {told['too_few_minutes']:.0f} of {told['minutes']:.0f} minutes; {found.objective} missed in "
        f"{told['missed_minutes']:.0f} by M/M/m",
        f"low confidence in {told['uncertain_minutes']:.0f} minutes"
        + "".join(f"; {one['reason']}: {one['minutes']:.0f}" for one in told["uncertain"]),
    ]
    for line in lines:
        out.print(line, markup=False, soft_wrap=True, highlight=False)


def _at(unix_s: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(unix_s))
