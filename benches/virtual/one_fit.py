"""The fit of any model, with the web case's model files, beside the fit of two classes that it is to replace: the same virtual runs.

    python benches/virtual/one_fit.py [--seeds 20] [--first 28001] [--seconds 60] [--workers 2] [--models priority …] [--out FILE]

Each seed draws a host: 1 to 8 cores, demands, laws of service, how pages share a core, and a delay between cores. It is measured with
one NIC at six loads, fitted by both, and then run with more NICs and with twice the cores, at loads up to 80 % of its saturation.
`truth` is `priority` where an interrupt preempts a page and pages wait in turn, which that variant describes; `timesliced`, pages in turns,
it does not describe exactly. `chosen`: the variant that the old fit takes, and the average of the new one. The intervals are at 90 %.
Saturation rates of the truth are those of its demands.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.resources import files
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sojourn as sj
from sojourn.fit import compare
from sojourn.fit.fit_runs import FitRun
from sojourn.fit.rival_models import fit_rivals
from sojourn.predict import predict
from sojourn.runs.observations import observe
from sojourn.runs.resources import add_resources
from sojourn.runs.run_folder import RunFolder
from sojourn.simulate.virtual_host import VirtualHost, placement, simulate_host, write_host_run
from sojourn_cases.web.web_shop import core_groups

HERE = Path(__file__).resolve().parent
TRAINING, BLIND = (0.2, 0.35, 0.5, 0.6, 0.7, 0.8), (0.2, 0.35, 0.5, 0.65, 0.8)
VARIANTS = ("priority", "shared", "paper", "mmm")
LEVEL = 0.9
CHOSEN = "chosen"
Row = dict[str, Any]


def drawn(seed: int) -> tuple[str, VirtualHost]:
    """A host with one NIC; `truth` and the host."""
    rng = np.random.default_rng(seed)
    cores = int(rng.choice([2, 2, 4, 4, 8]))
    page_s = float(np.exp(rng.uniform(np.log(5e-4), np.log(4e-3))))
    interrupt_s = page_s * float(rng.uniform(0.1, 1.5)) / max(cores - 1, 1)
    kinds = [str(rng.choice(["deterministic", "exponential"])), "exponential"]
    interrupt, page = ({"kind": kind, "mean": mean} for kind, mean in zip(kinds, (interrupt_s, page_s), strict=True))
    crossing_s = float(rng.choice([0.0, 1e-4, 3e-4]))
    truth = str(rng.choice(["priority", "timesliced"]))
    turns: dict[str, Any] = {} if truth == "priority" else {"threads_per_core": 0, "quantum_s": page_s}
    return truth, VirtualHost(cores, 1, interrupt, page, crossing_s=crossing_s, **turns)


def sized(host: VirtualHost, cores: int, nics: int) -> VirtualHost:
    return VirtualHost(**{**vars(host), "cores": cores, "nics": nics})


def saturation(host: VirtualHost) -> float:
    """1/s, by its demands: pages stay with probability m/n."""
    stay, away = host.nics / host.cores, host.cores - host.nics
    leading = host.nics / (host.interrupt["mean"] + stay * host.page["mean"])
    return min(leading, away / ((1 - stay) * host.page["mean"]) if away else np.inf)


def measured(out: Path, host: VirtualHost, shares: tuple[float, ...], seconds: float, seed: int) -> list[RunFolder]:
    found = []
    for number, share in enumerate(shares):
        rate = share * saturation(host)
        run = simulate_host(host, rate_per_s=rate, duration_s=seconds, seed=seed * 1000 + number)
        factors = {"cores": host.cores, "nics": host.nics, "rate_per_s": rate}
        folder = write_host_run(out / f"{host.cores}-{host.nics}-{number}", run, {"factors": factors})
        add_resources(folder, core_groups(placement(host.cores, host.nics)), factors)
        found.append(folder)
    return found


def blind_sizes(host: VirtualHost) -> list[tuple[int, int]]:
    more = [(host.cores, nics) for nics in (2, 4) if nics <= host.cores]
    return [*more, (2 * host.cores, 1)]


def errors_of(seed: int, seconds: float, models: tuple[str, ...] = VARIANTS, times: int = 1) -> list[Row]:
    truth, host = drawn(seed)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as place:
        out = Path(place)
        training = measured(out / "training", host, TRAINING * times, seconds, seed)
        blind = {
            size: measured(out / "blind", sized(host, *size), BLIND, seconds, seed + 500) for size in blind_sizes(host)
        }
        for rows_of in (_old, _new):
            rows += rows_of(training, blind, host, models)
    return [{"seed": seed, "truth": truth, "host_cores": host.cores, **row} for row in rows]


Blind = dict[tuple[int, int], list[RunFolder]]


def _old(training: list[RunFolder], blind: Blind, host: VirtualHost, models: tuple[str, ...]) -> Iterator[Row]:
    begun = time.perf_counter()
    found = compare(observe(training), list(models))
    taken = (time.perf_counter() - begun) / len(models)
    for name, fitted in (*found.fits.items(), (CHOSEN, found.fits[found.best])):
        head: Row = {"fit": "old", "model": name, "fit_s": taken}
        yield from _held_out(fitted, head)
        for part, folders, size in (("training", training, (host.cores, host.nics)), *_parts(blind, host)):
            runs = sj.observe_runs(folders).runs
            rates = [run.factors["rate_per_s"] for run in runs]
            told = predict(fitted, rates, cores=size[0], nics=size[1], level=LEVEL).frame
            each = [told.filter(pl.col("rate_per_s") == rate) for rate in rates]
            yield from _errors(head | {"part": part}, each, runs, sized(host, *size))


def _new(training: list[RunFolder], blind: Blind, host: VirtualHost, models: tuple[str, ...]) -> Iterator[Row]:
    runs, begun = sj.observe_runs(training), time.perf_counter()
    texts = {name: (files("sojourn_cases.web") / f"{name}.toml").read_text() for name in models}
    found = fit_rivals(runs, {name: sj.Model.parse(text) for name, text in texts.items()})
    taken = (time.perf_counter() - begun) / len(models)
    for name in set(models) - set(found.fits):
        yield {"fit": "new", "model": name, "part": "no fit", "metric": found.why}
    for name, fitted in (*found.fits.items(), (CHOSEN, found.best)):
        head: Row = {"fit": "new", "model": name, "fit_s": taken}
        yield from _held_out(fitted, head)
        for part, folders, size in (("training", training, (host.cores, host.nics)), *_parts(blind, host)):
            seen = sj.observe_runs(folders).runs
            each = [fitted.predict(run.factors, level=LEVEL).frame for run in seen]
            yield from _errors(head | {"part": part}, each, seen, sized(host, *size))


def _held_out(fitted: Any, head: Row) -> Iterator[Row]:
    for row in fitted.held_out:
        yield head | {"part": "held out", "metric": "response_time", "error": row["response_time"]}


def _errors(head: Row, told: list[pl.DataFrame], runs: Sequence[FitRun], host: VirtualHost) -> Iterator[Row]:
    """Of each run, predicted beside measured; and of the saturation rate, which is that of the demands."""
    cores = {"leading": host.nics, "trailing": host.cores - host.nics}
    for frame, run in zip(told, runs, strict=True):
        yield (
            head | {"metric": "response_time"} | _beside(frame, "", "response_time", run.means["", "response_time"][0])
        )
        for part, number in cores.items():
            row = _beside(frame, part, "utilisation", run.busy[part] / number) if part in run.busy else {}
            yield from [head | {"metric": f"utilisation {part}"} | row] if row else []
    yield head | {"metric": "saturation_rate"} | _beside(told[0], "", "saturation_rate", saturation(host))


def _parts(blind: Blind, host: VirtualHost) -> list[tuple[str, list[RunFolder], tuple[int, int]]]:
    return [("more NICs" if size[0] == host.cores else "more cores", runs, size) for size, runs in blind.items()]


def _beside(frame: pl.DataFrame, station: str, metric: str, truth: float) -> Row:
    """The error, and whether the truth lies inside; a value that is missing is a rate that is called saturated."""
    own = pl.col("station").is_in([station, f"cpu.{station}"]), pl.col("metric") == metric, pl.col("class") == ""
    rows = frame.filter(*own).to_dicts()
    if not rows:
        return {}
    row = rows[0]
    if row["value"] is None or not np.isfinite(row["value"]):
        return {"error": float("inf"), "inside": 0, "half": float("inf")}
    high = np.inf if row["high"] is None else row["high"]
    inside = int(row["low"] <= truth <= high)
    return {"error": row["value"] / truth - 1, "inside": inside, "half": (high - row["low"]) / 2 / row["value"]}


def summary(rows: list[Row]) -> dict[str, Any]:
    """Median absolute error, and how many are inside, by fit, model, part and metric."""
    table = pl.DataFrame([row for row in rows if row["part"] != "no fit"], infer_schema_length=None)
    keys = ["truth", "model", "part", "metric", "fit"]
    both = table.group_by(keys).agg(
        median_error=pl.col("error").abs().median(), worst=pl.col("error").abs().max(), inside=pl.col("inside").sum(),
        of=pl.col("inside").count(), median_half_width=pl.col("half").median(), median_fit_s=pl.col("fit_s").median(),
    ).sort(keys)  # fmt: skip
    return {"rows": both.to_dicts(), "no fit": [row for row in rows if row["part"] == "no fit"]}


def printed(found: dict[str, Any]) -> None:
    for row in found["rows"]:
        inside = f"{row['inside']:4d} of {row['of']:4d}" if row["of"] else " " * 12
        print(
            f"{row['truth']:10} {row['model']:9} {row['part']:10} {row['metric']:21} {row['fit']} {row['median_error']:7.2%} "
            f"worst {row['worst']:8.1%} inside {inside} half {row['median_half_width'] or 0:6.1%} {row['median_fit_s']:.2f} s"
        )
    print(*found["no fit"], sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=28001)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--models", nargs="*", default=list(VARIANTS))
    parser.add_argument("--repetitions", type=int, default=1, help="of the runs that are fitted")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with ProcessPoolExecutor(given.workers, get_context("spawn")) as pool:
        jobs = [
            pool.submit(errors_of, given.first + k, given.seconds, tuple(given.models), given.repetitions)
            for k in range(given.seeds)
        ]
        rows = [row for job in jobs for row in job.result()]
    found = summary(rows)
    printed(found)
    if given.out is not None:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(
            json.dumps(
                {
                    "seeds": given.seeds,
                    "first": given.first,
                    "seconds": given.seconds,
                    "repetitions": given.repetitions,
                    **found,
                },
                indent=1,
            )
            + "\n"
        )
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(given.out.with_suffix(".parquet"))


if __name__ == "__main__":
    main()
