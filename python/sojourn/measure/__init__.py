"""A run made: load generators, the host's recorder, and what judges both.

Map: `measure` several levels, one after another · `execute_run` one run, made and judged · `agents` a load from several machines,
`agents_section` what the report says of them · `client_hosts` a load from several hosts of this machine · `call_load` calls of a
user's own function · `service_processes`, `client_core`, `surroundings` who belongs to a run, and where its generator runs ·
`process_times`, `early_look`, `cpu_time`, `cpu_account`, `cpu_residual` CPU time, and what of it is whose · `run_report`,
`run_figures`, `one_run_figures`, `objective_lines` the report of a run.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.measure.client_hosts import ClientHost as ClientHost
    from sojourn.measure.client_hosts import ClientHosts as ClientHosts
    from sojourn.measure.cpu_residual import STOLEN as STOLEN
    from sojourn.measure.cpu_residual import MeterReading as MeterReading
    from sojourn.measure.cpu_residual import ResidualMeter as ResidualMeter
    from sojourn.measure.cpu_residual import residual_meter as residual_meter
    from sojourn.measure.cpu_residual import tick_reading as tick_reading
    from sojourn.measure.execute_run import RunEnvironment as RunEnvironment
    from sojourn.measure.execute_run import execute as execute
    from sojourn.measure.execute_run import machine as machine
    from sojourn.measure.measure import measure as measure
    from sojourn.measure.process_times import most_used as most_used
    from sojourn.measure.process_times import process_times as process_times
    from sojourn.measure.process_times import used_between as used_between
    from sojourn.measure.run_report import validity_rule as validity_rule
else:
    from lazy_loader import attach

    __getattr__, __dir__, __all__ = attach(
        __name__,
        submod_attrs={
            "client_hosts": ["ClientHost", "ClientHosts"],
            "cpu_residual": ["STOLEN", "MeterReading", "ResidualMeter", "residual_meter", "tick_reading"],
            "execute_run": ["RunEnvironment", "execute", "machine"],
            "measure": ["measure"],
            "process_times": ["most_used", "process_times", "used_between"],
            "run_report": ["validity_rule"],
        },
    )
