"""The message study: a message service on PostgreSQL, fitted at one configuration, judged at the others (engine).

parallelism   how much the database does at once: the Telesto report's rule, the measured curve, the scalability law
document      the Telesto report's own network        network    ours: workers held, pool of connections, declining
fit           parameters with intervals, from the sections `reference` and `calibration`
template      the rivals for `[fit] model = "messages"`     operational   laws and utilisations
analyses      what only this study shows, for `[[analysis]]`
"""
