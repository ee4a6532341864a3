"""How far approximations are off: against simulations of random models, half of them drawn after the methods were made.

    python benches/approximations/run.py [--out FOLDER]

Writes FOLDER/truths.ndjson (kept if it is there: a run goes on where it ended), raw.csv and summary.md.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import cases
import sojourn as sj
from sojourn.errors import MethodRefused
from sojourn.solve.method import RequestedOutputs
from sojourn.solve.registry import BUDGET_S, all_methods, refusal

SEEDS = {1: "training", 2: "judging"}
COUNT = {"closed": 60, "single": 40, "several": 40, "row": 40}
METHODS = {
    "closed": ("auto", "random-order", "amva-fcfs"),
    "single": ("auto", "gig1", "whitt", "allen-cunneen", "qna"),
    "several": ("auto", "random-order", "whitt", "allen-cunneen", "qna"),
    "row": ("auto", "random-order", "qna"),
}
PRECISION, MAX_S = 0.005, 8.0
KNOWN = 0.02  # half-width of a simulated number, relative, up to which it judges
KEPT = ("response_time", "waiting_time", "throughput")
Place = tuple[str, str, str]
Truth = dict[Place, tuple[float, float, float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / time.strftime("%Y-%m-%d"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    rows = [row for family in COUNT for seed in SEEDS for row in compared(out, family, seed)]
    with open(out / "raw.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    (out / "summary.md").write_text(summary(rows))


def truths(out: Path, family: str, seed: int) -> Iterator[tuple[int, str, sj.Model, Truth | None]]:
    """Number, text, model, and what a simulation found; None where it did not reach its precision."""
    path = out / "truths.ndjson"
    lines = path.read_text().splitlines() if path.exists() else []
    known = {(x["family"], x["seed"], x["number"]): x for x in map(json.loads, lines)}
    for number in range(COUNT[family]):
        text, model = cases.case(family, seed, number)
        line = known.get((family, seed, number))
        if line is None:
            line = {"family": family, "seed": seed, "number": number, **simulated(model, 1000 * seed + number)}
            with open(path, "a") as file:
                file.write(json.dumps(line) + "\n")
        found = {(a, b, c): (v, low, high) for a, b, c, v, low, high in line["values"]}
        yield number, text, model, found if line["status"] == "ok" else None


def simulated(model: sj.Model, seed: int) -> dict[str, Any]:
    made = sj.simulate(model, precision=PRECISION, seed=seed, max_wall_time_s=MAX_S, quantiles=())
    keys = ("station", "class", "metric", "value", "low", "high")
    values = [[row[k] for k in keys] for row in made.frame.to_dicts() if row["metric"] in KEPT and row["q"] is None]
    return {"status": made.status, "values": values}


def compared(out: Path, family: str, seed: int) -> Iterator[dict[str, Any]]:
    for number, text, model, truth in truths(out, family, seed):
        if truth is None:
            continue
        for name in METHODS[family]:
            row = {"family": family, "seed": seed, "number": number, "model": text, "method": name}
            yield row | answered(model, name, truth)


def answered(model: sj.Model, name: str, truth: Truth) -> dict[str, Any]:
    """The worst relative error of a response time of a class, and of a wait at a station; seconds; or why there is none."""
    none = {"taken": name, "response_error": None, "wait_error": None, "seconds": None}
    if name != "auto":
        method = all_methods()[name]
        if reason := refusal(method, model.network):
            return none | {"refused": reason}
        if (cost_s := method.cost_s(model.network)) > BUDGET_S:
            return none | {"refused": f"about {cost_s:.2g} s"}
    started = time.perf_counter()
    try:
        found = sj.solve(model, name, requested_outputs=RequestedOutputs(quantiles=()))
    except MethodRefused as error:
        return none | {"refused": str(error.value)}
    seconds = time.perf_counter() - started
    response = worst(found, truth, [p for p in truth if p[2] == "response_time" and not p[0] and p[1]])
    wait = worst(found, truth, [p for p in truth if p[2] == "waiting_time" and p[0] and p[1]])
    return {"taken": found.method, "response_error": response, "wait_error": wait, "seconds": seconds, "refused": ""}


def worst(found: sj.Metrics, truth: Truth, places: list[Place]) -> float | None:
    """The error that is largest in size, over what the simulation knows well."""
    errors = []
    for station, cls, metric in places:
        value, low, high = truth[station, cls, metric]
        if value and low is not None and (high - low) / 2 <= KNOWN * value:
            errors.append(found.value(metric, station, cls) / value - 1)
    return max(errors, key=abs) if errors else None


def summary(rows: list[dict[str, Any]]) -> str:
    lines = [
        "# Errors of approximations",
        "",
        "Per cent; medians, 90 % quantiles and largest of the worst error of each model.",
        "",
    ]
    lines += ["| family | models | method | answered | response: median | 90 % | worst | wait: median | 90 % | worst |"]
    lines += ["|---|---|---|---|---|---|---|---|---|---|"]
    for family, names in METHODS.items():
        for seed, what in SEEDS.items():
            for name in names:
                own = [r for r in rows if (r["family"], r["seed"], r["method"]) == (family, seed, name)]
                answers = sum(not r["refused"] for r in own)
                cells = [*shares(own, "response_error"), *shares(own, "wait_error")]
                lines.append(f"| {family} | {what} | `{name}` | {answers} of {len(own)} | {' | '.join(cells)} |")
    lines += ["", "What `auto` took:", ""]
    for family in METHODS:
        taken = Counter(r["taken"] for r in rows if (r["family"], r["method"]) == (family, "auto"))
        lines.append(f"- {family}: {', '.join(f'{name} {n}' for name, n in taken.most_common())}")
    return "\n".join(lines) + "\n"


def shares(rows: list[dict[str, Any]], key: str) -> list[str]:
    sizes = np.abs([r[key] for r in rows if r[key] is not None])
    return (
        [f"{100 * x:.1f}" for x in (np.median(sizes), np.quantile(sizes, 0.9), sizes.max())]
        if len(sizes)
        else ["–"] * 3
    )


if __name__ == "__main__":
    main()
