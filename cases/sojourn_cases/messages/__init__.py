"""A message service on PostgreSQL; a network fitted to some configurations is judged at the others.

Map: `message_service` the system, `message_service_metrics` what its runs have, `message_service_simulated` the same with known times ·
`message_server` the service itself, `serve_messages` its command · `telesto` the Telesto report's own network and its rule for the
database · `message_network` ours: delays and one station · `network_fit` the five unknowns of ours from response times, and its error at
configurations left out · `message_template` the rivals · `operational_analysis` laws and utilisations · `message_analyses` what only this
study shows · `disk_flush_time` of the disk below the database.
"""

from sojourn import Case

CASE = Case(
    systems={
        "messages": "sojourn_cases.messages.message_service:MessagesSystem",
        "messages-simulated": "sojourn_cases.messages.message_service_simulated:SimulatedMessages",
    },
    templates={"messages": "sojourn_cases.messages.message_template:TEMPLATE"},
    analyses={
        "messages.service": "sojourn_cases.messages.message_analyses:service",
        "messages.laws": "sojourn_cases.messages.message_analyses:checked_laws",
        "messages.limits": "sojourn_cases.messages.message_analyses:limits",
        "messages.times": "sojourn_cases.messages.message_analyses:times",
    },
    workers={"messages": "sojourn_cases.worker_kinds:messages"},
    commands={"serve": {"messages": "sojourn_cases.messages.serve_messages:messages"}},
)
