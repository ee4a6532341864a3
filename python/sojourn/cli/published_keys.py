"""Keys of what `--json` prints that have another name there than where they are made: in the log of decisions, and in services of the cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DECISION = {
    "seen": "observed",
    "seen.cap": "max_in_system",
    "seen.late": "metrics_late",
    "seen.at_s": "window_end_s",
    "seen.ready": "ready_workers",
    "wanted": "wanted_workers",
    "why": "reason",
}


# verb → path of a key, of lists the elements → what it is called there
KEYS: dict[str, dict[str, str]] = {
    **dict.fromkeys(("control over", "control replay"), {f"decisions.{key}": name for key, name in _DECISION.items()}),
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
        "sessions": "database_sessions",
        "sessions_lost": "database_sessions_lost",
        "by_kind.empty": "take_of_nothing",
    },
}  # fmt: skip


def published(answer: Any, keys: Mapping[str, str], path: str = "") -> Any:
    """The answer with the keys that are published."""
    if isinstance(answer, Mapping):
        return {keys.get(f"{path}{key}", key): published(value, keys, f"{path}{key}.") for key, value in answer.items()}
    return [published(one, keys, path) for one in answer] if isinstance(answer, list | tuple) else answer
