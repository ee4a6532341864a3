"""An M/M/1 queue by Lindley's recursion in numpy, behind the interface of the native engine: a stand-in for tests of the
statistics that do not depend on the engine."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

BLOCK = 20_000
HISTOGRAM_GROUPS = 64


class Lindley:
    def __init__(self, config: str) -> None:
        self.config = json.loads(config)
        self.rate = 1 / self.config["classes"][0]["arrivals"]["mean"]
        self.mean_s = self.config["service"][0][0]["mean"]
        self.random = np.random.default_rng([self.config["seed"], self.config["replication"]])
        self.arrived, self.begun, self.left = np.zeros((3, 0))
        self.now_s, self.completions, self.events, self.ended = 0.0, 0, 0, False

    def run(self, until_s: float | None, completions: int | None, seconds: float | None) -> None:
        del seconds
        end_s = np.inf if until_s is None else until_s
        while (self.arrived.size == 0 or self.arrived[-1] <= end_s) and self.left.size < (completions or np.inf):
            self._block()
        if completions and self.left.size >= completions:
            end_s = min(end_s, self.left[completions - 1])
        self.now_s = float(end_s)
        self.completions = int(np.searchsorted(self.left, end_s, side="right"))
        self.events = 2 * self.completions

    def _block(self) -> None:
        last_arrival, last_left = (self.arrived[-1], self.left[-1]) if self.arrived.size else (0.0, 0.0)
        arrived = last_arrival + np.cumsum(self.random.exponential(1 / self.rate, BLOCK))
        service = self.random.exponential(self.mean_s, BLOCK)
        work = np.cumsum(service)
        idle = np.maximum(np.maximum.accumulate(arrived - np.r_[0.0, work[:-1]]), last_left)
        left = idle + work
        self.arrived = np.r_[self.arrived, arrived]
        self.begun = np.r_[self.begun, left - service]
        self.left = np.r_[self.left, left]

    def batches(self) -> dict[str, Any]:
        batch_s = self.config["batch_s"]
        while self.now_s / batch_s > 2 * self.config["batches"]:
            batch_s *= 2
        count = int(self.now_s / batch_s + 1e-9)
        edges = batch_s * np.arange(count + 1)
        own = (np.histogram(self.left, edges, weights=w)[0] for w in self._weights())
        names = ("completions", "response_s", "response_s2", "waiting_s", "waiting_s2", "waited")
        found = dict(zip(names, own, strict=True))
        found["arrivals"] = np.histogram(self.arrived, edges)[0]
        found["losses"] = np.zeros(count)
        found["blocked"] = np.zeros(count)
        found["present"] = np.diff(_area(self.arrived, edges) - _area(self.left, edges))
        found["busy"] = np.diff(_area(self.begun, edges) - _area(self.left, edges))
        shaped = {name: np.broadcast_to(v[:, None, None], (count, 2, 1)).astype(float) for name, v in found.items()}
        return {**shaped, "batch_s": batch_s}

    def _weights(self) -> list[np.ndarray]:
        response, wait = self.left - self.arrived, self.begun - self.arrived
        return [np.ones_like(wait), response, response**2, wait, wait**2, (wait > 1e-12).astype(float)]

    def histogram(self, key: str) -> dict[str, Any]:
        del key
        found = self.batches()
        by = max(1, len(found["completions"]) // HISTOGRAM_GROUPS)
        times = found["batch_s"] * by * np.arange(len(found["completions"]) // by + 1)
        bins = self.mean_s * np.geomspace(1e-6, 1e4, 4000)
        counts, _, _ = np.histogram2d(self.left, self.left - self.arrived, [times, np.r_[0.0, bins]])
        return {"edges_s": np.r_[0.0, bins], "counts": counts, "group_s": found["batch_s"] * by}


def _area(times: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Sum over `times` <= t of (t - time), for each t in `at`."""
    index = np.searchsorted(times, at, side="right")
    return index * at - np.r_[0.0, np.cumsum(times)][index]
