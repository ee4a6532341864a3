"""Answers of a Prometheus server (HTTP API v1), within limits: time, bytes, series, points. A server is not trusted to keep any.

Source: https://prometheus.io/docs/prometheus/latest/querying/api/ (query_range: at most 11 000 points a series; values are texts; NaN,
+Inf and -Inf are among them; a stale series has no point).
"""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import InputError, ServiceError
from sojourn.files.reading import parse_json

Array = NDArray[np.float64]
SCHEMES = {"prometheus": "http", "prometheus+https": "https"}
TIMEOUT_S = 30.0
MOST_BYTES = 64 * 2**20
MOST_POINTS = 5000  # of one question; the server takes 11 000
MOST_SERIES = 10_000
MOST_WINDOWS = 100_000


@dataclass(frozen=True)
class PrometheusServer:
    """`url`: http(s)://host:port, perhaps with a path; `name`: as it was given."""

    url: str
    name: str
    timeout_s: float = TIMEOUT_S
    most_bytes: int = MOST_BYTES

    @staticmethod
    def of(text: str) -> PrometheusServer:
        """`prometheus://host:port`, or `prometheus+https://…`. Raises InputError for another URL."""
        parts = urllib.parse.urlsplit(text)
        scheme = SCHEMES.get(parts.scheme)
        if scheme is None or not parts.hostname or parts.query or parts.fragment or parts.username:
            remedy = "write prometheus://HOST:9090, or prometheus+https://HOST"
            raise InputError(text, "source", remedy)
        return PrometheusServer(f"{scheme}://{parts.netloc}{parts.path.rstrip('/')}", text)

    def names(self) -> list[str]:
        """Of all metrics that it has."""
        found = self._data("/api/v1/label/__name__/values", {})
        return sorted(str(name) for name in found) if isinstance(found, list) else []

    def label_values(self, label: str, metric: str) -> list[str]:
        """Values that a label has in a metric."""
        found = self._data(f"/api/v1/label/{label}/values", {"match[]": metric})
        return sorted(str(name) for name in found) if isinstance(found, list) else []

    def series(self, query: str, ends_s: Array, step_s: float) -> Array:
        """Value of a query that gives one series, at times `ends_s` (n,) that are `step_s` apart, Unix time; NaN where there is none.

        Raises:
            InputError: the query is wrong, or gives several series. ServiceError: the server fails, or answers what it should not.
        """
        found = np.full(len(ends_s), np.nan)
        for first in range(0, len(ends_s), MOST_POINTS):
            part = ends_s[first : first + MOST_POINTS]
            asked = {"query": query, "start": repr(float(part[0])), "end": repr(float(part[-1])), "step": repr(step_s)}
            result = self._result(self._data("/api/v1/query_range", asked), query)
            for time_s, value in result:
                place = round((time_s - part[0]) / step_s)
                if 0 <= place < len(part):
                    found[first + place] = value
        return np.where(np.isfinite(found), found, np.nan)

    def _result(self, data: Any, query: str) -> list[tuple[float, float]]:
        result = data.get("result") if isinstance(data, Mapping) else None
        if not isinstance(result, list):
            raise self._odd(f"no result for {query}")
        if len(result) > 1:
            raise InputError(f"{len(result)} series for {query}", self.name, "sum them, or give more labels in the map")
        try:
            return [(float(t), float(v)) for one in result for t, v in one["values"]]
        except (KeyError, TypeError, ValueError):
            raise self._odd(f"values that are none for {query}") from None

    def _odd(self, what: str) -> ServiceError:
        return ServiceError(what, self.name, "see whether it is a Prometheus server")

    def _data(self, path: str, asked: Mapping[str, str]) -> Any:
        text = self._text(path, asked)
        try:
            found = parse_json(text)
        except json.JSONDecodeError:
            raise self._odd("an answer that is no JSON") from None
        if not isinstance(found, Mapping):
            raise self._odd("an answer of another form")
        if found.get("status") != "success":
            raise InputError(_plain(found.get("error", "no success")), f"{self.name}: {asked.get('query', path)}",
                             "mend the selector in the map")  # fmt: skip
        return found.get("data")

    def _text(self, path: str, asked: Mapping[str, str]) -> bytes:
        url = f"{self.url}{path}?{urllib.parse.urlencode(asked)}"
        try:
            with urllib.request.urlopen(url, timeout=self.timeout_s) as answer:
                text: bytes = answer.read(self.most_bytes + 1)
        except urllib.error.HTTPError as error:
            if error.code in (400, 422):  # the server says in its answer what is wrong with the query
                return error.read(self.most_bytes)
            raise ServiceError(f"HTTP {error.code}", self.name, "see whether it is a Prometheus server") from None
        except (OSError, HTTPException) as error:
            said = getattr(error, "reason", None) or error or type(error).__name__
            raise ServiceError(_plain(said), self.name, "see whether the server runs, and answers in time") from None
        if len(text) > self.most_bytes:
            remedy = "observe a shorter time, or give more labels in the map"
            raise ServiceError(f"an answer of more than {self.most_bytes // 2**20} MiB", self.name, remedy)
        return text


def _plain(said: object) -> str:
    return " ".join(str(said).split())[:300]


def window_ends(start_s: float, end_s: float, window_s: float) -> Array:
    """Ends of the whole windows in [start_s, end_s], on multiples of `window_s`, so that the same hours give the same windows again."""
    first = np.ceil(start_s / window_s + 1e-9) + 1
    last = np.floor(end_s / window_s + 1e-9)
    if last - first + 1 > MOST_WINDOWS:
        raise InputError(f"{int(last - first + 1)} windows", "--window", f"give a longer one: at most {MOST_WINDOWS}")
    return window_s * np.arange(first, last + 1)


def selectors(names: Sequence[str]) -> str:
    """Names for a message, the first of them."""
    return ", ".join(names[:5]) + (" …" if len(names) > 5 else "")
