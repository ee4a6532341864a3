"""How long a request waits for the servers when there are few clients: no longer than the network of queues says.

Source: mean value analysis of a closed network (Reiser and Lavenberg 1980; Lazowska et al. 1984, chapter 6): network and
worker are delays, net threads and servers queues. Limits: workers as many as clients at least; exponential times.
"""

from __future__ import annotations

import sojourn as sj
from sojourn.model import Closed, Delay, Model, Queue, Station


def waiting_s(clients: int, delay_s: float, net_s: float, nets: int, server_s: float, servers: int) -> float:
    """Waiting at the servers in one pass, s. `delay_s` outside all queues, `net_s` of the net threads and `server_s` of the
    servers in one pass, spread evenly over `nets` and `servers` of them. Nobody waits for himself: 0 for one client."""
    if clients < 2 or server_s <= 0 or servers < 1:
        return 0.0
    queues = {f"server {k + 1}": server_s / servers for k in range(servers)}
    queues |= {f"net {k + 1}": net_s / nets for k in range(nets if net_s > 0 else 0)}
    stations: list[Station] = [Delay("rest"), *(Queue(name) for name in queues)]
    demands = {"rest": {"c": max(delay_s, 1e-9)}} | {name: {"c": value} for name, value in queues.items()}
    found = sj.solve(Model(stations, [Closed("c", clients)], demands_s=demands))
    inside = sum(found.value("queue_length", f"server {k + 1}") for k in range(servers))
    return inside / found.value("throughput", cls="c") - server_s
