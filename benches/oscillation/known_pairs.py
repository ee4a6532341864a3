"""Busy shares of a CPU and a disk whose bottleneck is known, by construction, to oscillate or not.

Samples of 0.1 s, normal noise of 0.08 on each, clipped to [0, 1]. `phases`: phases in turn, their lengths gamma distributed
with shape 4, on a grid of 10 ms, as share of the first kind in each sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pair = tuple[Array, Array]
GRID_S, SHAPE, NOISE = 0.01, 4.0, 0.08
RUN_IN = 10  # phases


@dataclass(frozen=True)
class Draw:
    """One pair to come: its generator, number of samples, interval, and mean length of a phase, s."""

    rng: np.random.Generator
    samples: int
    interval_s: float
    phase_s: float

    def phases(self) -> Array:
        """Begun long before the first sample, as what is met in a run."""
        steps, mean = round(self.samples * self.interval_s / GRID_S), self.phase_s / GRID_S
        count = int(2 * steps / mean) + 4 * RUN_IN
        lengths = np.maximum(1, np.round(self.rng.gamma(SHAPE, mean / SHAPE, count))).astype(int)
        first = (np.arange(count) + self.rng.integers(2)) % 2
        line = np.repeat(first, lengths)[round(RUN_IN * mean) :][:steps]
        return np.array([part.mean() for part in np.array_split(line.astype(float), self.samples)])

    def ar1(self, mean: float, sd: float, phi: float) -> Array:
        """Autoregressive of first order, stationary from the start, with standard deviation `sd`."""
        steps = self.rng.normal(0.0, sd * np.sqrt(1 - phi * phi), self.samples)
        out = np.empty(self.samples)
        value = self.rng.normal(0.0, sd)
        for k, step in enumerate(steps):
            value = phi * value + step
            out[k] = value
        return mean + out


def osc(draw: Draw) -> Pair:
    g = draw.phases()
    return g + 0.25 * (1 - g), (1 - g) + 0.15 * g


def osc_weak(draw: Draw) -> Pair:
    g = draw.phases()
    return g + 0.6 * (1 - g), (1 - g) + 0.5 * g


def slow(draw: Draw) -> Pair:
    g = draw.phases()
    return 0.25 + 0.75 * g, 1 - 0.85 * g


def indep(draw: Draw) -> Pair:
    return draw.ar1(0.6, 0.2, 0.7), draw.ar1(0.5, 0.2, 0.7)


def indep_onoff(draw: Draw) -> Pair:
    return 0.25 + 0.75 * draw.phases(), 0.15 + 0.85 * draw.phases()


def common(draw: Draw) -> Pair:
    load = draw.ar1(0.6, 0.2, 0.9)
    return load, 0.8 * load


def cpu_sat(draw: Draw) -> Pair:
    return np.full(draw.samples, 0.99), draw.ar1(0.4, 0.15, 0.5)


def disk_sat(draw: Draw) -> Pair:
    return draw.ar1(0.4, 0.15, 0.5), np.full(draw.samples, 0.99)


def anti_low(draw: Draw) -> Pair:
    g = draw.phases()
    return 0.1 + 0.35 * g, 0.5 - 0.35 * g


def trend(draw: Draw) -> Pair:
    t = np.linspace(0.0, 1.0, draw.samples)
    return 0.3 + 0.6 * t, 0.9 - 0.6 * t


def fast(draw: Draw) -> Pair:
    k = draw.rng.binomial(10, 0.5, draw.samples) / 10
    return 0.5 + 0.1 * (k - 0.5), 0.5 - 0.1 * (k - 0.5)


@dataclass(frozen=True)
class Case:
    """A kind of pair with its mean phase, what it truly is, and in what share of the draws that must be found."""

    make: Callable[[Draw], Pair]
    phase_s: float
    truth: str
    least: float

    @property
    def name(self) -> str:
        return self.make.__name__ + (f" {self.phase_s:g} s" if self.phase_s else "")


def _cases() -> tuple[Case, ...]:
    found = []
    for make in (osc, osc_weak):
        for phase_s in (0.2, 0.4, 1.0):
            border = make is osc_weak and phase_s == 0.4
            truth = "visible" if phase_s == 1.0 else "hidden"
            found.append(Case(make, phase_s, truth, 0.85 if border else 0.97))
    found.append(Case(slow, 10.0, "visible", 0.97))
    found += [Case(make, phase_s, "none", 0.99) for make in (indep_onoff, anti_low) for phase_s in (0.2, 0.4, 1.0)]
    return (*found, *(Case(make, 0.0, "none", 0.99) for make in (indep, common, cpu_sat, disk_sat, trend, fast)))


CASES = _cases()


def pair(case: Case, seed: int, length_s: float, interval_s: float = 0.1) -> Pair:
    """The busy shares of CPU and disk, each of shape (length_s / interval_s,). The same seed gives the same pair."""
    rng = np.random.default_rng([seed, round(1000 * length_s), round(1e6 * interval_s), CASES.index(case)])
    made = case.make(Draw(rng, round(length_s / interval_s), interval_s, case.phase_s))
    cpu, disk = (np.clip(one + rng.normal(0.0, NOISE, one.size), 0.0, 1.0) for one in made)
    return cpu, disk
