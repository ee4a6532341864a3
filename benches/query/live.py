"""The golden queries asked of a live service: the web testbed's page that waits for one of 4 servers (exponential, mean 20 ms).

    python benches/query/live.py validate       60 s at 100 /s: how far the model M/M/4 is off there
    python benches/query/live.py ask            200 s at 150 /s: 30 queries, against the closed forms

Run one after the other on a machine at rest; they write DATE/live-validate.json, live.csv and live.md beside this file. The model is
not fitted: its service time is what the service was told. A number agrees where the truth lies within the interval of the run, its
ends moved out by the model's validated error (its largest relative error of mean, p50, p90 and p99 at 100 /s, a rate that is not
asked); a set of states or a yes where the answer is the same. Told apart from that: answers that leave open what the truth decides
(`cannot tell`, an undecided state) do not agree, and do not contradict it either.
Queries of a station's inside (its utilisation, its waits) are left out: an
HTTP client does not see them.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/unit"))

from query_golden import MODEL, NUMBERS, SETS, YES  # noqa: E402

import sojourn as sj  # noqa: E402
from sojourn.query import query  # noqa: E402
from sojourn.query.query import as_source  # noqa: E402

INSIDE = ("cpu", "wait")  # words of queries that a client cannot answer
VALIDATED = ("mean(response)", "p50(response)", "p90(response)", "p99(response)")
WARM_S = 5


@contextmanager
def service(port: int) -> Iterator[str]:
    """The page's URL, while it is served."""
    command = [
        sys.executable,
        "-m",
        "sojourn",
        "serve",
        "web",
        "--port",
        port,
        "--cores",
        1,
        "--backend-ms",
        20,
        "--workers",
        4,
    ]
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}/wait"
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(url, timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(10)


def measured(rate_per_s: int, length_s: int, folder: Path, port: int) -> Path:
    """A run folder."""
    with service(port) as url:
        options = ["--rate", rate_per_s, "--for", f"{length_s}s", "--seed", 20261123, "--out", folder]
        command = [sys.executable, "-m", "sojourn", "measure", url, *options]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    return next(path.parent for path in folder.rglob("manifest.json"))


def today() -> Path:
    """Where the results go."""
    folder = HERE / time.strftime("%Y-%m-%d")
    folder.mkdir(exist_ok=True)
    return folder


def validate(port: int) -> None:
    """The model's error at a rate that is not asked."""
    with tempfile.TemporaryDirectory() as folder:
        run = as_source(measured(100, 60, Path(folder), port))
        model = as_source(sj.Model.parse(MODEL.replace("150", "100")))
        rows = [{"query": q, "model": query(q, model).value, "measured": query(q, run).value} for q in VALIDATED]
    error = max(abs(float(row["measured"]) / float(row["model"]) - 1) for row in rows)  # type: ignore[arg-type]
    told = {"error": round(error, 4), "rows": rows, "machine": {"kernel": platform.release(), "cores": os.cpu_count()}}
    (today() / "live-validate.json").write_text(json.dumps(told, indent=1) + "\n")
    print(json.dumps(told, indent=1))


def rows(run: object, error: float) -> Iterator[dict[str, object]]:
    """One a query."""
    source = as_source(run)
    for text, truth in NUMBERS.items():
        if any(word in text for word in INSIDE):
            continue
        found = query(text, source)
        low, high = (x if x is not None else None for x in (found.low, found.high))
        agrees = found.value is not None and (low is None or low * (1 - error) <= truth)
        agrees = agrees and (high is None or truth <= high * (1 + error))
        alone = agrees and (low is None or low <= truth) and (high is None or truth <= high)
        yield {"query": text, "truth": truth, "value": found.value, "low": low, "high": high, "agrees": agrees,
               "by interval alone": alone, "why": "" if found.value is not None else found.why}  # fmt: skip
    for text, wanted in (*SETS.items(), *((text, "yes") for text in YES if "cpu" not in text)):
        found = query(text, source)
        said = found.verdict if wanted == "yes" else found.why
        same = said == wanted
        yield {"query": text, "truth": wanted, "value": said, "low": "", "high": "", "agrees": same,
               "by interval alone": same, "why": found.why}  # fmt: skip


def contradicts(row: dict[str, object]) -> bool:
    """A number that does not agree; another verdict; a state that was decided wrongly."""
    if row["agrees"]:
        return False
    said, wanted = str(row["value"]), str(row["truth"])
    if wanted == "yes":
        return said == "no"
    if not wanted.startswith("{"):
        return True
    sure, _, open_ = said.partition(", undecided ")
    decided, undecided, truth = (set(re.findall(r"\d+", part)) for part in (sure, open_, wanted))
    return not (decided <= truth and truth - decided <= undecided)


def ask(port: int) -> None:
    """Of the run at the golden rate."""
    error = json.loads((today() / "live-validate.json").read_text())["error"]
    with tempfile.TemporaryDirectory() as folder:
        found = list(rows(measured(150, 200, Path(folder), port), error))
    with open(today() / "live.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]))
        writer.writeheader()
        writer.writerows(found)
    agree, alone = (sum(bool(row[name]) for row in found) for name in ("agrees", "by interval alone"))
    contradict = sum(contradicts(row) for row in found)
    missed = [f"- `{row['query']}`: {row['value']} ({row['low']} … {row['high']}), truth {row['truth']}" for row in found
              if not row["agrees"]]  # fmt: skip
    text = f"""# Golden queries of a live service

{agree} of {len(found)} agree within the interval and the model's validated error ({error:.1%}); {alone} within the interval alone.
{contradict} contradict the truth; the others that are missed leave it open.
Wanted: 27 of 30. 200 s at 150 /s on {os.cpu_count()} cores, {platform.release()}; all answers in live.csv.
{"Missed:" if missed else "None is missed."}

{chr(10).join(missed)}
"""
    (today() / "live.md").write_text(text.rstrip() + "\n")
    print(text)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("step", choices=["validate", "ask"])
    options.add_argument("--port", type=int, default=18490)
    asked = options.parse_args()
    (validate if asked.step == "validate" else ask)(asked.port)


if __name__ == "__main__":
    main()
