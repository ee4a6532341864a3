"""Simulation of models: from a `Model` to `Metrics` with intervals, by the native discrete-event engine.

simulate    the public face: runs until the precision is reached       paired_comparison   two models with common random numbers
engine_config   a network as the engine's configuration                 engine_runs     runs, in threads
engine_record   what was recorded, as arrays                            warmup          where the warm-up ends
metrics_table   rows of Metrics                                         stopping_rule   when it is enough; growth
simulation_outcome, simulation_status   what a result is worth                     progress_bar    on a terminal
"""

from typing import TYPE_CHECKING

from sojourn.simulate.paired_comparison import compare_simulated as compare_simulated
from sojourn.simulate.simulate import simulate as simulate

if TYPE_CHECKING:
    from sojourn.simulate.simulated_folder import cpu_rows as cpu_rows
    from sojourn.simulate.simulated_folder import write_run as write_run
    from sojourn.simulate.simulated_run import RunRecord as RunRecord
    from sojourn.simulate.simulated_run import counter_rows as counter_rows
    from sojourn.simulate.simulated_run import record_run as record_run
    from sojourn.simulate.simulated_run import station_rows as station_rows
    from sojourn.simulate.virtual_host import VirtualHost as VirtualHost
    from sojourn.simulate.virtual_host import VirtualHostRun as VirtualHostRun
    from sojourn.simulate.virtual_host import host_placement as host_placement
    from sojourn.simulate.virtual_host import simulate_host as simulate_host
    from sojourn.simulate.virtual_host import write_host_run as write_host_run
else:
    from lazy_loader import attach

    __getattr__, _, __all__ = attach(
        __name__,
        submod_attrs={
            "simulated_folder": ["cpu_rows", "write_run"],
            "simulated_run": ["RunRecord", "counter_rows", "record_run", "station_rows"],
            "virtual_host": ["VirtualHost", "VirtualHostRun", "host_placement", "simulate_host", "write_host_run"],
        },
    )
    __all__ += ["compare_simulated", "simulate"]
    __dir__ = __all__.copy
