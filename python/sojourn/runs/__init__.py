"""A run folder and all that is read from it: the neutral ground between measuring, simulating and fitting.

Map: `run_folder` the folder · `manifest` its manifest: keys, kinds, versions · `record_files` its records, checked · `record_logs` the
logs that become them, `unconverted_logs` those that are read before, `freed_memory` what reading them leaves · `request_rows` requests that
no generator of ours wrote · `interval_log` histograms · `request_times` columns in order · `host_samples` what the host did · `core_speed`,
`core_utilisation`, `busy_series` made of those · `service_phases` the service's own account · `measurement_window` what
counts · `run_metrics` Metrics of a run · `think_time`, `session_mix` what clients did · `resources`, `watched_resources` what a system is
made of · `run_series` runs of one series · `assess_run`, `block_reasons`,
`disturbances`, `schedule_check` whether a run is valid, `generator_lateness` and how exact where its generator was late.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.runs.assess_run import NOT_BALANCED as NOT_BALANCED
    from sojourn.runs.assess_run import PULSE as PULSE
    from sojourn.runs.assess_run import REQUESTS_FAILED as REQUESTS_FAILED
    from sojourn.runs.block_reasons import BEYOND_CAPACITY as BEYOND_CAPACITY
    from sojourn.runs.busy_series import busy_series as busy_series
    from sojourn.runs.core_speed import recorded_work_s as recorded_work_s
    from sojourn.runs.core_utilisation import core_groups as core_groups
    from sojourn.runs.core_utilisation import run_time as run_time
    from sojourn.runs.core_utilisation import shares_by_spinner as shares_by_spinner
    from sojourn.runs.core_utilisation import shares_by_ticks as shares_by_ticks
    from sojourn.runs.disturbances import STEAL_TICK_S as STEAL_TICK_S
    from sojourn.runs.host_samples import counter_changes as counter_changes
    from sojourn.runs.host_samples import read_samples as read_samples
    from sojourn.runs.measurement_window import in_window as in_window
    from sojourn.runs.measurement_window import responses as responses
    from sojourn.runs.record_logs import read_log as read_log
    from sojourn.runs.record_logs import write_parquet as write_parquet
    from sojourn.runs.resources import MeasuredResource as MeasuredResource
    from sojourn.runs.resources import add_resources as add_resources
    from sojourn.runs.run_folder import RunFolder as RunFolder
    from sojourn.runs.run_folder import clock_times as clock_times
    from sojourn.runs.run_metrics import metrics_row as metrics_row
    from sojourn.runs.run_metrics import quantile_row as quantile_row
    from sojourn.runs.run_series import SERIES_LOAD as SERIES_LOAD
    from sojourn.runs.watched_resources import busy_per_s as busy_per_s
    from sojourn.runs.watched_resources import group_name as group_name
else:
    from lazy_loader import attach

    __getattr__, __dir__, __all__ = attach(
        __name__,
        submod_attrs={
            "assess_run": ["NOT_BALANCED", "PULSE", "REQUESTS_FAILED"],
            "block_reasons": ["BEYOND_CAPACITY"],
            "busy_series": ["busy_series"],
            "core_speed": ["recorded_work_s"],
            "core_utilisation": ["core_groups", "run_time", "shares_by_spinner", "shares_by_ticks"],
            "disturbances": ["STEAL_TICK_S"],
            "host_samples": ["counter_changes", "read_samples"],
            "measurement_window": ["in_window", "responses"],
            "record_logs": ["read_log", "write_parquet"],
            "resources": ["MeasuredResource", "add_resources"],
            "run_folder": ["RunFolder", "clock_times"],
            "run_metrics": ["metrics_row", "quantile_row"],
            "run_series": ["SERIES_LOAD"],
            "watched_resources": ["busy_per_s", "group_name"],
        },
    )
