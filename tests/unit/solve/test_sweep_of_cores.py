"""Points of a sweep that differ in numbers of a multicore station are alike: a method's refusal depends on its variant alone."""

from __future__ import annotations

import sojourn as sj
from sojourn.solve.parameter_variation import edit
from sojourn.solve.sweep_points import representatives

CORES = sj.Model.parse("""
[stations.cpu]
kind = "multicore"
cores = 2
nics = 1
interrupt_s = 0.001
[classes.user]
kind = "open"
rate_per_s = 10
[service_s.cpu]
user = 0.002
""")


def test_a_few_stand_for_all() -> None:
    change = edit(CORES, "stations.cpu.interrupt_s")
    assert change is not None
    networks = [change(CORES.network, 1e-5 * k) for k in range(1, 101)]
    found = representatives(networks)
    assert len(found) == 2 and found[0] is networks[0] and found[-1] is networks[-1]  # the ends of one group
