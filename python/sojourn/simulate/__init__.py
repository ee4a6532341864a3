"""Simulation of models: from a `Model` to `Metrics` with intervals, by the native discrete-event engine.

simulate    the public face: runs until the precision is reached       compare    two models with common random numbers
config      a network as the engine's configuration                     engine     runs, in threads
record      what was recorded, as arrays                                warmup     where the warm-up ends
interval    ratios and quantiles with intervals                         stopping   when it is enough; growth
table       rows of Metrics        verdict, status    what a result is worth        progress    a bar on a terminal
"""

from sojourn.simulate.compare import compare_simulated
from sojourn.simulate.simulate import simulate

__all__ = ["compare_simulated", "simulate"]
