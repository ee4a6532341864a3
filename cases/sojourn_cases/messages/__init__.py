"""A message service on PostgreSQL; a network fitted to some configurations is judged at the others.

Map: `message_service` the system, `message_service_metrics` what its runs have, `message_service_simulated` the same with known times ·
`message_server` the service itself, `serve_messages` its command · models: `usl.toml` a delay and one station, `batching.toml` the same
where requests that wait make it faster, `telesto.toml` the Telesto report's own network with measured times · `operational_analysis` laws
and utilisations · `message_analyses`, `message_figures` what only this study shows · `disk_flush_time` of the disk below the database.
"""

from sojourn import Case

CASE = Case(
    system_classes={
        "messages": "sojourn_cases.messages.message_service:MessagesSystem",
        "messages-simulated": "sojourn_cases.messages.message_service_simulated:SimulatedMessages",
    },
    analysis_functions={
        "messages.service": "sojourn_cases.messages.message_analyses:service",
        "messages.laws": "sojourn_cases.messages.message_analyses:checked_laws",
        "messages.limits": "sojourn_cases.messages.message_analyses:limits",
        "messages.times": "sojourn_cases.messages.message_analyses:times",
    },
    worker_functions={"messages": "sojourn_cases.worker_kinds:messages"},
    command_functions={"serve": {"messages": "sojourn_cases.messages.serve_messages:messages"}},
    study_folders={"messages": "sojourn_cases:studies/messages"},
)
