"""The policy `model` beside grids of `hpa`, `kpa` and `square-root` on the simulated queue: `python benches/control/run.py [--seeds 20]`.

Writes DATE/{summary.md,raw.csv,machine.json} beside this file. M/M/m with 50 ms of service, seven made loads and a day each of two web
logs in 30 minutes at a mean of about 12 erlangs, objective 99 % within 300 ms, workers serve at once. Every policy stands behind the same
guard rails and meets the same requests. Runs that raw.csv of the same day has are not made again.
"""

from __future__ import annotations

import argparse
import csv
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import sojourn as sj
from sojourn.control import GuardRails, Hpa, Kpa, Load, ModelPolicy, Schedule, SquareRoot, made, simulate
from sojourn.control.decision import Decide
from sojourn.control.load_trace import NAMED

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from record import new_folder  # noqa: E402

SERVICE_S, MOST = 0.05, 60
PERIODS = ((15.0, 300.0), (2.0, 30.0))  # period, stabilisation down, s; the first are the documentation's
TARGETS = (0.4, 0.5, 0.6, 0.7, 0.8)
OURS, CLAIRVOYANT = "model", "clairvoyant"
FIGURES = ("late_requests", "core_hours", "changes")
WANTED = ("sine", "step", "flash", "levels", "noise", "worldcup98", "clarknet")  # what the targets were set for
COST, CHANGES, OVER = 0.85, 2.0, 1.4  # what is asked of ours, against the best setting of hpa, and of clairvoyant


def hpa(target: float, period_s: float, stabilisation_s: float) -> Hpa:
    down = {"stabilisation_s": stabilisation_s, "policies": [{"kind": "percent", "value": 100, "period_s": 15}]}
    return Hpa.model_validate({"target": target, "period_s": period_s, "most": MOST, "down": down})


def policies(lag_s: float = 0.0) -> dict[str, Decide]:
    grid = {f"hpa {p:g}/{w:g} s at {t:g}": hpa(t, p, w) for p, w in PERIODS for t in TARGETS}
    others = {
        "square-root 2 s, beta 2": SquareRoot(beta=2, service_s=SERVICE_S, period_s=2),
        "kpa at 0.7": Kpa(target=0.7, most=MOST),
        f"{OURS}, hold 20 s": ModelPolicy(service_s=SERVICE_S, most=MOST, hold_s=20, lag_s=lag_s),
        OURS: ModelPolicy(service_s=SERVICE_S, most=MOST, lag_s=lag_s),
    }
    return {**grid, **others}


def clairvoyant(load: Load, lag_s: float = 0.0) -> Schedule:
    """Knows the rate: the least that meets the objective in steady state at the largest rate until what is set next serves."""
    model, step = ModelPolicy(service_s=SERVICE_S, most=MOST), int(2 / load.step_s)
    ahead = [
        max(load.rates_per_s[k : k + step + int(lag_s / load.step_s)]) for k in range(0, len(load.rates_per_s), step)
    ]
    return Schedule(at=tuple((2.0 * k, model.capacity(rate, SERVICE_S)) for k, rate in enumerate(ahead)), period_s=2)


def run(task: tuple[str, str, int, float], duration_s: float = 1800.0) -> dict[str, Any]:
    policy, name, seed, lag_s = task
    load = made(name, duration_s=duration_s)
    pool = sj.Model(
        stations=[sj.Queue("pool", servers=12)],
        classes=[sj.Open("request", rate_per_s=240)],
        service_s={"pool": {"request": SERVICE_S}},
    )
    decide = clairvoyant(load, lag_s) if policy == CLAIRVOYANT else policies(lag_s)[policy]
    found = simulate(decide, pool, load, seed, rails=GuardRails(most=MOST), lag_s=lag_s)
    return {"policy": policy, "load": name, "seed": seed, **found.figures.to_dict()}


def over(rows: list[dict[str, Any]], policy: str, figure: str, load: str = "") -> float:
    return mean(row[figure] for row in rows if row["policy"] == policy and load in ("", row["load"]))


