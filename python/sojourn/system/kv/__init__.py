"""A memcached middleware between closed-loop clients and memcached servers, as a system that studies run.

Map: `system` options, load, factors · `hosts` on loopback or each in a namespace with a rate and a share of a core ·
`affinity` who runs on which cores · `session` servers that live as long as it, runs · `service` the middlewares of one run ·
`counted` what limited hosts count · `reading` records → rows of Metrics · `histograms` both sides by bins · `frame` run folders →
a row each · `simulated` the same with known times.
"""

from sojourn.system.kv.frame import CONFIGURATION, configurations, frame, name_of, point_frame
from sojourn.system.kv.system import KvLoad, KvOptions, KvSystem

__all__ = ["CONFIGURATION", "KvLoad", "KvOptions", "KvSystem", "configurations", "frame", "name_of", "point_frame"]
