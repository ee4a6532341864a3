"""The message study: a message service on PostgreSQL, a network fitted to some configurations, judged at the others (engine).

telesto    the Telesto report's own network and its rule for the database        message_network    ours: delays and one station
network_fit   the five unknowns of ours from response times, and its error at configurations left out
template   the rivals for `[fit] model = "messages"`     operational_analysis   laws and utilisations
analyses   what only this study shows, for `[[analysis]]`
"""
