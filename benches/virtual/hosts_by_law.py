"""Hosts whose truth is one of the variants of the two-class model: what runs on them measure is drawn from that variant's law.

The mean response time of a run is that at the rate of its own requests and with the mean times that these took, with what is left of
the error of a mean over so many correlated requests: relative variance (1 + u)²/((1 - u)² N) of N requests at utilisation u, as of M/M/1.
The number of requests explains u² of (1 + u)², their times 1, nothing else 2u. It is that of the number present, 2(1 + u)/((1 - u)² N)
(W. Whitt: Planning Queueing Simulations. Management Science 35(11), 1989, pp. 1341-1366), less what the rate has of it by Little's law.
Busy times are sums of exponential pages and of interrupts, as many as there were requests.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import sojourn as sj
from sojourn.fit import FitRuns
from sojourn.fit.fit_runs import FitRun

MOST = 0.97  # of saturation, of the rate of a run's own requests


@dataclass(frozen=True)
class HostByLaw:
    """Demands in s; `interrupt_scv` is 1 in the variants whose interrupts are exponential."""

    variant: str
    cores: int
    interrupt_s: float
    page_s: float
    interrupt_scv: float
    crossing_s: float
    seconds: float
    seed: int

    @staticmethod
    def drawn(seed: int, seconds: float) -> HostByLaw:
        rng = np.random.default_rng(seed)
        cores = int(rng.choice([2, 2, 4, 4, 8]))
        page_s = float(np.exp(rng.uniform(np.log(5e-4), np.log(4e-3))))
        interrupt_s = page_s * float(rng.uniform(0.1, 1.5)) / max(cores - 1, 1)
        variant = str(rng.choice(["priority", "shared", "paper"]))
        scv = float(rng.choice([0.0, 1.0])) if variant == "priority" else 1.0
        return HostByLaw(variant, cores, interrupt_s, page_s, scv, float(rng.choice([0.0, 1e-4, 3e-4])), seconds, seed)

    def _told(self, rate: float, size: tuple[int, int]) -> sj.Metrics:
        given: dict[str, Any] = {"interrupt_scv": self.interrupt_scv} if self.variant == "priority" else {}
        return sj.two_class(
            rate, mu1_per_s=1 / self.interrupt_s, mu2_per_s=1 / self.page_s, cores=size[0], nics=size[1],
            variant=self.variant, crossing_s=self.crossing_s, **given,
        )  # fmt: skip

    def saturation(self, size: tuple[int, int]) -> float:
        """1/s."""
        return self._told(1.0, size).value("saturation_rate")

    def runs(self, size: tuple[int, int], shares: tuple[float, ...]) -> FitRuns:
        """A run at each share of the saturation rate."""
        rng = np.random.default_rng([self.seed, *size])
        return FitRuns([self._run(size, share, rng) for share in shares])

    def _run(self, size: tuple[int, int], share: float, rng: np.random.Generator) -> FitRun:
        cores, nics = size
        most, t = self.saturation(size), self.seconds
        count = int(rng.poisson(share * most * t))
        stay = count if cores == nics else int(rng.binomial(count, nics / cores))
        soft = self.interrupt_s * (count + np.sqrt(self.interrupt_scv * count) * rng.standard_normal()) / t
        pages, others = (self.page_s * rng.gamma(n) / t for n in (stay, count - stay))
        seen = replace(self, interrupt_s=soft * t / count, page_s=(pages + others) * t / count)
        rate = min(count / t, MOST * seen.saturation(size))
        u = rate / most
        response = seen._told(rate, size).value("response_time") * np.exp(
            np.sqrt(2 * u / count) / (1 - u) * rng.standard_normal()
        )
        stated = (1 + u) / (1 - u) * count**-0.5 * np.exp(rng.standard_normal() / np.sqrt(2 * 19))  # 20 batches
        busy = {"leading": soft + pages, "leading interrupts": soft}
        busy |= {"trailing": others} if cores > nics else {}
        means = {("", "throughput"): (count / t, count**-0.5), ("", "response_time"): (float(response), float(stated))}
        factors = {"cores": cores, "nics": nics, "rate_per_s": share * most}
        return FitRun(f"{cores}-{nics}-{share:g}", factors, means, {name: float(value) for name, value in busy.items()})
