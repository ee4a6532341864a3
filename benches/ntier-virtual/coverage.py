"""How often the study of the simulated three-tier site finds what was put in: whole studies, one a seed.

    python benches/ntier-virtual/coverage.py [--seeds 1-100] [--workers N] [--out FOLDER]

Each seed is `studies/ntier-virtual` with less: see SHORTER. Rows are added to FOLDER/raw.csv after each seed, and seeds that are
there are left out, so that it can be run in parts.
"""

from __future__ import annotations

import argparse
import csv
import os
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.mix_demands import mix_demands
from sojourn.study.checked_study import read_plan
from sojourn.study.oscillating_runs import judged
from sojourn.study.study_findings import StudyFindings
from sojourn.study.study_steps import run_system_study
from sojourn.study.system import System
from sojourn_cases.common.parameter_recovery import coverage
from sojourn_cases.ntier.bulletin_board_simulated import SimulatedBulletin
from sojourn_cases.ntier.simulated_bulletin import TIERS, demand_s

HERE = Path(__file__).resolve().parent
STUDY = HERE.parents[1] / "studies/ntier-virtual/study.toml"
SHORTER = {
    "repetitions = 5": "repetitions = 3",
    "for = 20": "for = 10",
    "users = [200, 400]": "users = [400]",
    "[1, 2, 3, 4, 6, 8]": "[1, 2, 3, 4]",
    'numbering = ["0-3|4-7", "even|odd"], ': "",
    "101, 102, 103, 104, 105": "101, 102",
}
COLUMNS = ("seed", "configuration", "time", "truth", "estimate", "low", "high", "covered")
PUT_IN = "package-pairs"  # cases/sojourn_cases/ntier/package-pairs.toml
EXPECTED = {"batch": "hidden", "spread": "none"}


def one_study(file: Path, seed: int) -> list[dict[str, Any]]:
    """A row an effect, and one a run that was judged to oscillate or not."""
    return list(_rows(file, seed))


def _rows(file: Path, seed: int) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        found, _, _ = run_system_study(file, out=Path(folder) / "out", seed=seed, say=lambda _: None)
        for p in (parameter for one in found.analyses for parameter in one.parameters):
            yield dict(
                zip(
                    COLUMNS,
                    (seed, p.configuration, p.name, p.truth, p.value, p.low, p.high, int(p.covered)),
                    strict=True,
                )
            )
        for p in demands(found, read_plan(file).system):
            yield dict(zip(COLUMNS, (seed, *p), strict=True))
        best = found.rivals.first if found.rivals else None
        assert isinstance(best, FittedModel)
        share = {model.model.name: weight for weight, model in best.weighted}.get(PUT_IN, 0.0)
        yield dict.fromkeys(COLUMNS, "") | {
            "seed": seed, "configuration": "scale-up", "time": "law", "estimate": share, "covered": int(best.model.name == PUT_IN),
        }  # fmt: skip
        options = next(part.options for part in read_plan(file).study.analysis if part.name == "oscillation")
        for strategy, runs in judged(found, options).items():
            for _, run in runs:
                right = int(run.verdict == EXPECTED[strategy])
                yield dict.fromkeys(COLUMNS, "") | {
                    "seed": seed, "configuration": strategy, "time": "verdict", "estimate": run.correlation, "covered": right,
                }  # fmt: skip


def demands(found: StudyFindings, site: System) -> Iterator[tuple[Any, ...]]:
    """Of each tier and page the regression beside what was put in, and the throughput predicted of mixes not in it beside the
    known one."""
    assert isinstance(site, SimulatedBulletin)
    fitted = mix_demands(found.of("mixes"))
    for tier in TIERS:
        for page, e in fitted[tier].estimates(0.95).items():
            truth = demand_s(page, tier, found.of("mixes")[0].manifest["factors"])
            yield tier, page, truth, *e[:3], int(e.low <= truth <= e.high)
    for run in found.of("other mixes"):
        frame = run.frame("metrics")
        assert frame is not None
        asked = frame.filter(pl.col("metric") == "throughput", pl.col("class") != "")
        x = float(asked["value"].sum())
        e = fitted["cpu"].saturation_rate_per_s(dict(asked.select("class", "value").iter_rows()), 1.0, 0.95)
        yield "new mix", "throughput", x, *e[:3], int(e.low <= x <= e.high)


def summary(rows: pl.DataFrame) -> str:
    """Counts with the band in which all of them lie together with probability 0.99 when each interval is right."""
    lines = [
        "# What was put in, and how often it is found", "",
        f"{rows['seed'].n_unique()} seeds; intervals at 95 %; band: of all counts together, 99 %.", "",
        "| configuration | effect | put in | inside the interval | band | mean error |", "|---|---|---|---|---|---|",
    ]  # fmt: skip
    effects = rows.filter(pl.col("time").is_in(["verdict", "law"]).not_())
    for row in coverage(effects).iter_rows(named=True):
        truth = effects.filter(configuration=row["configuration"], time=row["time"])["truth"][0]
        lines.append(f"| {row['configuration']} | {row['time']} | {truth:.4g} | {row['covered']} of {row['studies']} | "
                     f"{row['low']} to {row['high']} | {row['bias']:+.2%} |")  # fmt: skip
    lines += ["", "| strategy | verdict of a run | right | correlation, least to largest |", "|---|---|---|---|"]
    for (strategy,), runs in rows.filter(pl.col("time") == "verdict").group_by("configuration", maintain_order=True):
        r = runs["estimate"]
        lines.append(
            f"| {strategy} | {EXPECTED[strategy]} | {runs['covered'].sum()} of {runs.height} | {r.min():.2f} to {r.max():.2f} |"
        )
    laws = rows.filter(pl.col("time") == "law")
    best = f"{laws['covered'].sum()} of {laws.height}"
    lines += [
        "", f"Of the three model files of the scale-up the one that was put in, pairs of cores in two packages, is taken in {best}; its "
        f"weight in their average is at least {laws['estimate'].min():.2f}.",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="1-100")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=HERE / time.strftime("%Y-%m-%d"))
    given = parser.parse_args()
    first, last = map(int, given.seeds.split("-"))
    given.out.mkdir(parents=True, exist_ok=True)
    raw = given.out / "raw.csv"
    there = set(pl.read_csv(raw)["seed"]) if raw.exists() else set()
    text = STUDY.read_text()
    for old, new in SHORTER.items():
        assert old in text, f"{STUDY} has no {old!r} any more"
        text = text.replace(old, new)
    with tempfile.TemporaryDirectory() as folder, open(raw, "a", newline="") as file:
        (study := Path(folder) / "study.toml").write_text(text)
        writer = csv.DictWriter(file, COLUMNS)
        if not there:
            writer.writeheader()
        with ProcessPoolExecutor(given.workers, get_context("spawn")) as pool:
            jobs = [pool.submit(one_study, study, seed) for seed in sorted(set(range(first, last + 1)) - there)]
            for job in as_completed(jobs):
                writer.writerows(job.result())
                file.flush()
    (given.out / "summary.md").write_text(summary(pl.read_csv(raw).sort("seed", maintain_order=True)))
    print((given.out / "summary.md").read_text())


if __name__ == "__main__":
    main()
