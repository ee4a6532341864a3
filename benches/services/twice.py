"""Services that run here, as a new user takes them: `measure` at moderate rates, `fit`, `predict` at twice the rate; then those runs.

    python benches/services/twice.py --out FOLDER [NAME …] [--others] [--seconds 900]

The services are seven of benches/capacity/live_services.py, whose runs of 26 November taught the rules of the fit, and the nine of
other_services.py (`--others`), which nobody had fitted before. A closed loop of 64 users first tells where each saturates, and is
given to no fit: the saturation rate is withheld, not blind. (Records until 27 November say `valid` of it without having asked.) Runs at
14, 22, 31 and 40 % of that are fitted, by `auto` and by the model that stands here; both predictions, of 60 and 80 %, are on disk
(predicted-*.json) before those two runs. FOLDER/raw.csv gets the rows of a service as soon as it is done; one that has rows is left out,
so that the same command goes on, and none is begun that may not end within --seconds. Some 75 s a service, on a machine that should do
nothing else. `--summary FOLDER`: only the table. `--refit FOLDER`: the runs of an earlier call, fitted by `auto`
again, which may be done on a machine that does something else: what a rule does that was not chosen by these runs.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl

import sojourn as sj
from sojourn.errors import SojournError

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "capacity"))
from live_services import SERVICES, running  # type: ignore[import-not-found]
from other_services import OTHERS
from record import services_parser

SHARES, LATER = (0.14, 0.22, 0.31, 0.40), (0.6, 0.8)
USERS, CLOSED_S, RUN_S, LATER_S = 64, 4.0, 6.0, 10.0
SERVICE_S = 110.0  # that one may take, s
HEAD = '[classes.user]\nkind = "open"\nrate_per_s = 1.0\n'
FREE, MAYBE = "{ free = true }", "{ free = true, low = 0 }"
CONSTANT = '{ kind = "deterministic", mean = { free = true } }'
UNEVEN = '{ kind = "lognormal", mean = { free = true }, scv = { free = true, low = 0.1, high = 1000, start = 10 } }'
OBSERVED = '[observed]\n%s = "processes"\n'
DELAYED = '[stations.wait]\nkind = "delay"\n'


def _model(**stations: tuple[int, str]) -> str:
    """A model file: servers and demand of each station."""
    named = "".join(f"[stations.{name}]\nservers = {servers}\n" for name, (servers, _) in stations.items())
    return (
        named
        + HEAD
        + "[demands_s]\n"
        + "".join(f"{name} = {{ user = {law} }}\n" for name, (_, law) in stations.items())
    )


MODELS = {
    "go-1": _model(workers=(1, CONSTANT)),
    "go-2": _model(workers=(2, CONSTANT)),
    "go-lock": DELAYED + _model(lock=(1, CONSTANT)) + f"wait = {{ user = {FREE} }}\n",
    "sqlite": _model(workers=(3, MAYBE), lock=(1, CONSTANT)),
    "node": _model(loop=(1, UNEVEN)),
    "nginx-https": _model(worker=(1, CONSTANT)),
    "pool": _model(connections=(4, FREE)),
    "python-packed": _model(one=(1, CONSTANT)),
    "tcl-loop": _model(loop=(1, CONSTANT)) + OBSERVED % "loop",
    "c-uneven": _model(loop=(1, UNEVEN)) + OBSERVED % "loop",
    "go-stages": _model(pool=(3, FREE), one=(1, CONSTANT)),
    "go-garbage": _model(cores=(2, CONSTANT)) + OBSERVED % "cores",
    "node-threads": _model(cores=(2, CONSTANT)) + OBSERVED % "cores",
    "java-single": _model(lock=(1, CONSTANT)),
    "rust-behind": DELAYED + _model(cores=(2, CONSTANT)) + f"wait = {{ user = {FREE} }}\n",
    "perl-pages": _model(loop=(1, UNEVEN)),
}  # fmt: skip
Row = dict[str, Any]


def run(name: str, out: Path) -> list[Row]:
    service, folder = SERVICES[name], out / name
    shutil.rmtree(folder, ignore_errors=True)
    load: dict[str, Any] = {"headers": service.headers, **({"insecure": True} if service.tls else {})}
    with running(name, out, folder / "service") as url:
        (closed,) = sj.measure(url, folder / "full", users=[USERS], duration_s=CLOSED_S, **load)
        full, steady = float(closed.metrics().value("throughput")), bool(closed.manifest["valid"])
        rates, later = ([round(share * full, 1) for share in shares] for shares in (SHARES, LATER))
        sj.measure(url, folder / "runs", rates_per_s=rates, duration_s=RUN_S, **load)
        (folder / "own.toml").write_text(MODELS[name])
        told = {model: _predicted(folder, model, later) for model in ("auto", "own")}
        done = sj.measure(url, folder / "later", rates_per_s=later, duration_s=LATER_S, **load)
    return _rows(name, told, (full, steady), dict(zip(later, done, strict=True)))


def _rows(
    name: str, told: dict[str, list[Row]], full: tuple[float, bool], later: dict[float, sj.RunFolder]
) -> list[Row]:
    """Each model's predictions beside what came. `full`: the saturation rate, which was measured first, and whether its run was valid."""
    found = [_row(name, model, "saturation_rate", 0.0, rows, *full) for model, rows in told.items()]
    for rate, one in later.items():
        value = float(one.metrics().value("response_time"))
        found += [
            _row(name, model, "response_time", rate, rows, value, one.manifest["valid"]) for model, rows in told.items()
        ]
    return found


