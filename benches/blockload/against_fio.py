"""CPU of the generator an I/O, ours against fio's with and without a row an I/O: in turn on one file, medians of paired runs.

python benches/blockload/against_fio.py > against_fio.csv      rounds of nine runs of 1.5 s each, three minutes; a machine at rest
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from run import RATES, SPAN, fio, ours

from sojourn.load.block_load import block_load
from sojourn.measure.execute_run import execute

ROUNDS, LENGTH_S = 7, 1.5


def main() -> int:
    cpu_us: dict[tuple[str, int], list[float]] = {}
    print("round,generator,asked_iops,completed,cpu_us_per_io,mean_us")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as scratch:
        image = Path(scratch, "img")
        made = block_load(f"file:{image}", iops=10, duration_s=0.2, span=SPAN)
        execute(Path(scratch, "made"), made, what={"name": "made"})
        for turn in range(ROUNDS):
            for rate in RATES:
                makers = [
                    lambda at=Path(scratch, f"{turn}"), r=rate: ours(at, "local", f"file:{image}", image, r, LENGTH_S, True),
                    lambda r=rate: fio(image, r, LENGTH_S),
                    lambda at=Path(scratch, f"{turn}-{rate}"), r=rate: fio(image, r, LENGTH_S, at),
                ]  # fmt: skip
                for make in makers[turn % 3 :] + makers[: turn % 3]:
                    row = make()
                    name, us = row["generator"], row["cpu_us_per_io"]
                    cpu_us.setdefault((name, rate), []).append(us)
                    print(f"{turn},{name},{rate},{row['completed']},{us:.2f},{row['mean_us']:.1f}", flush=True)
    for (name, rate), found in sorted(cpu_us.items(), key=lambda item: item[0][1]):
        pairs = [mine / theirs for mine, theirs in zip(cpu_us["sojourn", rate], found, strict=True)]
        ends = f"{min(pairs):.2f} to {max(pairs):.2f}"
        told = f"{rate} IOPS: {name} {statistics.median(found):.1f} us; ours/it {statistics.median(pairs):.3f} ({ends})"
        print(told, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
