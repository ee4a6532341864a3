"""How far the meters of leading cores are off where the work is known: `python benches/meters/run.py STUDY…`, folders of the web study.

Known: the interrupt work that was spent (exact, by its program), what else the network needs (soft-interrupt share of the run
without known work), the client (from the same run), pages by the service's own account on the cores where they ran. Measured:
ticks in soft interrupts, and what the spinner did not get, each over the throughput. Both are of one run; the ratio has the sampling
error of the ticks, `±`, one standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sojourn.runs.run_folder import RunFolder
from sojourn_cases.web.known_demands import RequestOverheads, is_bare, known_page, overheads

TICKS_PER_S = 250  # the kernel's


def main(folders: list[Path]) -> None:
    print(
        "| study | NICs | rate, 1/s | share | ticks, soft interrupts | ± | spinner, busy |\n|---|---|---|---|---|---|---|"
    )
    for number, folder in enumerate(folders, 1):
        runs = [RunFolder.open(file.parent) for file in sorted((folder / "runs").glob("*/manifest.json"))]
        runs = [run for run in runs if run.manifest["valid"] and "rate_per_s" in run.manifest["factors"]]
        beside = overheads(runs)
        for run in runs:
            if not is_bare(run.manifest["factors"]):
                print(f"| {number} | {' | '.join(row(run, beside))} |")


def row(run: RunFolder, beside: RequestOverheads) -> Iterator[str]:
    """NICs, rate, busy share of a leading core, and measured over known - 1 of both meters."""
    seen, factors = run.metrics(), run.manifest["factors"]
    rate = seen.value("throughput")
    work, app = run.manifest["service"]["interrupt work"], run.frame("app")
    assert app is not None
    leading = run.manifest["placement"]["interrupts"]
    stays = float(app["core"].is_in(leading).mean())  # type: ignore[arg-type]
    interrupt_s = work["seconds"] / work["packets"] + beside.interrupt_s
    known = np.array([interrupt_s, interrupt_s + beside.client_s + stays * known_page([run], beside.wake_up_s)])
    share = [seen.value(metric, "leading") for metric in ("softirq_utilisation", "utilisation")]
    off = np.array(share) * factors["nics"] / rate / known - 1
    start_s, end_s = run.manifest["window_s"]
    ticks = TICKS_PER_S * factors["nics"] * (end_s - start_s)
    error = (share[0] * (1 - share[0]) / ticks) ** 0.5 / share[0]
    yield f"{factors['nics']}"
    yield f"{rate:.0f}"
    yield f"{share[1]:.2f}"
    yield from (f"{100 * value:+.1f} %" for value in (off[0],))
    yield f"{100 * error:.1f} %"
    yield f"{100 * off[1]:+.1f} %"


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
