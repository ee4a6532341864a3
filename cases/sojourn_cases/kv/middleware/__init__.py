"""A memcached middleware between closed-loop clients and memcached servers, as a system that studies run.

Map: `kv_system` options, load, factors · `hosts` on loopback or each in a namespace with a rate and a share of a core ·
`affinity` who runs on which cores · `kv_session` servers that live as long as it, runs · `middleware_service` the middlewares of one
run · `host_counters` what limited hosts count · `middleware_records` records → rows of Metrics · `response_bins` both
sides by bins · `run_table` run folders → a row each · `simulated_system` the same with known times.
"""

from sojourn_cases.kv.middleware.kv_system import KvLoad, KvOptions, KvSystem
from sojourn_cases.kv.middleware.run_table import CONFIGURATION, configurations, frame, name_of, point_frame

__all__ = ["CONFIGURATION", "KvLoad", "KvOptions", "KvSystem", "configurations", "frame", "name_of", "point_frame"]
