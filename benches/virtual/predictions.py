"""The models of the web case fitted to virtual runs, and what they predict of more NICs and more cores beside what these then do.

    python benches/virtual/predictions.py hosts|laws [--seeds 20] [--first 28601] [--seconds 60] [--unknown handoff_s page_scv] [--out FILE]

Each seed draws a host: 2 to 8 cores, one NIC, demands, laws of service, and a delay between cores. It is measured with one NIC at six
loads, fitted, and then run with more NICs and with twice the cores, at loads up to 80 % of its saturation. `hosts`: event-driven, truth
`priority` where an interrupt preempts a page and pages wait in turn, which that variant describes, or `timesliced`, pages in turns,
which it does not describe exactly. `laws` (`hosts_by_law.py`): the truth is a variant itself, drawn from all three. `averaged`: what a
study predicts with. The intervals are at 90 %. Saturation rates of the truth are those of its demands.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from hosts_by_law import HostByLaw

import sojourn as sj
from sojourn.fit import AVERAGED, FitRuns, FittedModel, fit_rivals
from sojourn.fit.fit_runs import FitRun
from sojourn.runs.resources import add_resources
from sojourn.simulate.virtual_host import VirtualHost, host_placement, simulate_host, write_host_run
from sojourn_cases.web.model_files import believed, fit_for, known_of_nics, model_file
from sojourn_cases.web.web_shop import core_groups

TRAINING, BLIND = (0.2, 0.35, 0.5, 0.6, 0.7, 0.8), (0.2, 0.35, 0.5, 0.65, 0.8)
VARIANTS = ("priority", "shared", "paper")
LEVEL = 0.9
Row = dict[str, Any]
Size = tuple[int, int]  # cores, NICs


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


def sized(host: VirtualHost, size: Size) -> VirtualHost:
    return VirtualHost(**{**vars(host), "cores": size[0], "nics": size[1]})


def saturation(host: VirtualHost) -> float:
    """1/s, by its demands: pages stay with probability m/n."""
    stay, away = host.nics / host.cores, host.cores - host.nics
    leading = host.nics / (host.interrupt["mean"] + stay * host.page["mean"])
    return min(leading, away / ((1 - stay) * host.page["mean"]) if away else np.inf)


def simulated(out: Path, host: VirtualHost, shares: tuple[float, ...], seconds: float, seed: int) -> FitRuns:
    found = []
    for number, share in enumerate(shares):
        rate = share * saturation(host)
        run = simulate_host(host, rate_per_s=rate, duration_s=seconds, seed=seed * 1000 + number)
        factors = {"cores": host.cores, "nics": host.nics, "rate_per_s": rate}
        folder = write_host_run(out / f"{host.cores}-{host.nics}-{number}", run, {"factors": factors})
        add_resources(folder, core_groups(host_placement(host.cores, host.nics)), factors)
        found.append(folder)
    return sj.fit.observe_runs(found)


def blind_sizes(cores: int) -> list[Size]:
    return [*((cores, nics) for nics in (2, 4) if nics <= cores), (2 * cores, 1)]


def of_hosts(seed: int, seconds: float) -> tuple[str, FitRuns, dict[Size, FitRuns], dict[Size, float]]:
    """The truth, what is fitted, and by size what is predicted and where it saturates."""
    truth, host = drawn(seed)
    sizes = [(host.cores, 1), *blind_sizes(host.cores)]
    with tempfile.TemporaryDirectory() as place:
        training = simulated(Path(place) / "training", host, TRAINING, seconds, seed)
        blind = {
            s: simulated(Path(place) / "blind", sized(host, s), BLIND, seconds, seed + 500)
            for s in blind_sizes(host.cores)
        }
    return truth, training, blind, {s: saturation(sized(host, s)) for s in sizes}


def of_laws(seed: int, seconds: float) -> tuple[str, FitRuns, dict[Size, FitRuns], dict[Size, float]]:
    host = HostByLaw.drawn(seed, seconds)
    sizes = [(host.cores, 1), *blind_sizes(host.cores)]
    training = host.runs(sizes[0], TRAINING)
    return host.variant, training, {s: host.runs(s, BLIND) for s in sizes[1:]}, {s: host.saturation(s) for s in sizes}


def errors_of(
    kind: str, seed: int, seconds: float, models: tuple[str, ...] = VARIANTS, unknown: tuple[str, ...] = ()
) -> list[Row]:
    truth, training, blind, limits = (of_hosts if kind == "hosts" else of_laws)(seed, seconds)
    begun = time.process_time()
    found = fit_rivals(
        training,
        {name: fit_for(model_file(name), training, unknown=unknown) for name in models},
        prior=believed(models),
    )
    head = {"seed": seed, "truth": truth, "fit_cpu_s": time.process_time() - begun}
    ((own, _),) = [(size, limit) for size, limit in limits.items() if size not in blind]
    parts = [("training", own, training), *((_part(own, size), size, runs) for size, runs in blind.items())]
    rows: list[Row] = [head | {"model": n, "part": "no fit"} for n in set(models) - set(found.fits)]
    for name, plain in (*found.fits.items(), (AVERAGED, found.best)):
        fitted = known_of_nics(plain)
        first = head | {"model": name}
        rows += [
            first | {"part": "held out", "metric": "response_time", "error": r["response_time"]}
            for r in fitted.held_out
        ]
        for part, size, runs in parts:
            rows += [first | {"part": part} | row for row in _errors(fitted, runs.runs, limits[size])]
    return rows


def _part(own: Size, size: Size) -> str:
    return "more NICs" if size[0] == own[0] else "more cores"


def _errors(fitted: FittedModel, runs: Sequence[FitRun], limit: float) -> Iterator[Row]:
    """Of each run, predicted beside measured; and of the saturation rate, which is that of the demands."""
    for number, run in enumerate(runs):
        frame = fitted.predict(run.factors, level=LEVEL).frame
        own = {(r["station"], r["metric"]): r for r in frame.iter_rows(named=True) if r["class"] == ""}
        yield ({"metric": "response_time"} | _beside(own.get(("", "response_time")), run.means["", "response_time"][0]))
        cores, nics = run.factors["cores"], run.factors["nics"]
        for part, count in (("leading", nics), ("trailing", cores - nics)):
            if part in run.busy:
                row = own.get((f"cpu.{part}", "utilisation"))
                yield {"metric": f"utilisation {part}"} | _beside(row, run.busy[part] / count)
        if number == 0:
            yield {"metric": "saturation_rate"} | _beside(own.get(("", "saturation_rate")), limit)


def _beside(row: Mapping[str, Any] | None, truth: float) -> Row:
    """The error, and whether the truth lies inside; a value that is missing is a rate that is called saturated."""
    if row is None:
        return {}
    if row["value"] is None:
        return {"error": float("inf"), "inside": 0, "half": float("inf")}
    high = np.inf if row["high"] is None else row["high"]
    inside = int(row["low"] <= truth <= high)
    return {"error": row["value"] / truth - 1, "inside": inside, "half": (high - row["low"]) / 2 / row["value"]}


def summary(rows: list[Row]) -> list[Row]:
    """Median absolute error, and how many are inside, by truth ("": all), model, part and metric."""
    table = pl.DataFrame([row for row in rows if row["part"] != "no fit"], infer_schema_length=None)
    both = pl.concat([table, table.with_columns(truth=pl.lit(""))])
    keys = ["truth", "model", "part", "metric"]
    return (
        both.group_by(keys)
        .agg(
            median_error=pl.col("error").abs().median(), median_signed_error=pl.col("error").median(),
            worst=pl.col("error").abs().max(), inside=pl.col("inside").sum(),
            of=pl.col("inside").count(), median_half_width=pl.col("half").median(), median_fit_cpu_s=pl.col("fit_cpu_s").median(),
        )
        .sort(keys)
        .to_dicts()
    )  # fmt: skip


def printed(found: list[Row]) -> None:
    for row in found:
        inside = f"{row['inside']:4d} of {row['of']:4d}" if row["of"] else " " * 12
        print(
            f"{row['truth']:10} {row['model']:9} {row['part']:10} {row['metric'] or '':21} {row['median_error'] or 0:7.2%} "
            f"signed {row['median_signed_error'] or 0:+7.2%} "
            f"worst {row['worst'] or 0:8.1%} inside {inside} half {row['median_half_width'] or 0:6.1%}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("hosts", "laws"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=28601)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--models", nargs="*", default=list(VARIANTS))
    parser.add_argument("--unknown", nargs="*", default=[], help="what else is found, as in a study of guests")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with ProcessPoolExecutor(given.workers, get_context("spawn")) as pool:
        seeds = range(given.first, given.first + given.seeds)
        jobs = [
            pool.submit(errors_of, given.kind, seed, given.seconds, tuple(given.models), tuple(given.unknown))
            for seed in seeds
        ]
        rows = [row for job in jobs for row in job.result()]
    found = summary(rows)
    printed(found)
    if given.out is not None:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        about = {name: getattr(given, name) for name in ("kind", "seeds", "first", "seconds", "unknown")}
        given.out.write_text(json.dumps({**about, "rows": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
