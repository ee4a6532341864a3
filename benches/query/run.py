"""How often the intervals of `sojourn query` contain the truth, over independent seeds.

    python benches/query/run.py [--seeds 200] [--source simulated run-folder]
    python benches/query/run.py --rare [--seeds 200]          rare shares of requests, of states and of failures

Writes DATE/{summary.md,raw.csv,machine.json} beside this file (DATE-rare). The queries and their truths are those of
tests/unit/query_golden.py: an M/M/4, closed forms and uniformisation, computed outside this project; those of rare shares are closed
forms too, below. Each seed is a record of about 100 000 requests (667 s of simulated time), in memory or as a run folder of the
virtual testbed.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/unit"))

from query_golden import MODEL, NUMBERS, model  # noqa: E402

import sojourn as sj  # noqa: E402
from sojourn.query import Question, query  # noqa: E402
from sojourn.query.query import as_source  # noqa: E402
from sojourn.query.sources.simulated import SimulatedSource  # noqa: E402
from sojourn.query.sources.source import Source  # noqa: E402
from sojourn.simulate.simulated_run import as_run  # noqa: E402
from sojourn.units import USUAL_LEVEL as LEVEL  # noqa: E402

LENGTH_S = 667.0
AROUND = 0.03  # of the level, what the coverage must be
ORDER = list(NUMBERS)  # in raw.csv a query is its number here, from 1
FIRST_SEED = 30_000  # not those on which a method was chosen, nor those that judged an earlier one
WAITS, LOAD = 0.509433962264, 0.75  # Erlang's C of 3 erlangs and 4 servers, utilisation
SLOW_S, MANY, CAPACITIES = (0.15, 0.171793524391, 0.2), (16, 20, 24, 28, 32), (14, 17, 20, 24, 28, 32, 36)


def loss(capacity: int) -> float:
    """P(n = capacity) of an M/M/4 that holds so many: Erlang's birth and death process, cut off."""
    weights = [3.0 ** min(n, 4) / math.factorial(min(n, 4)) * LOAD ** max(n - 4, 0) for n in range(capacity + 1)]
    return weights[-1] / sum(weights)


def rare() -> dict[str, tuple[str, float]]:
    """Query → (model, truth). Response times: service, and where all servers are busy a wait, both exponential with mean 20 ms."""
    slow = {f"probability(response > {1000 * t:.12g}ms)": math.exp(-50 * t) * (1 + 50 * WAITS * t) for t in SLOW_S}
    many = {f"probability({{n() >= {n}}})": WAITS * LOAD ** (n - 4) for n in MANY}
    one = {"probability({n() == 20})": WAITS * LOAD**16 * (1 - LOAD)}
    lost = {
        f"errors, at most {k}": (MODEL.replace("servers = 4", f"servers = 4\ncapacity = {k}"), loss(k))
        for k in CAPACITIES
    }
    return {text: (MODEL, truth) for text, truth in (slow | many | one).items()} | lost


def rare_rows(first: int, seeds: int) -> Iterator[dict[str, object]]:
    """As `rows`, of rare shares."""
    asked = rare()
    for seed in range(first, first + seeds):
        sources: dict[str, Source] = {}
        for number, (text, (one, _)) in enumerate(asked.items(), 1):
            if one not in sources:
                sources[one] = SimulatedSource(sj.Model.parse(one), seed=seed, until_s=LENGTH_S)
            found = query(text.split(",")[0], sources[one])
            numbers = {"value": found.value, "low": found.low, "high": found.high}
            yield {"source": "simulated", "seed": seed, "query": number} | {
                key: float(f"{x:.6g}") for key, x in numbers.items() if x is not None
            }


def source(kind: str, seed: int, folder: Path) -> Source:
    """One record."""
    if kind == "simulated":
        return SimulatedSource(model(), seed=seed, until_s=LENGTH_S)
    return as_source(as_run(model(), folder / f"seed-{seed}", seed=seed, until_s=LENGTH_S))


