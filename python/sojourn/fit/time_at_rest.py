"""By how much longer the CPU time of a request is at rest than at saturation, which runs at moderate load do not show.

A service that is often idle pays for its wake-ups, cold caches and the core's own sleep; one that is always busy takes the next request
at once. Of fourteen recorded services that CPU time limits (benches/services, benches/capacity, 26 November, a machine with 2 cores)
this time falls late: work (1 + at_rest (1 - u²)), u the utilisation, describes it within some 4 %, where a straight line or
(1 - u)² fall too early. at_rest was 0, 0, 0, 0.04, 0.04, 0.12, 0.14, 0.2, 0.2, 0.22, 0.24, 0.25, 0.36 and 0.41. Half of the fall comes
above 70 % of saturation. Two models therefore stand for what is believed before the runs, each alike: none, and `LEVEL`.
"""

from __future__ import annotations

AT_REST = "at_rest"
LONGER = f"work_s * (1 + {AT_REST} * (1 - u**2))"
LEVEL = 0.3
SHARE = 0.5  # what is believed of each of the two
WORDS = f"its time {LEVEL * 100:.0f} % longer at rest"
