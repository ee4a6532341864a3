"""`sojourn capacity` on simulated services of known truth: how often its interval holds, how wide it is, what it spent, how far it went.

    python benches/capacity/run.py --first SEED --seeds N --out FOLDER [--peer-every 3]
    python benches/capacity/run.py --summary FOLDER [--machine 0.025]
    python benches/capacity/run.py --truths FOLDER
    python benches/capacity/run.py --bisect FOLDER

Each seed draws a service and an objective: the mean or p99 below a limit that is met up to 60 to 92 % of saturation. The services:

    cores      1 to 8 workers that compute, CPU time recorded
    delay      1 to 4 workers behind a constant delay of 1 to 5 times their own time
    lock       8 or 16 workers, a part of whose work only one can do at a time
    pool       32 workers with 2 or 4 connections to what they wait for
    growing    2 to 8 workers that compute, and whose time grows with how many are at work, by 20 to 60 %

with constant, exponential or uneven times of 2 to 20 ms; the number of workers is told to half of the searches. The search is the
product's, from its look at a few users on, with its defaults, on run folders of 2 to 20 s that are made by a recursion in numpy; the truth
is a long run of the same recursion. Nothing is measured: others may use the machine. A row a service is appended to
FOLDER/raw.csv as soon as it is there.

`bisection.py` is what the search replaces; `--bisect FOLDER` makes it beside rows that have none.

Answers are widened by a part of the machine (decision 0040), which no simulated service has. So the table has both: how many intervals
hold the truth, and how many would without that part, which is taken off each side of the row. --machine: its standard deviation in rows
that do not state it. --truths: by how much the truth of each row is off, by other long runs.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from sojourn.capacity import SearchLimits, light_load, search
from sojourn.capacity.rate_interval import MACHINE
from sojourn.query.objectives import read_objectives

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/unit/capacity"))
from bisection import LEVEL, bisection  # type: ignore[import-not-found]
from virtual_service import LONG, WARM, VirtualService, drawn_limit, figure_of  # type: ignore[import-not-found]

KINDS = ("cores", "delay", "lock", "pool", "growing")
LAWS = ("constant", "exponential", "uneven")
SEARCH_RUN_S = 20.0  # the longest run of a search of three minutes
SAVING = 1 / 3  # of a bisection's requests, which a search is to take at most
OTHERS, APART = 8, 0.03  # long runs that judge a truth; of the rate, on both sides, for the steepness there


def drawn(seed: int, out: Path) -> tuple[str, VirtualService, str, float]:
    """A kind, a service of it, a figure, and the limit in s."""
    random = np.random.default_rng([seed, 29])
    kind = str(random.choice(KINDS))
    time_s = float(np.exp(random.uniform(np.log(2e-3), np.log(20e-3))))
    given: dict[str, Any] = {"service_s": time_s, "law": str(random.choice(LAWS)), "told": bool(random.random() < 0.5)}
    given |= drawn_limit(kind, time_s, random) | ({"watched": True} if kind in ("cores", "growing") else {})
    service = VirtualService(out, seed=seed, **given)
    figure = str(random.choice(["mean", "p99"]))
    limit = figure_of(figure, service.long_run(float(random.uniform(0.6, 0.92)) * service.full_per_s))
    return kind, service, figure, float(f"{limit * 1e3:.3g}") / 1e3


def row(seed: int, peer: bool = True) -> dict[str, Any]:
    """One search beside its truth; `peer`: and beside the bisection."""
    with tempfile.TemporaryDirectory() as place:
        kind, service, figure, limit = drawn(seed, Path(place))
        truth = service.truth(figure, limit)
        objectives = read_objectives([f"{figure} < {limit * 1e3:.3g}ms"])
        light = light_load(service.users, objectives)
        few = light.few_full_per_s
        found = search(service.run, light, objectives, SearchLimits(within_s=86400), run_s=SEARCH_RUN_S)
        requests, most = service.requests, max(service.asked, default=0.0) / service.full_per_s
        rate = found.rate_per_s
        both = rate is not None and rate.high is not None
        low, high = (rate.low, rate.high) if rate is not None else (None, None)
        width = rate.half_width if rate is not None and both else None
        other = bisection(service, light.borne_per_s, figure, limit, width) if width and peer else {}
        return {
            "seed": seed, "kind": kind, "workers": service.workers, "told": service.told, "law": service.law,
            "service_s": service.service_s, "then_s": service.then_s, "seconds": service.seconds, "delay_s": service.delay_s,
            "grows": service.grows, "figure": figure, "limit_s": limit, "truth": truth, "share": truth / service.full_per_s,
            "value": rate.value if rate else None, "low": low, "high": high, "half_width": width, "answered": found.answered,
            "inside": both and low <= truth <= high, "runs": len(found.runs), "requests": requests, "most": most,
            "bisection_runs": other.get("runs"), "bisection_requests": other.get("requests"),
            "bisection_inside": other["low"] <= truth <= other["high"] if other else None,
            "saturation": found.saturation_per_s.value if found.saturation_per_s else None,
            "limits": found.limit.text if found.limit else "",
            "model": found.model, "stopped": found.stop_reason, "notes": " | ".join((*found.notes, found.no_answer_reason)),
            "machine": MACHINE, "few_low": few.low if few else None, "few_high": few.high if few else None,
        }  # fmt: skip


def bisect(file: Path) -> None:
    """A bisection beside each row that has none and has an interval; the file is written anew after each."""
    rows = pl.read_csv(file, infer_schema_length=None).to_dicts()
    for one in rows:
        if one["half_width"] is None or one["bisection_runs"] is not None:
            continue
        with tempfile.TemporaryDirectory() as place:
            _, service, figure, limit = drawn(one["seed"], Path(place))
            light = light_load(service.users, read_objectives([f"{figure} < {limit * 1e3:.3g}ms"]))
            other = bisection(service, light.borne_per_s, figure, limit, one["half_width"])
        one |= {
            "bisection_runs": other["runs"],
            "bisection_requests": other["requests"],
            "bisection_inside": other["low"] <= one["truth"] <= other["high"],
        }
        pl.DataFrame(rows, infer_schema_length=None).write_csv(file, float_precision=6)


def without_machine(row: dict[str, Any], machine: float) -> tuple[float, float]:
    """The ends of an answer without the part of the machine, a standard deviation of the logarithm. An end that is nearer than that part
    has none of it: its row is of before the part was added, or `machine` is not what it had."""
    part = float(stats.norm.ppf((1 + LEVEL) / 2)) * machine
    ends = []
    for name in ("low", "high"):
        away = float(np.log(row[name] / row["value"]))
        if abs(away) < part:
            raise ValueError(f"seed {row['seed']}: {name} is nearer than the part of the machine; give --machine 0")
        ends.append(row["value"] * float(np.exp(np.sign(away) * np.sqrt(away**2 - part**2))))
    return ends[0], ends[1]


def summary(file: Path, machine: float = 0.0) -> str:
    """Of all rows, and by kind; `machine`: the part in rows that do not state it."""
    rows = pl.read_csv(file, infer_schema_length=None).to_dicts()
    for one in rows:
        if one["answered"]:
            low, high = without_machine(one, one.get("machine", machine))
            one["inside_alone"] = low <= one["truth"] <= high
    lines = [
        "| | services | answer | inside | without the machine's part | half-width | runs | highest rate | requests | of bisection's "
        "| bisection inside |"
    ]
    lines.append("|---|" + "---|" * 10)
    for name in ("all", *dict.fromkeys(one["kind"] for one in rows)):
        part = [one for one in rows if name in ("all", one["kind"])]
        good = [one for one in part if one["answered"]]
        shares = _shares(good)
        lines.append(
            f"| {name} | {len(part)} | {len(good)} | {_count(good, 'inside')} | {_count(good, 'inside_alone')} | "
            f"{np.median([one['half_width'] for one in good]):.1%} | {np.median([one['runs'] for one in part]):.0f}, at most "
            f"{max(one['runs'] for one in part)} | {max(one['most'] for one in part):.2f} | "
            f"{np.median([one['requests'] for one in part]):.0f} | {f'{np.median(shares):.2f}' if shares else 'not bisected'} | "
            f"{_count(good, 'bisection_inside')} of {len(shares)} |"
        )
    good = [one for one in rows if one["answered"]]
    held = [one for one in good if one["inside"]]
    return "\n".join(
        [
            *lines,
            f"\ninside {_of(_count(good, 'inside'), len(good))}; without the machine's part {_of(_count(good, 'inside_alone'), len(good))}",
            f"told more than the truth: {sum(one['value'] > one['truth'] for one in good)} of {len(good)}",
            "at most a third of the bisection's requests: "
            + "; ".join(
                f"{sum(share <= SAVING for share in _shares(some))} of {len(_shares(some))} {what}"
                for what, some in (("bisected", good), ("of those whose interval holds the truth", held))
            ),
        ]
    )


def _shares(rows: list[dict[str, Any]]) -> list[float]:
    return [one["requests"] / one["bisection_requests"] for one in rows if one["bisection_requests"]]


def _count(rows: list[dict[str, Any]], name: str) -> int:
    return sum(bool(one[name]) for one in rows)


def _of(inside: int, count: int) -> str:
    level = stats.binomtest(inside, max(count, 1)).proportion_ci(LEVEL, "wilson")
    return f"{inside} of {count} ({level.low:.0%} to {level.high:.0%} by Wilson, {LEVEL:.0%})"


def truths(file: Path) -> str:
    """By how much the true rate of each row is more than the row says, by other long runs, and the standard error of that."""
    lines = ["| seed | off | standard error |", "|---|---|---|"]
    for one in pl.read_csv(file, infer_schema_length=None).to_dicts():
        _, service, figure, limit = drawn(one["seed"], Path())  # makes no file
        off, error = truth_off(service, figure, limit, one["truth"])
        lines.append(f"| {one['seed']} | {off:+.1%} | {error:.1%} |")
    return "\n".join(lines)


def truth_off(service: VirtualService, figure: str, limit_s: float, truth: float) -> tuple[float, float]:
    """The logarithm of the rate where the mean of other long runs is at the limit, over `truth`, and its standard error (delta method)."""

    def log_figure(rate: float, seed: int) -> float:
        random = np.random.default_rng([77, seed])
        return float(np.log(figure_of(figure, service.responses(rate, LONG, random)[1][WARM:])))

    found = np.array([log_figure(truth, seed) for seed in range(OTHERS)])
    beside = [log_figure(truth * (1 + sign * APART), 0) for sign in (-1, 1)]
    steepness = (beside[1] - beside[0]) / np.log((1 + APART) / (1 - APART))
    return float((np.log(limit_s) - found.mean()) / steepness), float(found.std(ddof=1) / np.sqrt(OTHERS) / steepness)


def append_row(file: Path, found: dict[str, Any]) -> None:
    """With the header where the file is new."""
    new = not file.exists()
    with open(file, "a", newline="") as opened:
        writer = csv.DictWriter(opened, list(found), lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in found.items()})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=401)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--peer-every", type=int, default=1, help="of how many services one is bisected, too")
    parser.add_argument("--bisect", type=Path, help="a folder with raw.csv: bisects what was not")
    parser.add_argument("--summary", type=Path, help="a folder with raw.csv: only the table")
    parser.add_argument("--machine", type=float, default=0.0, help="part of the machine in rows that do not state it")
    parser.add_argument("--truths", type=Path, help="a folder with raw.csv: how well the truths are known")
    given = parser.parse_args()
    if given.truths is not None:
        print(truths(given.truths / "raw.csv"))
        return
    if given.bisect is not None:
        bisect(given.bisect / "raw.csv")
        return
    if given.summary is not None or given.out is None:
        print(summary((given.summary or Path()) / "raw.csv", given.machine))
        return
    given.out.mkdir(parents=True, exist_ok=True)
    for seed in range(given.first, given.first + given.seeds):
        found = row(seed, (seed - given.first) % given.peer_every == 0)
        append_row(given.out / "raw.csv", found)
        print(found["seed"], found["kind"], found["inside"], found["half_width"], found["runs"], flush=True)


if __name__ == "__main__":
    main()
