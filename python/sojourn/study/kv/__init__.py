"""The key-value study: a middleware in front of memcached, measured, judged by laws, modelled; published tables checked.

plan       the TOML file, checked            points, seen   what a run is, and what it says
place      hosts and what limits them        affinity       who runs on which cores
live       runs on this machine              simulated      the same with known times; recovery: found again, seed by seed
reading    records → one row                 histograms     response times of client and middleware
analysis   laws, knees, who limits           models/        network of queues, network of cores, M/M/1, M/M/m; modelled: judged
run        part by part, resumed             document       verdict and report, by sections/
"""

from sojourn.study.kv.plan import KvPlan, is_kv, read_kv_plan

__all__ = ["KvPlan", "is_kv", "read_kv_plan"]
