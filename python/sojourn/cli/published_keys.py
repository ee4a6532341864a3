"""Keys of what `--json` prints that have another name where they are made: settings of a policy, and services of the cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# verb → path of a key, of lists the elements → what it is called there
KEYS: dict[str, dict[str, str]] = {
    "control over": {"decisions.observed.cap": "max_in_system"},
    "control replay": {"decisions.observed.cap": "max_in_system"},
    "control simulate": {"rows.curve": "policy_folder"},
    "load": {
        "sessions": "session_results",
        "sessions.steps": "transition_counts",
        "messages.empty": "takes_of_nothing",
        "messages.late": "acknowledged_too_late",
        "messages.unknown": "puts_of_unknown_outcome",
        "messages.twice": "delivered_twice",
        "messages.foreign": "messages_of_other_runs",
        "messages.left": "left_in_queues",
        "messages.wrong": "altered_messages",
        "storage.cache_before": "page_cache_share_before",
        "storage.cache_after": "page_cache_share_after",
    },
    "measure": {"limits.utilisation_by_waiting": "utilisation_bounds_by_waiting"},
    "serve bulletin": {
        "seconds": "duration_s",
        "transactions": "database_transactions",
        "wait_s": "mean_wait_s",
        "service_s": "mean_service_s",
        "refused": "requests_refused",
    },
    "serve kv": {"items": "stored_items", "bytes": "stored_bytes", "connections": "connections_accepted"},
    "serve kv-proxy": {
        "seconds": "duration_s",
        "design": "architecture",
        "accepted": "clients_accepted",
        "turned_away": "clients_refused",
        "queue": "queue_wait",
        "bins": "histogram_counts",
        "bin_s": "histogram_bin_s",
    },
    "serve messages": {
        "seconds": "duration_s",
        "accepted": "clients_accepted",
        "turned_away": "clients_refused",
        "phases.dispatch": "queue_wait",
        "phases.wait": "database_connection_wait",
        "phases.database": "database_time",
        "database": "database_settings",
        "sessions": "database_sessions",
        "sessions_lost": "database_sessions_lost",
        "by_kind.take": "take_of_message",
        "by_kind.empty": "take_of_nothing",
    },
}  # fmt: skip


def published(answer: Any, keys: Mapping[str, str], path: str = "") -> Any:
    """The answer with the keys that are published."""
    if isinstance(answer, Mapping):
        return {keys.get(f"{path}{key}", key): published(value, keys, f"{path}{key}.") for key, value in answer.items()}
    return [published(one, keys, path) for one in answer] if isinstance(answer, list | tuple) else answer
