"""The message study: a message service on PostgreSQL, measured, fitted at one client count, judged at the others.

plan       the TOML file, checked            points, seen   what a run is, and what it says
live       runs on this machine              simulated      the same with known times
models/    parallelism of the database, closed network, fit, best configuration
analysis   laws, what limits                 run            part by part, resumed
document   verdict and report: measured_section, model_section
"""

from sojourn.study.messages.plan import MessagesPlan, read_messages_plan

__all__ = ["MessagesPlan", "read_messages_plan"]
