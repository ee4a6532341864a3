"""A machine that becomes slower all the time, and no difference between the sides: what the order in a block does to `sojourn compare`.

    python benches/compare/order.py --seed 1 --comparisons 300

Each comparison has ten blocks of one run a side. The logarithm of the time grows evenly by 0.2 from the first to the last of the 20
runs, and single runs vary by 1 % besides. In the fixed order the first run of each block is A's; in the
random order a coin says whose it is.
Nothing is measured: others may use the machine.
"""

from __future__ import annotations

import argparse

import numpy as np

from sojourn.compare import RunValues, compare_values

BLOCKS, DRIFT, SPREAD, MARGIN = 10, 0.2, 0.01, 0.05


def differs(random: np.random.Generator, drawn_order: bool) -> bool:
    """Whether a difference is claimed; there is none."""
    times = np.exp(np.linspace(0.0, DRIFT, 2 * BLOCKS).reshape(BLOCKS, 2) + random.normal(0.0, SPREAD, (BLOCKS, 2)))
    if drawn_order:
        turned = random.random(BLOCKS) < 0.5
        times[turned] = times[turned][:, ::-1]
    a, b = (
        [RunValues(str(k), {"mean": float(time)}, {}, f"block-{k}") for k, time in enumerate(side)] for side in times.T
    )
    return bool(compare_values(a, b, equivalence_margin=MARGIN)["mean"].differs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--comparisons", type=int, default=300)
    asked = parser.parse_args()
    for name, drawn_order in (("fixed", False), ("random", True)):
        random = np.random.default_rng([asked.seed, drawn_order])
        claimed = sum(differs(random, drawn_order) for _ in range(asked.comparisons))
        print(f"{name} order: a difference is claimed in {claimed} of {asked.comparisons}")


if __name__ == "__main__":
    main()
