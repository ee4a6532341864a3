"""Simulation of models: from a `Model` to `Metrics` with intervals, by the native discrete-event engine.

simulate    the public face: runs until the precision is reached       paired_comparison   two models with common random numbers
engine_config   a network as the engine's configuration                 engine_runs     runs, in threads
engine_record   what was recorded, as arrays                            warmup          where the warm-up ends
metrics_table   rows of Metrics                                         stopping_rule   when it is enough; growth
simulation_outcome, simulation_status   what a result is worth                     progress_bar    on a terminal
"""

from sojourn.simulate.paired_comparison import compare_simulated
from sojourn.simulate.simulate import simulate

__all__ = ["compare_simulated", "simulate"]
