"""With which probability a span's trace was kept, as the span itself says it.

Sources: opentelemetry.io/docs/specs/otel/trace/tracestate-handling, `ot=th:` (rejection threshold T of 56 bits, the probability is
1 - T/2^56); the former tracestate-probability-sampling, `ot=p:` (the probability is 2^-p, 63 stands for 0); Jaeger's client
libraries, tags `sampler.type` and `sampler.param` of a root span.
"""

from __future__ import annotations

import re
from typing import Any

THRESHOLD = re.compile(r"(?:^|;)th:([0-9a-f]{1,14})(?:;|$)")
P_VALUE = re.compile(r"(?:^|;)p:(\d{1,2})(?:;|$)")
WHOLE = 1 << 56
MOST_STATE = 4096  # characters of a tracestate that are looked at; W3C has 512


def of_tracestate(text: Any) -> float | None:
    """In (0, 1], of a W3C tracestate; None where it does not say it."""
    if not isinstance(text, str) or "ot=" not in text:
        return None
    own = next((part.strip()[3:] for part in text[:MOST_STATE].split(",") if part.strip().startswith("ot=")), "")
    if found := THRESHOLD.search(own):
        return 1.0 - int(found[1].ljust(14, "0"), 16) / WHOLE
    if found := P_VALUE.search(own):
        return 2.0 ** -int(found[1]) if int(found[1]) < 63 else None
    return None


def of_sampler(kind: Any, parameter: Any) -> float | None:
    """In (0, 1], of Jaeger's tags; None for a sampler whose probability is not known, such as one that limits a rate."""
    if kind == "const":
        return 1.0 if parameter in (True, "true", "True", 1) else None
    if kind != "probabilistic" or isinstance(parameter, bool):
        return None
    try:
        value = float(parameter)
    except (TypeError, ValueError):
        return None
    return value if 0.0 < value <= 1.0 else None
