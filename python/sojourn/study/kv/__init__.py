"""The key-value study: a middleware in front of memcached, measured, judged by laws, modelled; published tables checked.

plan       the TOML file, checked            points, seen   what a run is, and what it says
live       runs on this machine              simulated      the same with known times
reading    records → one row                 cpu            CPU time of processes in a window
analysis   laws, knees, who limits           models/        closed network, shared cores, M/M/1, M/M/m
run        part by part, resumed             document       verdict and report
"""

from sojourn.study.kv.plan import KvPlan, is_kv, read_kv_plan

__all__ = ["KvPlan", "is_kv", "read_kv_plan"]
