"""Recovery: models with known numbers are simulated, their runs fitted, and the intervals asked whether they hold the truth.

    python benches/fit/recovery.py --seeds 200 --out FOLDER [--only NAME]

A row a template: how often the 95 % interval of each unknown held it, how often a new run at a load beyond those fitted
lay in its 90 % prediction interval, the median error of the predicted response. Simulations, no load: a busy machine does
not matter.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import sojourn as sj
from sojourn.errors import SojournError
from sojourn.fit.model import FittedModel, fit_model
from sojourn.fit.runs import Run, Runs
from sojourn.model.unknown import replaced

Z = 1.959964
PASSES = 2000  # of each run: short, so that runs differ by some per cent
RATE = {"rate_per_s": "classes.user.rate_per_s"}
USERS = {"users": "classes.user.population"}
FIELDS = ("template", "seeds", "refused", "held", "predicted", "median_error", "model_error", "seconds")


@dataclass(frozen=True)
class Template:
    """`text` with %s where unknowns are; `truth` their values, `free` their tables; `levels` fitted, `beyond` predicted."""

    text: str
    truth: Sequence[str]
    free: Sequence[str]
    paths: Mapping[str, str]
    levels: Sequence[Mapping[str, Any]]
    beyond: Mapping[str, Any]
    watched: Sequence[str] = ()


def _open(stations: str, demands: str, head: str = "") -> str:
    return f'{head}{stations}[classes.user]\nkind = "open"\nrate_per_s = 1.0\n[demands_s]\n{demands}'


def _closed(stations: str, demands: str, think_s: float = 0.5) -> str:
    return f'{stations}[classes.user]\nkind = "closed"\npopulation = 1\nthink_s = {think_s}\n[demands_s]\n{demands}'


def _rates(*values: float) -> list[dict[str, Any]]:
    return [{"rate_per_s": float(v)} for v in values]


def _users(*values: int) -> list[dict[str, Any]]:
    return [{"users": v} for v in values]


ANY, ZERO = "{ free = true }", "{ free = true, low = 0 }"
NET = '[stations.net]\nkind = "delay"\n'
LOGNORMAL = 'cpu = { user = { kind = "lognormal", mean = %s, scv = %s } }\n'
SCV = "{ free = true, low = 0.01, high = 20, start = 1 }"
TEMPLATES = {
    "M/M/1": Template(_open("[stations.cpu]\n", "cpu = { user = %s }\n"), ["0.02"], [ANY], RATE,
                      _rates(8, 14, 20, 26, 32, 38), {"rate_per_s": 44.0}),
    "M/M/2, delay": Template(_open("[stations.cpu]\nservers = 2\n" + NET, "cpu = { user = %s }\nnet = { user = %s }\n"),
                             ["0.02", "0.005"], [ANY, ZERO], RATE, _rates(20, 30, 40, 50, 60, 70, 80), {"rate_per_s": 90.0}),
    "M/M/8, watched": Template(_open("[stations.cpu]\nservers = 8\n" + NET, "cpu = { user = %s }\nnet = { user = %s }\n"),
                               ["0.02", "0.01"], [ANY, ZERO], RATE, _rates(100, 150, 200, 250, 300, 340), {"rate_per_s": 375.0},
                               ["cpu"]),
    "M/G/1, c² 0.3, watched": Template(_open("[stations.cpu]\n", LOGNORMAL), ["0.02", "0.3"], [ANY, SCV], RATE,
                                       _rates(10, 15, 20, 25, 30, 35, 40), {"rate_per_s": 45.0}, ["cpu"]),
    "M/G/1, c² 3, watched": Template(_open("[stations.cpu]\n", LOGNORMAL), ["0.02", "3.0"], [ANY, SCV], RATE,
                                     _rates(10, 15, 20, 25, 30, 35, 40), {"rate_per_s": 45.0}, ["cpu"]),
    "M/G/1-PS": Template(_open('[stations.cpu]\ndiscipline = "ps"\n', "cpu = { user = %s }\n"), ["0.02"], [ANY], RATE,
                         _rates(8, 14, 20, 26, 32, 38), {"rate_per_s": 44.0}),
    "tandem, one watched": Template(_open("[stations.web]\n[stations.db]\n", "web = { user = %s }\ndb = { user = %s }\n"),
                                    ["0.01", "0.02"], [ANY, ANY], RATE, _rates(8, 14, 20, 26, 32, 38), {"rate_per_s": 44.0},
                                    ["db"]),
    "closed, one queue": Template(_closed("[stations.cpu]\n", "cpu = { user = %s }\n"), ["0.03"], [ANY], USERS,
                                  _users(2, 5, 8, 11, 14, 18), {"users": 30}),
    "closed, two queues, watched": Template(
        _closed("[stations.cpu]\nservers = 2\n[stations.disk]\n", "cpu = { user = %s }\ndisk = { user = %s }\n"),
        ["0.04", "0.015"], [ANY, ANY], USERS, _users(2, 5, 10, 15, 20, 25, 30, 35), {"users": 45}, ["cpu"]),
    "closed, four servers, delay, watched": Template(
        _closed("[stations.cpu]\nservers = 4\n" + NET, "cpu = { user = %s }\nnet = { user = %s }\n"),
        ["0.08", "0.02"], [ANY, ZERO], USERS, _users(4, 10, 16, 22, 28, 34, 40), {"users": 60}, ["cpu"]),
    "two open classes": Template(
        '[stations.cpu]\nservers = 2\ndiscipline = "ps"\n[classes.user]\nkind = "open"\nrate_per_s = 1.0\n[classes.batch]\n'
        'kind = "open"\nrate_per_s = 5.0\n[factors]\nrate_per_s = "classes.user.rate_per_s"\n[demands_s]\n'
        "cpu = { user = %s, batch = %s }\n",
        ["0.02", "0.08"], [ANY, ANY], RATE, _rates(10, 20, 30, 40, 50, 60), {"rate_per_s": 70.0}),
    "think time unknown": Template(
        '[stations.cpu]\n[classes.user]\nkind = "closed"\npopulation = 1\nthink_s = %s\n[demands_s]\ncpu = { user = %s }\n',
        ["0.4", "0.02"], [ANY, ANY], USERS, _users(2, 6, 10, 14, 18, 22), {"users": 35}),
}  # fmt: skip


def simulated(model: sj.Model, t: Template, factors: Mapping[str, Any], seed: int) -> Run:
    """One run of the truth."""
    for name, value in factors.items():
        model = replaced(model, t.paths[name], value)
    m = sj.simulate(model, completions=PASSES, seed=seed, quantiles=(), max_seconds=30)
    classes = ["", *(c.name for c in model.classes)] if len(model.classes) > 1 else [""]
    means = {(c, metric): _mean(m, metric, c) for c in classes for metric in ("response_time", "throughput")}
    servers = {s.name: getattr(s, "servers", 1) for s in model.stations}
    busy = {name: m.value("utilisation", name) * servers[name] for name in t.watched}
    return Run(f"run-{seed}", dict(factors), means, busy)


def _mean(m: sj.Metrics, metric: str, cls: str) -> tuple[float, float]:
    value = m.value(metric, cls=cls)
    low, high = m.interval(metric, cls=cls)
    return value, 0.05 if low is None or high is None else (high - low) / 2 / Z / value


def recovered(t: Template, seed: int) -> tuple[list[bool], bool, float, FittedModel]:
    """Which intervals held the truth, whether the prediction interval held a new run, and the error of the prediction."""
    observed = "".join(f'{name} = "{name}"\n' for name in t.watched)
    truth = sj.Model.parse(t.text % tuple(t.truth))
    free = sj.Model.parse(t.text % tuple(t.free) + (f"[observed]\n{observed}" if observed else ""))
    runs = Runs([simulated(truth, t, level, 1000 * seed + i) for i, level in enumerate(t.levels)])
    fitted = fit_model(runs, free, seed=seed)
    known = dict(zip(sorted(fitted.paths, key=lambda p: _place(t, p)), map(float, t.truth), strict=True))
    held = [fitted.estimates[p].low <= known[p] <= fitted.estimates[p].high for p in fitted.paths]
    table = fitted.validate(Runs([simulated(truth, t, t.beyond, 1000 * seed + 999)]), level=0.9)
    row = table.filter((table["metric"] == "response_time") & (table["class"] == table["class"][0])).row(0, named=True)
    return held, bool(row["inside_interval"]), abs(row["error"]) if row["error"] is not None else 1.0, fitted


def _place(t: Template, path: str) -> int:
    """Where an unknown stands in the text: think times come before demands."""
    parts = path.split(".")
    if parts[0] == "classes":
        return t.text.index("think_s")
    line = t.text.index(f"\n{parts[1]} = ") if f"\n{parts[1]} = " in t.text else 0
    return t.text.index(f"{parts[3] if len(parts) > 3 else parts[2]} = ", line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for name, t in TEMPLATES.items():
        if asked.only and asked.only != name:
            continue
        begun, refused = time.monotonic(), 0
        held, predicted, errors, own = [], [], [], []
        for seed in range(asked.seeds):
            try:
                one = recovered(t, seed)
            except SojournError as error:
                refused += 1
                print(f"{name}, seed {seed}: {error}", file=sys.stderr)
                continue
            held.append(one[0])
            predicted.append(one[1])
            errors.append(one[2])
            own.append(one[3].model_error)
        share = np.mean(np.array(held), axis=0) if held else np.array([])
        rows.append({
            "template": name, "seeds": asked.seeds, "refused": refused, "held": " ".join(f"{x:.3f}" for x in share),
            "predicted": f"{np.mean(predicted) if predicted else 0:.3f}", "median_error": f"{np.median(errors):.4f}",
            "model_error": f"{np.median(own):.4f}", "seconds": f"{time.monotonic() - begun:.0f}",
        })  # fmt: skip
        print(rows[-1], flush=True)
    with open(asked.out / "recovery.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
