"""What a check says of a file: which law, the numbers, how sure, what it means, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sojourn.former_keyword import former_field

Severity = Literal["contradiction", "misleading", "note"]
Certainty = Literal["certain", "likely", "possible"]
SEVERITIES: tuple[Severity, ...] = ("contradiction", "misleading", "note")

LAWS = {
    "littles_law": "Little's law",
    "interactive_law": "interactive law",
    "utilisation_law": "utilisation law",
    "client_limit": "the client was the limit",
    "one_connection": "limit of the connections",
    "schedule_missed": "schedule missed",
    "requests_dropped": "requests dropped",
    "coordinated_omission": "coordinated omission",
    "not_stationary": "not stationary",
    "warm_up": "warm-up inside",
    "latency_falls": "latency falls as load rises",
    "quantiles": "quantiles contradict each other",
    "mean_and_quantiles": "mean contradicts quantiles",
    "coarse_times": "times too coarse",
    "failures_mixed": "failures mixed in",
    "throughput": "throughput contradicts counts",
    "percentiles_averaged": "percentiles averaged",
    "run_not_valid": "run not valid",
}


@former_field(weight="severity", sure="certainty", said="found", means="meaning")
@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or may be.

    Attributes:
        law: key of `LAWS`.
        severity: `contradiction`: the numbers cannot all be true. `misleading`: they do not say what they seem to. `note`: good to know.
        certainty: how sure that is.
        source: file, and which part of it.
        found: what was found, with its numbers.
        meaning: what follows for the reader of the file.
        remedy: what to do.
        numbers: the same numbers; SI, the unit last in the name.
    """

    law: str
    severity: Severity
    certainty: Certainty
    source: str
    found: str
    meaning: str
    remedy: str
    numbers: Mapping[str, float | None]

    @property
    def title(self) -> str:
        return LAWS[self.law]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "law": self.law, "title": self.title, "severity": self.severity, "certainty": self.certainty, "source": self.source,
            "found": self.found, "meaning": self.meaning, "remedy": self.remedy,
            "numbers": [{"name": name, "value": value} for name, value in self.numbers.items()],
        }  # fmt: skip