def summary(rows: list[dict[str, Any]], command: str, seeds: int, lag_s: float) -> str:
    names = [*policies(), CLAIRVOYANT]
    first = min(row["seed"] for row in rows)
    loads = loads_of(rows)
    lines = [f"# Policies of capacity, {seeds} seeds from {first}, lag {lag_s:g} s", "", f"`{command}`", ""]
    lines += [
        f"Mean over {len(loads)} loads: late requests, late windows, core-hours, changes; then late requests and core-hours by load.",
        "",
    ]
    lines += [
        f"| policy | late | windows | core-h | changes | {' | '.join(loads)} |",
        f"|---|---|---|---|---|{'---|' * len(loads)}",
    ]
    for name in names:
        by = " | ".join(
            f"{100 * over(rows, name, 'late_requests', x):.2f} % {over(rows, name, 'core_hours', x):.2f}" for x in loads
        )
        head = f"{100 * over(rows, name, 'late_requests'):.2f} % | {100 * over(rows, name, 'late_windows'):.2f} %"
        lines.append(
            f"| {name} | {head} | {over(rows, name, 'core_hours'):.2f} | {over(rows, name, 'changes'):.0f} | {by} |"
        )
    lines += ["", *verdict(rows, names), ""]
    if set(loads) > set(WANTED):
        of_wanted = [row for row in rows if row["load"] in WANTED]
        lines += [f"Over {', '.join(WANTED)} alone:", "", *verdict(of_wanted, names), ""]
    return "\n".join([*lines, *by_load(rows, names)]) + "\n"


def loads_of(rows: list[dict[str, Any]]) -> list[str]:
    there = {row["load"] for row in rows}
    return [name for name in NAMED if name in there]


def best_hpa(rows: list[dict[str, Any]], names: list[str], load: str = "") -> str:
    """The cheapest setting that has no more late requests than the objective allows; of all where none has."""
    grid = [name for name in names if name.startswith("hpa")]
    met = [name for name in grid if over(rows, name, "late_requests", load) <= 0.01]
    return min(met or grid, key=lambda name: over(rows, name, "core_hours", load))


def better_in_both(rows: list[dict[str, Any]], names: list[str], load: str) -> list[str]:
    ours = [over(rows, OURS, x, load) for x in ("late_requests", "core_hours")]
    return [
        name for name in names if name.startswith("hpa")
        and all(over(rows, name, x, load) < mine for x, mine in zip(("late_requests", "core_hours"), ours, strict=True))
    ]  # fmt: skip


