"""A run made: load generators, the host's recorder, and what judges both.

Map: `measure` several levels, one after another · `execute_run` one run, made and judged · `agents` a load from several machines,
`agents_section` what the report says of them · `call_load` calls of a user's own function · `process_times`, `cpu_time`,
`cpu_residual` CPU time, and what of it is whose · `run_report`, `run_figures` the
report of a run.
"""

from sojourn.measure.measure import measure

__all__ = ["measure"]
