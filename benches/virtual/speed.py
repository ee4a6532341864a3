"""How many requests and events the virtual host simulates in a second of CPU time, every request recorded.

python benches/virtual/speed.py [--requests 2000000]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from sojourn.simulate.virtual_host import VirtualHost, simulate_host

INTERRUPT = {"kind": "deterministic", "mean": 3e-4}
PAGE = {"kind": "exponential", "mean": 2.7e-3}
SIZES = ((1, 1), (4, 1), (8, 1), (8, 4))
ORDERS: dict[str, dict[str, Any]] = {
    "one after the other": {},
    "shared exactly": {"threads_per_core": 0},
    "turns of 4 ms": {"threads_per_core": 0, "quantum_s": 4e-3},
    "placed by load": {"placement": {"policy": "least-loaded"}},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=2_000_000)
    requests = parser.parse_args().requests
    print("| pages of a core | cores | NICs | requests/s | events/s |\n|---|---|---|---|---|")
    for order, options in ORDERS.items():
        for cores, nics in SIZES:
            p = 1.0 if cores == nics else nics / cores
            rate = 0.8 * nics / (INTERRUPT["mean"] + p * PAGE["mean"])  # type: ignore[operator]
            host = VirtualHost(cores, nics, INTERRUPT, PAGE, **options)
            start = time.process_time()
            run = simulate_host(host, rate_per_s=rate, duration_s=requests / rate, sample_s=1.0)
            took = time.process_time() - start
            print(f"| {order} | {cores} | {nics} | {len(run.response_s) / took:.2e} | {run.events / took:.2e} |")


if __name__ == "__main__":
    main()