def by_load(rows: list[dict[str, Any]], names: list[str]) -> list[str]:
    """Ours load by load against the setting of hpa that is best over all of them, and against the one that is best on that load."""
    single = best_hpa(rows, names)
    lines = [
        f"Load by load: ours by {single}, the best over all, and by the best setting on that load.",
        "",
        "| load | late, ours | its | core-hours, by its | changes, by its "
        "| best there | late, its | core-hours, by its | changes, by its | core-hours, by clairvoyant |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for load in loads_of(rows):
        own = best_hpa(rows, names, load)
        late, of_clairvoyant = over(rows, OURS, "late_requests", load), beside(rows, CLAIRVOYANT, load)[1]
        cells = [
            load,
            f"{100 * late:.2f} %",
            *beside(rows, single, load),
            own,
            *beside(rows, own, load),
            of_clairvoyant,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def beside(rows: list[dict[str, Any]], name: str, load: str) -> list[str]:
    """Late requests of policy `name`, and core-hours and changes of ours by its."""
    ratios = (over(rows, OURS, x, load) / over(rows, name, x, load) for x in ("core_hours", "changes"))
    return [f"{100 * over(rows, name, 'late_requests', load):.2f} %", *(f"{ratio:.3f}" for ratio in ratios)]


def verdict(rows: list[dict[str, Any]], names: list[str]) -> list[str]:
    """Ours against the cheapest setting of hpa that has no more late requests than the objective allows, and load by load against all."""
    ours_late, ours_cost, ours_changes = (over(rows, OURS, x) for x in FIGURES)
    windows = {name: over(rows, name, "late_windows") for name in names}
    grid = [name for name in names if name.startswith("hpa")]
    best = best_hpa(rows, names)
    late, cost, changes = (over(rows, best, x) for x in FIGURES)
    equal = [name for name in grid if over(rows, name, "late_requests") <= ours_late]
    cheapest = min(equal, key=lambda name: over(rows, name, "core_hours")) if equal else "none"
    better = [f"{name} on {load}" for load in loads_of(rows) for name in better_in_both(rows, names, load)]
    return [
        f"- Best single setting of hpa (the cheapest with at most 1 % late): {best}.",
        f"- Late requests: ours {100 * ours_late:.2f} %, it {100 * late:.2f} %: {_said(ours_late <= late)}.",
        f"- Late windows: ours {100 * windows[OURS]:.2f} %, it {100 * windows[best]:.2f} %: {_said(windows[OURS] <= windows[best])}.",
        f"- Core-hours: ours / it = {ours_cost / cost:.3f}, asked at most {COST:g}: {_said(ours_cost <= COST * cost)}.",
        f"- Changes: ours / it = {ours_changes / changes:.2f}, asked at most {CHANGES:g}: {_said(ours_changes <= CHANGES * changes)}.",
        f"- Cheapest setting of hpa with no more late requests than ours: {cheapest}.",
        f"- Core-hours: ours / clairvoyant = {ours_cost / over(rows, CLAIRVOYANT, 'core_hours'):.3f}, asked at most {OVER:g}: "
        f"{_said(ours_cost <= OVER * over(rows, CLAIRVOYANT, 'core_hours'))}.",
        f"- Settings of hpa better in both on a load: {', '.join(better) or 'none'}: {_said(not better)}.",
    ]


def had(path: Path) -> list[dict[str, Any]]:
    """Rows of an earlier call on the same day."""
    if not path.exists():
        return []
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    kinds = {"policy": str, "load": str, "seed": int}
    return [{key: kinds.get(key, float)(value) for key, value in row.items()} for row in rows]


def _said(met: bool) -> str:
    return "met" if met else "missed"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1, help="seed")
    parser.add_argument("--lag", type=float, default=0.0, help="until a worker serves, s")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--chunk", type=int, default=4, help="runs that a process takes at once")
    parser.add_argument("--loads", default=",".join(NAMED), help="names, with commas")
    parser.add_argument("--duration", type=float, default=1800.0, help="of a load, s")
    parser.add_argument("--name", default="", help="after the date, of the folder")
    parser.add_argument("--beside", type=Path, help="raw.csv of an earlier call, whose runs are not made again")
    given = parser.parse_args()
    name = f"-{given.name}" if given.name else f"-lag-{given.lag:g}" if given.lag else ""
    folder = new_folder(HERE.parent, HERE.name, {}, name)
    loads, own = given.loads.split(","), had(folder / "raw.csv")
    rows = [*own, *(had(given.beside) if given.beside else [])]
    done = {(row["policy"], row["load"], row["seed"]) for row in rows}
    names = [*policies(), CLAIRVOYANT]
    every = [
        (name, load, seed, given.lag)
        for seed in range(given.first, given.first + given.seeds)
        for name in names
        for load in loads
    ]
    tasks = [task for task in every if task[:3] not in done]
    with ProcessPoolExecutor(given.processes) as pool, open(folder / "raw.csv", "a", newline="") as file:
        for row in pool.map(partial(run, duration_s=given.duration), tasks, chunksize=given.chunk):
            writer = csv.DictWriter(file, list(row))
            if not own:
                writer.writeheader()
            writer.writerow(row)
            file.flush()
            own.append(row)
            rows.append(row)
    asked = {task[2] for task in every}
    rows = [row for row in rows if row["seed"] in asked and row["load"] in loads]
    text = summary(rows, f"python benches/control/run.py {' '.join(sys.argv[1:])}".strip(), given.seeds, given.lag)
    (folder / "summary.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
