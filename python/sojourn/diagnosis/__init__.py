"""What limits a service, by laws and not by a model of it: a sentence, its figures, and what to measure next.

Laws, at the level with the most load:

    utilisation law     U_k = X D_k/c_k            what each resource that was watched is busy with; full at X/U_k
    flow balance        X < arrivals               more requests arrive than leave: something is full
    interactive law     N = X (R + Z)              users who wait; U of the busiest is at least 1 - d ln X/d ln N (closed loop)
    Little's law        X R from sent              as many connections in use as there are: the client is in the way
    growth of R         R = A + B u^a/(1 - u)      u = X/saturation: how full the queue itself says it is (open loop)

The first four and the bounds: Lazowska et al., Quantitative System Performance (1984), chapters 3 and 5; Jain, The Art of
Computer Systems Performance Analysis (1991), chapter 33. That d R/d N is at most the largest demand follows from the arrival
theorem (Lazowska, 6.4). The growth of R: `queue_fill`.

diagnosis_types     LoadLevel, WatchedResource, Diagnosis     queue_fill      how full the queue says it is
limiting_resource   which of them is the limit                client_limit    whether the load generator is
limit_chances       how likely each is, by the queue          full_rates      where each is full, and whether a model agrees
demand_trend        times that change with the load           sentences       what is said of it
"""

from __future__ import annotations

from sojourn.diagnosis.diagnosis_types import Diagnosis, LoadLevel, Rate, WatchedResource
from sojourn.diagnosis.full_rates import full_rates, is_limit
from sojourn.diagnosis.limiting_resource import FULL, diagnose_levels
from sojourn.diagnosis.queue_fill import queue_utilisation
from sojourn.diagnosis.sentences import lines, summary, table

__all__ = [
    "FULL",
    "Diagnosis",
    "LoadLevel",
    "Rate",
    "WatchedResource",
    "diagnose_levels",
    "full_rates",
    "is_limit",
    "lines",
    "queue_utilisation",
    "summary",
    "table",
]
