"""What `spread` was said to carry, tried: `python benches/control/carried.py [seconds]`, as root, 2 minutes, two cores at rest.

`steering.py` predicts from the saturation of one core what `spread` saturates at and what it carries within the objective. Here
one core is measured alone (the training), prediction.json is written, and then `spread` is tried: saturated, and under
Poisson arrivals at 0.9 and at 1.05 of what it is said to carry, `seconds` each (40).
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import steering  # noqa: E402
from record import describe  # noqa: E402

from sojourn.runs.record_logs import read_log  # noqa: E402

SECONDS = float(sys.argv[1]) if sys.argv[1:] else 40.0
FOLDER = (HERE if SECONDS >= 40 else Path(tempfile.gettempdir())) / (time.strftime("%Y-%m-%d") + "-carried")
PARTS, SETTLING_S = (0.9, 1.05), min(5.0, SECONDS / 2)


def main() -> None:
    with steering.staged() as (place, lanes, steered, folder):
        steered.set({"packet_steering": "one core"})
        said = prediction(steering.saturation(place, lanes, folder))
        describe(FOLDER, {})
        (FOLDER / "prediction.json").write_text(json.dumps(said, indent=1) + "\n")
        print(json.dumps(said), flush=True)
        steered.set({"packet_steering": "spread"})
        saturated = steering.saturation(place, lanes, folder)
        seen = [tried(place, lanes, folder / f"at-{k}", row["rate_per_s"], k) for k, row in enumerate(said["rates"])]
    told(said, saturated, seen)


def prediction(one_core: float) -> dict[str, Any]:
    """`steering.py`'s, and by its M/M/1 on each core the share above the limit and the quantile at both rates."""
    whole = steering.prediction(one_core)
    saturation, carries = whole["saturation_spread_per_s"], whole["carries_per_s"]["spread"]
    rates = []
    for part in PARTS:
        left = (saturation - part * carries) / 2  # of each core, 1/s
        late = math.exp(-left * (steering.LIMIT_S - steering.BACKEND_S))
        p99 = steering.BACKEND_S + math.log(100) / left
        rates.append({"part": part, "rate_per_s": part * carries, "late": late, "p99_s": p99, "meets": late <= 0.01})
    return {**{key: whole[key] for key in ("trained_on", "saturation_spread_per_s", "carries_per_s")}, "rates": rates}


def tried(place: Any, lanes: list[dict[str, Any]], out: Path, rate_per_s: float, seed: int) -> dict[str, float]:
    """What was seen under Poisson arrivals at one rate, after the settling."""
    rng, begin_s = np.random.default_rng(31 + seed), time.monotonic() + 5.0
    due = np.sort(rng.uniform(0, SECONDS, rng.poisson(rate_per_s * SECONDS)))
    split = [
        {**lane, "arrivals": {"kind": "trace", "times_s": due[k :: len(lanes)].tolist()}}
        for k, lane in enumerate(lanes)
    ]
    generator = steering.load(place, split, out, duration_s=SECONDS, start_at_s=begin_s)
    try:
        generator.finish(SECONDS + 60)
    finally:
        generator.stop()
    rows = read_log(out / "requests.rec")[0]
    at = rows["intended_s"].to_numpy() - begin_s
    took = (rows["done_s"] - rows["intended_s"]).to_numpy()[at >= SETTLING_S]
    wrong = rows["status"].to_numpy()[at >= SETTLING_S] != 200
    return {"requests": took.size, "late": float((~(took <= steering.LIMIT_S) | wrong).mean()),
            "mean_s": float(np.nanmean(took)), "p99_s": float(np.nanquantile(took, 0.99))}  # fmt: skip


def told(said: dict[str, Any], saturated: float, seen: list[dict[str, float]]) -> None:
    """raw.json and summary.md."""
    (FOLDER / "raw.json").write_text(json.dumps({"saturation_spread_per_s": saturated, "rates": seen}, indent=1) + "\n")
    lines = [
        f"One core saturates at {said['trained_on']['saturation_one_core_per_s']:.0f}/s (the training); `spread` was predicted to saturate "
        f"at {said['saturation_spread_per_s']:.0f}/s and does at {saturated:.0f}/s.", "",
        "| of what it carries | rate, 1/s | requests | late, predicted | late | p99 predicted, ms | p99, ms | < 50 ms: predicted, seen |",
        "|" + "---|" * 8,
    ]  # fmt: skip
    for row, found in zip(said["rates"], seen, strict=True):
        words = ["yes" if meets else "no" for meets in (row["meets"], found["late"] <= 0.01)]
        lines.append(
            f"| {row['part']} | {row['rate_per_s']:.0f} | {found['requests']} | {100 * row['late']:.2f} % | {100 * found['late']:.2f} % "
            f"| {1e3 * row['p99_s']:.1f} | {1e3 * found['p99_s']:.1f} | {words[0]}, {words[1]} |"
        )
    text = "\n".join(lines) + "\n"
    (FOLDER / "summary.md").write_text(text)
    print(text, flush=True)


if __name__ == "__main__":
    main()
