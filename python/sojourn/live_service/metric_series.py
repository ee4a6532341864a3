"""One figure of a page of metrics in the text format of Prometheus: a series by name and labels, or the sum of several.

Format: https://prometheus.io/docs/instrumenting/exposition_formats/ ; OpenMetrics text is read as well.
"""

from __future__ import annotations

import http.client
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from prometheus_client.parser import text_string_to_metric_families

from sojourn.errors import InputError, ServiceError

MOST_BYTES = 8 << 20  # of a page
NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")


class MetricsError(Exception):
    """Why a reading is no measurement."""


@dataclass(frozen=True)
class MetricSeries:
    """All series of that name whose labels have these values."""

    name: str
    labels: Mapping[str, str]

    @classmethod
    def parsed(cls, text: str, place: str) -> MetricSeries:
        """`name` or `name{label="value",…}`. InputError."""
        remedy = 'give a name as on the page: name, or name{label="value"}'
        try:
            (family,) = text_string_to_metric_families(f"{text} 0\n")
            (sample,) = family.samples
        except ValueError:
            raise InputError(repr(text), place, remedy) from None
        if not NAME.fullmatch(sample.name) or sample.value != 0:
            raise InputError(repr(text), place, remedy)
        return cls(sample.name, dict(sample.labels))

    def __str__(self) -> str:
        labels = ",".join(f'{name}="{value}"' for name, value in self.labels.items())
        return f"{self.name}{{{labels}}}" if labels else self.name


def totals(text: str, wanted: Mapping[str, MetricSeries]) -> dict[str, float]:
    """The sum of each that is on the page; those that are not are left out. MetricsError: a value that is no number >= 0."""
    names = tuple({series.name for series in wanted.values()})
    found: dict[str, float] = {}
    for name, labels, value in _samples(text, names):
        for key, series in wanted.items():
            if name == series.name and all(labels.get(label) == at for label, at in series.labels.items()):
                if not (math.isfinite(value) and value >= 0):
                    raise MetricsError(f"{series} is {value}")
                found[key] = found.get(key, 0.0) + value
    return found


def _samples(text: str, names: tuple[str, ...]) -> Iterable[tuple[str, Mapping[str, str], float]]:
    lines = [line for line in text.splitlines() if line.startswith(names)]  # parsing a large page takes long
    for line in lines:
        try:
            for family in text_string_to_metric_families(line + "\n"):
                for sample in family.samples:
                    yield sample.name, sample.labels, float(sample.value)
        except ValueError:
            raise MetricsError(f"not a sample: {line[:80]!r}") from None


def page(url: str, timeout_s: float, remedy: str = "start the service") -> str:
    """The text at an http or https URL. InputError: not such a URL. ServiceError: nobody answers, or not with a page."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        raise InputError(url, "URL of metrics", "the port is not a number from 1 to 65535") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(url, "URL of metrics", "give http://HOST:PORT/PATH")
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname, port, timeout=timeout_s)
    try:
        connection.request("GET", (parts.path or "/") + (f"?{parts.query}" if parts.query else ""))
        response = connection.getresponse()
        body = response.read(MOST_BYTES + 1)
    except (OSError, http.client.HTTPException) as error:
        raise ServiceError(str(error) or type(error).__name__, url, "start the service") from None
    finally:
        connection.close()
    if response.status != 200:
        raise ServiceError(f"status {response.status}", url, remedy)
    if len(body) > MOST_BYTES:
        raise ServiceError(f"more than {MOST_BYTES >> 20} MiB", url, "serve these series on a separate page")
    return body.decode("utf-8", "replace")
