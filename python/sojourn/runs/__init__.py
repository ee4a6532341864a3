"""A run folder and all that is read from it: the neutral ground between measuring, simulating and fitting.

Map: `run_folder` the folder · `manifest` its manifest: keys, kinds, versions · `record_files` its records, checked · `record_logs` the
logs that become them · `request_rows` requests that no generator of ours wrote · `interval_log` histograms ·
`host_samples` what the host did ·
`core_speed`, `core_utilisation`, `busy_series` made of those · `service_phases` the service's own account · `measurement_window` what
counts · `run_metrics` Metrics of a run · `think_time`, `session_mix` what clients did · `resources`, `watched_resources` what a system is
made of · `observations` runs as a fit wants them · `run_series` runs of one series · `assess_run`, `block_reasons` whether a run is valid.
"""
