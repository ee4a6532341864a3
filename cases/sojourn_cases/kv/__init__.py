"""A middleware for memcached: the system, what is fitted to it, and what its studies say.

Map: `middleware` the system that studies run · `none.toml`, `direct.toml`, `staged.toml` its models, `limited.toml` where hosts
limit it · `plain_interpolation` the rival that they must beat · `kv_laws` interactive law, Little's law, knees · `measured_maxima`
maxima, percentiles · `measured_figures` curves by clients and by keys, CPU in time ·
`crossover` which number of workers is better · `limits` what limited each point ·
`multiget` split or whole · `server_load` requests to each server · `client_and_middleware` histograms of both sides ·
`model_errors` errors by design, M/M/1, M/M/m · `network_of_queues` the report's network with the measured times.
"""

from sojourn import Case

CASE = Case(
    system_classes={
        "kv": "sojourn_cases.kv.middleware.kv_system:KvSystem",
        "kv-simulated": "sojourn_cases.kv.middleware.simulated_system:SimulatedKv",
    },
    fit_templates={"kv.plain": "sojourn_cases.kv.plain_interpolation:TEMPLATE"},
    analysis_functions={
        "kv.laws": "sojourn_cases.kv.kv_laws:laws_analysis",
        "kv.limits": "sojourn_cases.kv.limits:limits_analysis",
        "kv.measured": "sojourn_cases.kv.measured_maxima:measured_analysis",
        "kv.models": "sojourn_cases.kv.model_errors:models_analysis",
        "kv.multiget": "sojourn_cases.kv.multiget:multiget_analysis",
    },
    worker_functions={"kv-proxy": "sojourn_cases.worker_kinds:kv_proxy"},
    command_functions={"serve": {"kv-proxy": "sojourn_cases.kv.serve_kv_proxy:kv_proxy"}},
    study_folders={"kv": "sojourn_cases:studies/kv", "kv-limited": "sojourn_cases:studies/kv-limited"},
)
