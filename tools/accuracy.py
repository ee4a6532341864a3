"""How often measured values lie in the intervals that were predicted for them: docs/explain/accuracy.md, its figure, README's sentences.

`python tools/accuracy.py` counts the records of benches/ (`coverage_counts`, `capacity_counts`) and writes all three
(`coverage_text`, `coverage_tables`).
Predictions were fixed before the runs that they are of, by the project's own account, at the stated level of 90 %.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import capacity_counts
import coverage_tables as tables
import coverage_text as text
from coverage_counts import BENCHES, LEVEL, PredictionSet, at_levels, counted
from coverage_figure import figure

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/explain/accuracy.md"
FIGURE = ROOT / "docs/explain/coverage.svg"
README = ROOT / "README.md"
COMMAND = "python tools/accuracy.py"
WEB = ("response_time", "saturation_rate")  # the throughput of an open load is the rate that was asked for
CLOSED = ("response_time", "throughput")
FIRST = ("saturation_rate",)  # benches/services/twice.py measures it, then chooses the rates of the fit by it
FROM_MODERATE_RATES = tuple(
    f"services/{day}/raw.csv" for day in ("2026-11-26-twice", "2026-11-26-others", "2026-11-27-others")
)
LEVELS_OF = BENCHES / "kv/recorded/2026-11-26-seed-72/blind-levels.csv"  # the only record with more than one level

SOURCES = (
    PredictionSet("ten small services (two of them twice), at more load and with twice the workers, 22 November",
           ("services/2026-11-22/raw.csv",), "hand", WEB, "10 small services", fits="service"),
    PredictionSet("eleven small services, the same questions, 26 November",
           ("services/2026-11-26/raw.csv",), "hand", WEB, "11 small services, later fit", fits="service"),
    PredictionSet("22 web services drawn at random, their service times unknown to the fit",
           tuple(f"blind/2026-11-22-{n}/validation.csv" for n in ("second", "third", "fourth")), "priority", WEB, "22 web services",
           fits="section", not_valid=(("blind/2026-11-22-fourth/validation.csv", "disturbed: other processes"),)),
    PredictionSet("twelve web services drawn earlier, by an earlier version of the fit",
           ("blind/2026-11-22/validation.csv",), "priority", WEB, "12 web services, earlier fit",
           fits="section"),
    PredictionSet("twelve new configurations of a memcached middleware, 26 November, by model files",
           ("kv/recorded/2026-11-26-seed-72/blind-levels.csv",), "", CLOSED, "middleware, 12 configurations"),
    PredictionSet("twelve further middleware configurations, 26 November, while other programs ran, by a model in code",
           ("kv/recorded/2026-11-26/network-of-cores.json",), "with cores as placed", CLOSED, "middleware, 12, disturbed",
           all_runs=(57, 72)),
    PredictionSet("twelve further middleware configurations, 22 November, by the same model in code",
           ("blind/kv-2026-11-22-third/seed-20261301/validation.csv",), "with cores as placed", CLOSED, "middleware, 12, earlier"),
    PredictionSet("60 earlier middleware configurations, by earlier versions of the fit",
           (*(f"blind/kv-2026-11-22/seed-{n}/validation.csv" for n in (20261123, 20261124, 20261125)),
            *(f"blind/kv-2026-11-22-second/seed-{n}/validation.csv" for n in (20261130, 20261201))),
           "with cores as placed", CLOSED, "middleware, 60, earlier fits"),
    PredictionSet("six configurations of a message service, 26 November, by model files",
           ("blind/messages-2026-11-26/seed-91/validation.csv",), "batching", CLOSED, "message service, 6, later fit",
           not_valid=(("blind/messages-2026-11-26/seed-91/validation.csv", "not stationary"),)),
    PredictionSet("eight loads of a three-tier site on two cores, fitted to runs on one core, 26 November",
           ("ntier/recorded/2026-11-26-seed-91/validation.csv",), "averaged", CLOSED, "three-tier site, two cores"),
    PredictionSet("36 new configurations of a message service on PostgreSQL",
           (*(f"blind/messages-2026-11-22/seed-{n}/validation.csv" for n in (20261124, 20261127)),
            "blind/messages-2026-11-22-second/seed-20261202/validation.csv"), "usl", CLOSED, "message service, 36"),
    PredictionSet("a web service in a virtual machine, two NICs from runs with one, three times, 27 November",
           tuple(f"web-vm/2026-11-27/seed-{n}/validation.csv" for n in (11, 12, 13)), "averaged", WEB, "web in a guest, two NICs",
           present=True),
    PredictionSet("the same with three new seeds on another, slower machine, with times that may fall with the rate, 27 November",
           tuple(f"web-vm/2026-11-27-saved/seed-{n}/validation.csv" for n in (21, 22, 23)), "averaged", WEB,
           "web in a guest, slower machine", present=True),
    PredictionSet("three more seeds on that machine, without times that fall with the rate, by draws that are held at bounds, 28 November",
           tuple(f"web-vm/2026-11-28/seed-{n}/validation.csv" for n in (31, 32, 33)), "averaged", WEB,
           "web in a guest, present fit", present=True),
    PredictionSet("sixteen small services from four moderate rates, 26 and 27 November, by `fit --model auto`",
           FROM_MODERATE_RATES, "auto", WEB, "16 services, auto, earlier fits", fits="service",
           measured_first=FIRST),
    PredictionSet("the same measured values, by models written for each service before",
           FROM_MODERATE_RATES, "own", WEB, "16 services, own, earlier fits", fits="service",
           measured_first=FIRST),
    PredictionSet("nine of these services on new runs, 27 November, by `fit --model auto`",
           ("services/2026-11-27-others-after/raw.csv",), "auto", WEB, "9 services, auto, later fit",
           fits="service", present=True, measured_first=FIRST),
    PredictionSet("the same measured values, by models written for each service before",
           ("services/2026-11-27-others-after/raw.csv",), "own", WEB, "9 services, own, later fit",
           fits="service", present=True, measured_first=FIRST),
)  # fmt: skip

TESTS_OF_AUTO = (
    ("The ten small services of 22 November (two of them were not part of this test)", replace(SOURCES[0], model="auto")),
    ("The eleven small services of 26 November (these models were fitted after the runs that they predict)",
     replace(SOURCES[1], model="auto")),
    ("Seven services that were measured only up to 40 % of saturation, and predicted at 60 and 80 % of saturation",
     replace(next(source for source in SOURCES if source.measured_first), files=FROM_MODERATE_RATES[:1])),
)  # fmt: skip


def main() -> None:
    for path, made_text in made().items():
        path.write_text(made_text)


def made() -> dict[Path, str]:
    """Path → text of the figure, and of the pages that have its counts between two comments."""
    sets, levels = [counted(source) for source in SOURCES], at_levels(LEVELS_OF)
    simulated, live = (capacity_counts.searched(path) for path in (capacity_counts.SIMULATED, capacity_counts.LIVE))
    parts = {
        "spread": text.spread(sets),
        "table": tables.table(sets, [one for one in sets if one.source.measured_first]),
        "present": text.present(sets),
        "runs": tables.left_out(sets),
        "worst": tables.worst(sets),
        "seeds": text.seeds(next(one for one in sets if one.source.short == "22 web services")),
        "widths": tables.widths(sets),
        "levels": tables.levels_table(levels),
        "capacity": text.capacity(simulated, live),
        "auto": text.auto_tests([(name, counted(source)) for name, source in TESTS_OF_AUTO]),
    }
    return {
        FIGURE: figure([(one.source.short, one.inside, one.of) for one in sets], levels, LEVEL),
        PAGE: replaced(PAGE, parts),
        README: replaced(README, {"coverage": text.readme(sets, simulated, live)}),
    }


def replaced(path: Path, parts: dict[str, str]) -> str:
    found = path.read_text()
    for name, part in parts.items():
        marks = f"<!-- {name}: {COMMAND} -->\n", f"<!-- {name} ends -->"
        before, begun, rest = found.partition(marks[0])
        _, end, after = rest.partition(marks[1])
        if not begun or not end:
            raise SystemExit(f"{path.relative_to(ROOT)}: no comments {marks[0].strip()} … {marks[1]}")
        found = f"{before}{marks[0]}{part}\n{marks[1]}{after}"
    return found


if __name__ == "__main__":
    main()
