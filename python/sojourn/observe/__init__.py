"""Observations that nobody made a load test for: a request log and a utilisation series, cut into windows that `fit` takes as runs.

Map: `observed_windows` a window · `request_log` a request log, read in parts (`csv_rows`) into arrays (`growing_array`) ·
`utilisation_series` how busy resources were · `log_windows` both, cut
into windows · `load_feedback`, `paced_arrivals` whether the load waits for answers · `window_folders` windows as run folders ·
`change_points` when the service became another · `record_parts` which part of a record is used · `first_model` a model of them with
unknowns · `what_is_told` what these hours can tell. `prometheus_http` answers of a Prometheus server, within limits · `series_map`
which series is what · `suggested_map` a first one, from names · `observe_prometheus` windows from counters.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.observe.observe_files import ObservedService as ObservedService
    from sojourn.observe.observe_files import observe_files as observe_files
else:
    from lazy_loader import attach

    __getattr__, __dir__, __all__ = attach(
        __name__, submod_attrs={"observe_files": ["ObservedService", "observe_files"]}
    )