def refit(name: str, before: Path, out: Path) -> list[Row]:
    """Of runs that are there."""
    folder = out / name
    shutil.copytree(before / name / "runs", folder / "runs", dirs_exist_ok=True)
    (closed,) = (sj.RunFolder.open(path.parent) for path in (before / name / "full").glob("*/manifest.json"))
    runs = [sj.RunFolder.open(path.parent) for path in (before / name / "later").glob("*/manifest.json")]
    later = {float(run.manifest["factors"]["rate_per_s"]): run for run in runs}
    told = {"auto": _predicted(folder, "auto", list(later))}
    full = float(closed.metrics().value("throughput")), bool(closed.manifest["valid"])
    return _rows(name, told, full, later)


def _predicted(folder: Path, model: str, rates: list[float]) -> list[Row]:
    """By the commands; what failed is the status of no row."""
    fitted, file = folder / f"fitted-{model}.toml", folder / f"predicted-{model}.json"
    given = "auto" if model == "auto" else str(folder / "own.toml")
    asked = ",".join(map(str, rates))
    for words in (
        ["fit", str(folder / "runs"), "--model", given, "--out", str(fitted)],
        ["predict", str(fitted), "--rate", asked, "--json"],
    ):
        done = subprocess.run([sys.executable, "-m", "sojourn", *words], capture_output=True, text=True)
        (folder / f"{words[0]}-{model}.log").write_text(done.stdout + done.stderr)
        if done.returncode:
            return []
    file.write_text(done.stdout)
    return list(json.loads(done.stdout)["rows"])


def _row(name: str, model: str, metric: str, rate: float, rows: list[Row], measured: float, valid: bool) -> Row:
    own = [
        one for one in rows
        if one["metric"] == metric and not one.get("station") and not one.get("class") and (not rate or one.get("rate_per_s") == rate)
    ]  # fmt: skip
    value, low, high = (own[0][key] for key in ("value", "low", "high")) if own else (None, None, None)
    return {
        "service": name, "model": model, "metric": metric, "rate_per_s": rate or None, "predicted": value, "low": low, "high": high,
        "measured": measured, "error": None if value is None else value / measured - 1,
        "inside": None if low is None else low <= measured and (high is None or measured <= high), "valid": valid,
    }  # fmt: skip


def summary(frame: pl.DataFrame) -> str:
    """What was predicted beside what came, those outside first; and the counts by model."""
    lines = ["| service | model | asked | predicted | measured | error | inside |", "|---|---|---|---|---|---|---|"]
    for one in sorted(frame.to_dicts(), key=lambda one: (one["inside"] is True, one["service"])):
        asked = "saturation" if one["rate_per_s"] is None else f"response time at {one['rate_per_s']:.4g}/s"
        scale, unit = (1.0, "/s") if one["rate_per_s"] is None else (1e3, " ms")
        ends = ["–" if one[key] is None else f"{one[key] * scale:.3g}" for key in ("predicted", "low", "high")]
        error = "" if one["error"] is None else f"{one['error']:+.1%}"
        held = {True: "yes", False: "**no**", None: "no answer"}[one["inside"]]
        note = "" if one["valid"] else " (run not valid)"
        came = f"{one['measured'] * scale:.3g}{unit}{note}"
        told = f"{ends[0]} ({ends[1]} to {ends[2]}){unit}"
        lines.append(f"| {one['service']} | {one['model']} | {asked} | {told} | {came} | {error} | {held} |")
    for model in ("auto", "own"):
        for metric in ("response_time", "saturation_rate"):
            rows = [one for one in frame.to_dicts() if (one["model"], one["metric"]) == (model, metric)]
            errors = pl.Series([abs(one["error"]) for one in rows if one["error"] is not None], dtype=pl.Float64)
            held = sum(one["inside"] is True for one in rows)
            middle = "" if errors.is_empty() else f"; median error {errors.median():.1%}"
            lines.append(f"\n{model}, {metric}: {held} of {len(rows)} inside, {len(errors)} answered{middle}")
    return "\n".join(lines)


def main(names: list[str], out: Path, seconds: float, before: Path | None = None) -> None:
    out.mkdir(parents=True, exist_ok=True)
    file, end_s = out / "raw.csv", time.monotonic() + seconds
    found = pl.read_csv(file, infer_schema_length=None).to_dicts() if file.exists() else []
    for name in names:
        if any(one["service"] == name for one in found):
            continue
        if end_s - time.monotonic() < SERVICE_S:
            print(f"{name} and those after it: not begun, the time is up", flush=True)
            break
        began = time.monotonic()
        try:
            found += refit(name, before, out) if before else run(name, out)
        except (SojournError, OSError, subprocess.SubprocessError) as error:
            print(f"{name}: {error}", flush=True)
            continue
        pl.DataFrame(found, infer_schema_length=None).write_csv(file, float_precision=6)
        print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
    if found:
        print(summary(pl.DataFrame(found, infer_schema_length=None)))


if __name__ == "__main__":
    parser = services_parser(MODELS, 900.0)
    parser.add_argument("--refit", type=Path, help="a folder with the runs of an earlier call")
    parser.add_argument("--others", action="store_true", help="those of other_services.py")
    given = parser.parse_args()
    if given.summary or not given.out:
        print(summary(pl.read_csv((given.summary or Path()) / "raw.csv", infer_schema_length=None)))
    else:
        names = given.names or [name for name in MODELS if (name in OTHERS) is given.others]
        main(names, given.out.resolve(), given.seconds, given.refit)
