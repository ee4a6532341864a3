"""Answers of a Prometheus server (HTTP API v1), within limits: time, bytes, points. A server is not trusted to keep any.

Source: https://prometheus.io/docs/prometheus/latest/querying/api/ (query_range: at most 11 000 points a series; values are texts; NaN,
+Inf and -Inf are among them; a stale series has no point).
"""

from __future__ import annotations

import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import InputError, ServiceError
from sojourn.files.reading import parse_json
from sojourn.observe.observed_windows import check_count

Array = NDArray[np.float64]
SCHEMES = {"prometheus": "http", "prometheus+https": "https"}
TIMEOUT_S = 30.0
MOST_BYTES = 64 * 2**20
PIECE_BYTES = 2**16
MOST_POINTS = 5000  # of one question; the server takes 11 000


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
        try:
            parts = urllib.parse.urlsplit(text)
            scheme, host = SCHEMES.get(parts.scheme), parts.hostname
        except ValueError:  # half of an address in brackets
            parts, scheme, host = urllib.parse.urlsplit(""), None, None
        if scheme is None or not host or parts.query or parts.fragment or parts.username:
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
                place = (time_s - part[0]) / step_s
                if -0.5 <= place < len(part) - 0.5:
                    found[first + round(place)] = value
        return np.where(np.isfinite(found), found, np.nan)

    def _result(self, data: Any, query: str) -> list[tuple[float, float]]:
        result = data.get("result") if isinstance(data, Mapping) else None
        if not isinstance(result, list):
            raise self._odd(f"no result for {query}")
        if len(result) > 1:
            raise InputError(f"{len(result)} series for {query}", self.name, "sum them, or give more labels in the map")
        if any(isinstance(one, Mapping) and "histograms" in one for one in result):
            remedy = "in the map, give histogram = SELECTOR in place of requests and seconds"
            raise InputError(f"a native histogram for {query}", self.name, remedy)
        try:
            found = [(float(t), float(v)) for one in result for t, v in one["values"]]
        except (KeyError, TypeError, ValueError, OverflowError):
            raise self._odd(f"values that are none for {query}") from None
        if not all(isfinite(t) for t, _ in found):
            raise self._odd(f"a time that is none for {query}")
        return found

    def _odd(self, what: str) -> ServiceError:
        return ServiceError(what, self.name, "see whether it is a Prometheus server")

    def _data(self, path: str, asked: Mapping[str, str]) -> Any:
        text = self._text(path, asked)
        try:
            found = parse_json(text)
        except (ValueError, RecursionError):
            raise self._odd("an answer that is no JSON") from None
        if not isinstance(found, Mapping):
            raise self._odd("an answer of another form")
        if found.get("status") != "success":
            raise InputError(_plain(found.get("error", "no success")), f"{self.name}: {asked.get('query', path)}",
                             "mend the selector in the map")  # fmt: skip
        return found.get("data")

    def _text(self, path: str, asked: Mapping[str, str]) -> bytes:
        url, until_s = f"{self.url}{path}?{urllib.parse.urlencode(asked)}", time.monotonic() + self.timeout_s
        try:
            with self._opened(url) as answer:
                return self._read(answer, until_s)
        except (
            OSError,
            HTTPException,
            ValueError,
        ) as error:  # a name of a host with a label that is too long is a ValueError
            said = getattr(error, "reason", None) or error or type(error).__name__
            raise ServiceError(_plain(said), self.name, "see whether the server runs, and answers in time") from None

    def _opened(self, url: str) -> Any:
        try:
            return urllib.request.build_opener(_NoRedirect).open(url, timeout=self.timeout_s)
        except urllib.error.HTTPError as error:
            if error.code in (400, 422):  # the server says in its answer what is wrong with the query
                return error
            error.close()
            remedy = "give the address itself" if 300 <= error.code < 400 else "see whether it is a Prometheus server"
            raise ServiceError(f"HTTP {error.code}", self.name, remedy) from None

    def _read(self, answer: Any, until_s: float) -> bytes:
        """Piece by piece: the socket's own limit holds for each piece, and one byte is a piece."""
        text = bytearray()
        while piece := answer.read1(PIECE_BYTES):
            text += piece
            if len(text) > self.most_bytes:
                remedy = "observe a shorter time, or give more labels in the map"
                raise ServiceError(f"an answer of more than {self.most_bytes // 2**20} MiB", self.name, remedy)
            if time.monotonic() > until_s:
                remedy = "observe a shorter time, or give more labels in the map"
                raise ServiceError(f"no whole answer within {self.timeout_s:g} s", self.name, remedy)
        return bytes(text)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """An answer that leads elsewhere is an error: the map was written for this server, and elsewhere may be anywhere."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _plain(said: object) -> str:
    return " ".join(str(said).split())[:300]


def window_ends(start_s: float, end_s: float, window_s: float) -> Array:
    """Ends of the whole windows in [start_s, end_s], on multiples of `window_s`, so that the same hours give the same windows again."""
    first, last = np.ceil(_nearly_whole(start_s / window_s)) + 1, np.floor(_nearly_whole(end_s / window_s))
    check_count(last - first + 1, start_s, end_s)
    return window_s * np.arange(first, last + 1)


def _nearly_whole(count: float) -> float:
    """The whole number beside it where there is one: Unix times are known to 1e-16 of themselves, and not of a window."""
    whole = float(np.round(count))
    return whole if abs(count - whole) <= 1e-9 + 1e-12 * abs(count) else count


def selectors(names: Sequence[str]) -> str:
    """Names for a message, the first of them."""
    return ", ".join(names[:5]) + (" …" if len(names) > 5 else "")
