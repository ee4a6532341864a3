"""The golden queries asked of a live service: the web shop's page that waits for one of 4 servers (exponential, mean 20 ms).

    python benches/query/live.py validate             60 s at 100 /s: how far the model M/M/4 is off there
    python benches/query/live.py ask [--for 200]      at 150 /s: the queries, against the closed forms

Run one after the other on a machine at rest; they write DATE-live/live-validate.json, live.csv and live.md. The model is
not fitted: its service time is what the service was told. A number agrees where the truth lies within the interval of the run, its
ends moved out by the model's validated error (its largest relative error of mean, p50, p90 and p99 at 100 /s, a rate that is not
asked); a set of states or a yes where the answer is the same. Told apart from that: answers that leave open what the truth decides
(`cannot tell`, an undecided state) do not agree, and do not contradict it either.

30 queries are of what a client sees. P(n = 0), which the golden file of a simulation asks as `n(cpu)`, is asked as `n()`: there is
one station. Two more are of waits, and need the service's own times (`app.parquet`); they are told apart. What is left are the two of
the utilisation of `cpu`, which a service without a station of this name does not have.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/unit"))

from query_golden import MODEL, NUMBERS, SETS, YES  # noqa: E402

import sojourn as sj  # noqa: E402
from sojourn.lab.cleanup_registry import only_one  # noqa: E402
from sojourn.query import query  # noqa: E402
from sojourn.query.query import as_source  # noqa: E402
from sojourn.study.system import Point  # noqa: E402
from sojourn_cases.web.web_shop import WebLoad, WebSystem, WebSystemOptions  # noqa: E402

VALIDATED = ("mean(response)", "p50(response)", "p90(response)", "p99(response)")
SEED = 20261124  # of arrivals and of services


def measured(rate_per_s: int, length_s: int, folder: Path, port: int) -> sj.RunFolder:
    """A run on loopback; the service's thread and the client's each have a core, its 4 servers take no CPU."""
    backend = {"service_s": 0.02, "workers": 4}
    asked = {
        "port": port,
        "path": "/wait",
        "page_s": 0.0,
        "interrupt_s": 0.0,
        "backend": backend,
        "lab": {"kind": "loopback"},
    }
    load = WebLoad.model_validate({"for": length_s, "rate_per_s": rate_per_s})
    system = WebSystem(WebSystemOptions.model_validate(asked), load, folder)
    with only_one("the golden queries"), system.place() as place, system.open(place) as session:
        point = Point("golden", system.settled({"cores": 1}, "live.py"))
        return session.run(point, folder / point.name, SEED)


def today() -> Path:
    """Where the results go."""
    folder = HERE / f"{time.strftime('%Y-%m-%d')}-live"
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
    for golden, truth in NUMBERS.items():
        text = golden.replace("n(cpu)", "n()")
        if "cpu" in text:
            continue
        found = query(text, source)
        low, high = (x if x is not None else None for x in (found.low, found.high))
        agrees = found.value is not None and (low is None or low * (1 - error) <= truth)
        agrees = agrees and (high is None or truth <= high * (1 + error))
        alone = agrees and (low is None or low <= truth) and (high is None or truth <= high)
        yield {"query": text, "of": "waits" if "wait" in text else "clients", "truth": truth, "value": found.value, "low": low,
               "high": high, "agrees": agrees, "by interval alone": alone,
               "why": "" if found.value is not None else found.reason}  # fmt: skip
    for text, wanted in (*SETS.items(), *((text, "yes") for text in YES if "cpu" not in text)):
        found = query(text, source)
        said = found.verdict if wanted == "yes" else found.reason
        same = said == wanted
        yield {"query": text, "of": "clients", "truth": wanted, "value": said, "low": "", "high": "", "agrees": same,
               "by interval alone": same, "why": found.reason}  # fmt: skip


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


def ask(port: int, length_s: int) -> None:
    """Of the run at the golden rate."""
    error = json.loads((today() / "live-validate.json").read_text())["error"]
    with tempfile.TemporaryDirectory() as folder:
        found = list(rows(measured(150, length_s, Path(folder), port), error))
    with open(today() / "live.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]))
        writer.writeheader()
        writer.writerows(found)
    text = told(found, error, length_s)
    (today() / "live.md").write_text(text)
    print(text)


def told(found: list[dict[str, object]], error: float, length_s: int) -> str:
    """live.md."""
    clients, waits = ([row for row in found if row["of"] == of] for of in ("clients", "waits"))
    agree, alone, of_waits = (
        sum(bool(row[name]) for row in some)
        for name, some in (("agrees", clients), ("by interval alone", clients), ("agrees", waits))
    )
    missed = [f"- `{row['query']}`: {row['value']} ({row['low'] or ''} … {row['high'] or ''}), truth {row['truth']}"
              for row in found if not row["agrees"]]  # fmt: skip
    return (
        f"""# Golden queries of a live service

{agree} of {len(clients)} agree within the interval and the model's validated error ({error:.1%}); {alone} within the interval alone.
Of waits, by the service's own times: {of_waits} of {len(waits)}.
{sum(contradicts(row) for row in found)} contradict the truth; the others that are missed leave it open.
Wanted: 27 of 30. {length_s} s at 150 /s on {os.cpu_count()} cores, {platform.release()}; all answers in live.csv.
{"Missed:" if missed else "None is missed."}

{chr(10).join(missed)}
""".rstrip()
        + "\n"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("step", choices=["validate", "ask"])
    options.add_argument("--port", type=int, default=18490)
    options.add_argument("--for", dest="length_s", type=int, default=200, help="s of `ask`")
    asked = options.parse_args()
    if asked.step == "validate":
        validate(asked.port)
    else:
        ask(asked.port, asked.length_s)


if __name__ == "__main__":
    main()
