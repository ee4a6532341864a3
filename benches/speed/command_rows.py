"""Commands that put no load on anything: their CPU time and memory, from start to end."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from row import BENCHES, OURS, PYTHON, SOJOURN, Figures, Prepared, Row, Wanted, bench, used

REQUESTS = 9_600_000
SHOP = str(BENCHES.parent / "examples/shop.toml")
IMPORTS = "import numpy, typer, pydantic; pydantic.TypeAdapter"
# the same network: two processors as a station of two servers, think time 1 s
OCTAVE = "pkg load queueing; [U R Q X] = qncsmva(50, [0.02 0.03], [1 1], [2 1], 1); disp(X(1))"
# what the end of a run cannot do without: the libraries, and the four times of 1.2 million requests
HOLD = "import numpy, polars; polars.DataFrame({'a': [1.0]}); held = [numpy.ones(1_200_000) for _ in range(4)]"
SCAN = """
import sys, duckdb
asked = "select quantile_cont(done_s - intended_s, 0.99), avg((failure > 0)::int) from read_parquet(?) where intended_s between ? and ?"
print(duckdb.execute(asked, [sys.argv[1], float(sys.argv[2]), float(sys.argv[3])]).fetchone())
"""
DRAW = """
import vl_convert
values = [{"x": x, "y": x * x} for x in range(60)]
channels = {name: {"field": name, "type": "quantitative"} for name in "xy"}
vl_convert.vegalite_to_svg({"data": {"values": values}, "mark": "line", "encoding": channels})
"""


def cpu_time(words: list[str]) -> Figures:
    """Alone: it may be smaller than this process."""
    return {"cpu_s": used(words)["cpu_s"]}


@contextmanager
def solve(folder: Path) -> Iterator[Row]:
    commands = {OURS: [*SOJOURN, "solve", SHOP], "imports of numpy, typer, pydantic": [PYTHON, "-c", IMPORTS]}
    if program := shutil.which("octave-cli"):
        commands["octave-cli"] = [program, "-qf", "--eval", OCTAVE]
    tools = {tool: partial(cpu_time, words) for tool, words in commands.items()}
    yield Row("`sojourn solve examples/shop.toml`, whole process", tools, {"cpu_s": Wanted(0.25)}, warm=True)


@contextmanager
def report(folder: Path) -> Iterator[Row]:
    run = bench("scale/growth").made("run", folder / "run", 100_000)
    tools = {
        OURS: lambda: used([*SOJOURN, "report", str(run), "--out", str(folder / "report.html")]),
        "one figure by vl-convert": lambda: used([PYTHON, "-c", DRAW]),
    }
    about = "`sojourn report` of a run folder of 100 000 requests, from the second one on"
    yield Row(about, tools, {"cpu_s": Wanted(1.5)}, warm=True)


@contextmanager
def of_all_requests(folder: Path, name: str, requests: int, about: str, **wanted: float) -> Iterator[Row]:
    """A command of benches/scale/memory.py; `used` copies its folder first, where it would change it."""
    command = bench("scale/memory").commands(folder, requests, name)[name]

    def run() -> Figures:
        out = folder / "out"
        if name in ("fit", "query"):
            out.mkdir()
        try:
            return used([PYTHON, *command(out)])
        finally:
            shutil.rmtree(out)

    yield Row(about, {OURS: run}, {figure: Wanted(most) for figure, most in wanted.items()})


@contextmanager
def end(folder: Path) -> Iterator[Row]:
    about = "the end of a run of 60 s at 20 000/s: Parquet, window, Metrics, verdict of 1.2 million requests"
    with of_all_requests(folder, "end of a run", 1_200_000, about, peak_mib=150) as row:
        bare = {"numpy, polars and the four times": lambda: used([PYTHON, "-c", HOLD])}
        yield Row(row.about, {**row.tools, **bare}, row.wanted)


@contextmanager
def query(folder: Path) -> Iterator[Row]:
    about = "`sojourn query 'p99 < 500ms and errors < 1%'` of a run of 9.6 million requests"
    with of_all_requests(folder, "query", REQUESTS, about, cpu_s=3.0, peak_mib=400) as row:
        window = json.loads((folder / "asked/manifest.json").read_text())["window_s"]
        words = [PYTHON, "-c", SCAN, str(folder / "asked/requests.parquet"), *map(str, window)]
        yield Row(row.about, {**row.tools, "DuckDB, one scan": lambda: used(words)}, row.wanted)


@contextmanager
def fit(folder: Path) -> Iterator[Row]:
    about = "`sojourn fit` of three runs, 9.6 million requests together"
    with of_all_requests(folder, "fit", REQUESTS, about, peak_mib=400) as row:
        yield row


@contextmanager
def observe(folder: Path) -> Iterator[Row]:
    about = "`sojourn observe` of 9.6 million lines of CSV, a hundred windows"
    with of_all_requests(folder, "observe", REQUESTS, about, peak_mib=400) as row:
        yield row


@contextmanager
def simulated_run(folder: Path) -> Iterator[Row]:
    """As many requests as a folder may have, and whether it has them; more are refused, and it is said."""
    model = folder / "one.toml"
    model.write_text(bench("scale/growth").ONE)

    def run() -> Figures:
        out = folder / "run"
        words = [*SOJOURN, "simulate", str(model), "--completions", "2000000", "--out", str(out)]
        figures = used(words)
        rows = json.loads((out / "manifest.json").read_text())["files"]["requests.parquet"]["rows"]
        shutil.rmtree(out)
        more = subprocess.run([*words[:-1], str(folder / "more"), "--completions", "10000000"], capture_output=True)
        return {**figures, "missing_share": 1 - rows / 2e6, "silent_refusals": float(more.returncode == 0)}

    about = "`sojourn simulate --completions 2000000 --out`: are all in the folder, and are ten million refused?"
    yield Row(about, {OURS: run}, {"missing_share": Wanted(0.01), "silent_refusals": Wanted(0)}, rounds=1)


ROWS: dict[str, Prepared] = {
    "solve": solve, "report": report, "end": end, "query": query, "fit": fit, "observe": observe,
    "simulated-run": simulated_run,
}  # fmt: skip