def rows(kind: str, first: int, seeds: int) -> Iterator[dict[str, object]]:
    """One for each query and seed."""
    questions = {text: Question.read(text) for text in NUMBERS}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + seeds):
            asked = source(kind, seed, Path(folder))
            for text in NUMBERS:
                found = query(questions[text], asked)
                low = -math.inf if found.low is None else found.low
                high = math.inf if found.high is None else found.high
                numbers = {"value": found.value, "low": low, "high": high}
                yield {"source": kind, "seed": seed, "query": ORDER.index(text) + 1} | {
                    key: float(f"{x:.6g}") for key, x in numbers.items()
                }


def recorded(path: Path) -> list[dict[str, object]]:
    """The rows of a file that this wrote."""
    with open(path, newline="") as file:
        return [
            row | {key: float(row[key]) for key in ("value", "low", "high")} | {"query": int(row["query"])}
            for row in csv.DictReader(file)
        ]


def summary(found: list[dict[str, object]], truths: dict[str, float]) -> str:
    """Share of seeds whose interval contains the truth, by query and source."""
    kinds = list(dict.fromkeys(str(row["source"]) for row in found))
    lines = [
        "| query | truth | " + " | ".join(f"{kind}: contained | half-width" for kind in kinds) + " |",
        "|---" * (2 + 2 * len(kinds)) + "|",
    ]
    out = []
    for number, (text, truth) in enumerate(truths.items(), 1):
        cells = []
        for kind in kinds:
            own = [row for row in found if row["source"] == kind and row["query"] == number]
            share = sum(row["low"] <= truth <= row["high"] for row in own) / len(own)  # type: ignore[operator]
            widths = sorted((row["high"] - row["low"]) / 2 / truth for row in own)  # type: ignore[operator]
            cells.append(f"{share:.1%} | {widths[len(widths) // 2]:.1%}")
            out += [] if abs(share - LEVEL) <= AROUND else [f"{text} ({kind}): {share:.1%}"]
        lines.append(f"| `{text}` | {truth:.6g} | {' | '.join(cells)} |")
    numbers = sorted({int(str(row["seed"])) for row in found})
    seeds = len(numbers)
    chance = 1.96 * math.sqrt(LEVEL * (1 - LEVEL) / seeds)
    low, high = LEVEL - chance, LEVEL + chance
    head = f"""# Coverage of the intervals of queries

{LEVEL:.0%} intervals, {seeds} seeds each (from {numbers[0]}); chance alone spreads a true {LEVEL:.0%} over {low:.1%} to {high:.1%}.
Demanded: {LEVEL - AROUND:.0%} to {LEVEL + AROUND:.0%}.
Outside: {", ".join(out) or "none"}. Half-widths: the median, relative to the truth.
"""
    return head + "\n" + "\n".join(lines) + "\n"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=200)
    options.add_argument("--first", type=int, default=FIRST_SEED)
    options.add_argument(
        "--source", nargs="+", default=["simulated", "run-folder"], choices=["simulated", "run-folder"]
    )
    options.add_argument("--rare", action="store_true", help="rare shares, simulated only")
    options.add_argument("--out", type=Path, help="a folder of its own, for seeds on which a method is chosen")
    options.add_argument("--add", action="store_true", help="to what was recorded today")
    asked = options.parse_args()
    folder = HERE / (time.strftime("%Y-%m-%d") + ("-rare" if asked.rare else ""))
    folder = asked.out or folder
    folder.mkdir(exist_ok=True)
    found = recorded(folder / "raw.csv") if asked.add else []
    if asked.rare:
        found += rare_rows(asked.first, asked.seeds)
    else:
        found += [row for kind in asked.source for row in rows(kind, asked.first, asked.seeds)]
    truths = {text: truth for text, (_, truth) in rare().items()} if asked.rare else NUMBERS
    with open(folder / "raw.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]))
        writer.writeheader()
        writer.writerows(found)
    (folder / "summary.md").write_text(summary(found, truths))
    (folder / "machine.json").write_text(
        json.dumps({"kernel": platform.release(), "cores": os.cpu_count()}, indent=1) + "\n"
    )
    print((folder / "summary.md").read_text())


if __name__ == "__main__":
    main()
