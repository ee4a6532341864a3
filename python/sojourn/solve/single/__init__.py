"""One station: exact queues and named approximations.

mmm (M/M/1, M/M/m), mmm_priority, mm_inf, mmmk (M/M/m/K, Erlang B), machine_repair    erlang, birth_death   what they share
md1, mg1, mg1_waiting, mg1_priority, sharing (PS, LCFS-PR), gm1         service               of distributions
ggm (Allen-Cunneen, Whitt, Kingman), fork_join, transient               reading, answer, finite   networks in and out
"""

from sojourn.solve.method import Method
from sojourn.solve.single import (
    fork_join,
    ggm,
    gm1,
    machine_repair,
    md1,
    mg1,
    mg1_priority,
    mm_inf,
    mmm,
    mmm_priority,
    mmmk,
    sharing,
)

METHODS: tuple[Method, ...] = (
    mmm.MM1,
    mmm.METHOD,
    mm_inf.METHOD,
    mmmk.METHOD,
    machine_repair.METHOD,
    md1.METHOD,
    mg1.METHOD,
    mg1_priority.METHOD,
    mmm_priority.METHOD,
    sharing.PS,
    sharing.LCFS_PR,
    gm1.METHOD,
    fork_join.EXACT,
    fork_join.NELSON_TANTAWI,
    ggm.WHITT,
    ggm.ALLEN_CUNNEEN,
    ggm.KINGMAN,
)
