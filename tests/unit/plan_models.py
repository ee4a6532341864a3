"""One station as a model file, and M/M/m by Erlang's recursion."""

ONE = """
[stations.cpu]
servers = 4
[classes.user]
kind = "open"
rate_per_s = 100.0
[demands_s.cpu]
user = 0.02
[factors]
cores = "stations.cpu.servers"
"""


def erlang_response(rate: float, service_s: float, servers: int) -> float:
    """M/M/m by Erlang's recursion."""
    offered, lost = rate * service_s, 1.0
    for k in range(1, servers + 1):
        lost = offered * lost / (k + offered * lost)
    waits = lost / (1 - offered / servers * (1 - lost))
    return service_s + waits * service_s / (servers - offered)
