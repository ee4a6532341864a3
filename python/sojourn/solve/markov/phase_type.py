"""Distributions and arrival processes as phases: exact where they are phase-type, None where they are not.

Source: M. F. Neuts, Matrix-Geometric Solutions in Stochastic Models (1981), section 2.2 (PH); D. M. Lucantoni, Comm.
Statist. Stochastic Models 7(1), 1991, pp. 1-46 (MAP). A PH law is (start a, rates T); its end rates are -T·1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn.model.distribution_registry import MAP, Erlang, Exponential, Hyperexponential, PhaseType
from sojourn.model.network_arrays import Array

MOST_PHASES = 1000


class PhaseTypeService(NamedTuple):
    start: Array  # probabilities, sum 1
    rates: Array  # among the phases, 1/s; rows sum to at most 0

    @property
    def end(self) -> Array:
        """Rate at which each phase ends the whole time, 1/s."""
        return np.maximum(-self.rates.sum(axis=1), 0.0)


class MarkovianArrivals(NamedTuple):
    silent: Array  # D0, 1/s
    arriving: Array  # D1, 1/s


def phases(law: object) -> PhaseTypeService | None:
    """The phases of a law with a positive mean and no mass at 0; None for any other, and for one of more than MOST_PHASES."""
    if isinstance(law, Exponential) and law.mean > 0:
        return PhaseTypeService(np.ones(1), np.array([[-1 / law.mean]]))
    if isinstance(law, Erlang) and law.mean > 0 and law.shape <= MOST_PHASES:
        rate = law.shape / law.mean
        return PhaseTypeService(np.eye(law.shape)[0], rate * (np.eye(law.shape, k=1) - np.eye(law.shape)))
    if isinstance(law, Hyperexponential) and min(law.means) > 0:
        return PhaseTypeService(np.array(law.probabilities, float), np.diag(-1 / np.array(law.means, float)))
    if isinstance(law, PhaseType) and abs(sum(law.start) - 1) < 1e-12:
        return PhaseTypeService(np.array(law.start, float), np.array(law.rates, float))
    return None


def arrivals(process: object) -> MarkovianArrivals | None:
    """A MAP as it is; a phase-type law between arrivals as a renewal MAP; None for any other."""
    if isinstance(process, MAP):
        return MarkovianArrivals(np.array(process.D0, float), np.array(process.D1, float))
    law = phases(process)
    return None if law is None else MarkovianArrivals(law.rates, np.outer(law.end, law.start))
