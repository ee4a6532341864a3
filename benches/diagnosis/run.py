"""What a diagnosis says of services whose limit is known: how often it is right, wrong, or cannot tell.

    python benches/diagnosis/run.py --first SEED --seeds N --out FOLDER [--fit]

Each seed has a service of each limit: cores, a lock, a pool, a disk, the client, nothing yet (`limited_services.py`). FOLDER gets a row a
service.
`--fit`: with the saturation rate of a fit by `auto`, as `sojourn fit` has it. Nothing is measured: others may use the machine.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parent))
from limited_services import LIMITS, PlantedService, is_right, planted

from sojourn.diagnosis.load_levels import diagnose


def row(service: PlantedService, with_fit: bool) -> dict[str, Any]:
    """What is said of it."""
    with tempfile.TemporaryDirectory() as place:
        runs = service.measure(Path(place))
        full = fitted_full(runs) if with_fit else None
        (found,) = diagnose(runs, full).values()
    verdict = "right" if is_right(service, found.kind) else "cannot tell" if found.kind == "unknown" else "wrong"
    return {
        "limit": service.limit, "seed": service.seed, "verdict": verdict, "said": found.kind, "hidden": service.hidden, "how": service.how,
        "full_per_s": service.full_per_s, "top": service.rates[-1] / service.full_per_s, "levels": len(service.rates),
        "cores": service.cores, "law": service.law, "computes": service.computes, "contention": service.contention, "pool": service.pool,
        "queue": "" if found.utilisation_by_waiting is None else "{:.2f}-{:.2f}".format(*found.utilisation_by_waiting),
        "busy": str(dict(found.busy_shares)),
        "sentence": found.sentence, "next": found.next_step,
    }  # fmt: skip


def fitted_full(runs: list[Any]) -> Any:
    """As `sojourn fit` says it."""
    from sojourn.cli.model_file_commands import full_at
    from sojourn.errors import SojournError
    from sojourn.fit.fit_runs import observe_runs
    from sojourn.fit.model_selection import choose_model

    try:
        return full_at(choose_model(observe_runs(runs), 0.9).best)
    except SojournError:
        return None


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--fit", action="store_true")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for seed in range(given.first, given.first + given.seeds):
        rows += [row(planted(seed, limit), given.fit) for limit in LIMITS]
    found = pl.DataFrame(rows)
    found.write_csv(given.out / f"raw-{given.first}{'-fit' if given.fit else ''}.csv", float_precision=4)
    for text in table(found):
        print(text)


def table(found: pl.DataFrame) -> list[str]:
    """By limit: right, cannot tell, wrong."""
    lines = ["| limit | right | cannot tell | wrong |", "|---|---|---|---|"]
    for limit in (*LIMITS, "all"):
        own = found if limit == "all" else found.filter(limit=limit)
        counts = [str(own.filter(verdict=verdict).height) for verdict in ("right", "cannot tell", "wrong")]
        lines.append(f"| {limit} | {' | '.join(counts)} |")
    return lines


if __name__ == "__main__":
    main()
