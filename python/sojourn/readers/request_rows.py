"""Single requests as a reader meets them, kept in 17 bytes each, up to a limit."""

from __future__ import annotations

from array import array
from math import isfinite

import numpy as np

from sojourn.readers.observation import Requests

MOST_KEPT = 8_000_000  # 136 MB


class RequestRows:
    """Grows by `add`; `requests` is what came together, in order of start, None where nothing did."""

    def __init__(self) -> None:
        self._start, self._response, self._ok = array("d"), array("d"), array("b")
        self._left_out = 0

    def add(self, start_s: float, response_s: float, ok: bool) -> None:
        """One request. A time that is not finite, or negative, is left out and counted."""
        if len(self._start) >= MOST_KEPT or not (isfinite(start_s) and 0 <= response_s < float("inf")):
            self._left_out += 1
            return
        self._start.append(start_s)
        self._response.append(response_s)
        self._ok.append(ok)

    def __len__(self) -> int:
        return len(self._start)

    def requests(self) -> Requests | None:
        if not self._start:
            return None
        start = np.frombuffer(self._start, dtype=np.float64)
        order = np.argsort(start, kind="stable")
        response = np.frombuffer(self._response, dtype=np.float64)
        ok = np.frombuffer(self._ok, dtype=np.int8)
        return Requests(start[order], response[order], ok[order].astype(bool), self._left_out)
