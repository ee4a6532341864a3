"""One station: exact queues and named approximations.

mmm (M/M/1, M/M/m), mmm_priority, mm_inf, mmmk (M/M/m/K, Erlang B), machine_repair, engset; erlang, birth_death: their numerics
md1, mg1, mg1_waiting, mg1_priority, mg1_breakdowns, processor_sharing (PS, LCFS-PR), gm1, gig1 and lindley_grid (GI/G/1);
service_transforms: what they need of distributions
ggm (Allen-Cunneen, Whitt, Kingman), fork_join, transient; station_arrays, station_solution, finite_queues: from networks and back
"""

from sojourn.solve.method import Method
from sojourn.solve.single import (
    engset,
    fork_join,
    ggm,
    gig1,
    gm1,
    machine_repair,
    md1,
    mg1,
    mg1_breakdowns,
    mg1_priority,
    mm_inf,
    mmm,
    mmm_priority,
    mmmk,
    processor_sharing,
)

METHODS: tuple[Method, ...] = (
    mmm.MM1,
    mmm.METHOD,
    mm_inf.METHOD,
    mmmk.METHOD,
    machine_repair.METHOD,
    engset.METHOD,
    md1.METHOD,
    mg1.METHOD,
    mg1_breakdowns.METHOD,
    mg1_priority.METHOD,
    mmm_priority.METHOD,
    processor_sharing.PS,
    processor_sharing.LCFS_PR,
    gm1.METHOD,
    gig1.METHOD,
    fork_join.EXACT,
    fork_join.NELSON_TANTAWI,
    ggm.WHITT,
    ggm.ALLEN_CUNNEEN,
    ggm.KINGMAN,
)
