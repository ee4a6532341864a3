"""Approximation of closed networks that have no product form: order of arrival with means that differ between classes,
or with service that is not exponential.

Source: M. Reiser: A Queueing Network Analysis of Computer Communication Networks with Window Flow Control. IEEE Trans.
Commun. COM-27(8), 1979, pp. 1199-1209 (general service: who is in service has a residual time left); Lazowska et al.
(1984), 11.4, pp. 256-259 (means that differ by class); Bolch et al., Queueing Networks and Markov Chains, 2nd ed.
(2006), 10.1.4. Numbers found by Schweitzer's estimate.

    source       here                                                  unit
    s_ik         service_s, of one visit                               s
    c2_ik        scv                                                   1

A customer of class r that comes to an fcfs station waits for all that are there:
    W_r = sum_c [(Q_c - rho_c) s_c + rho_c s_c (1 + c2_c)/2],  R_r = s_r + W_r,
with Q_c and rho_c less an N_r-th of its own chain; at ps and lcfs_pr R_r = s_r (1 + sum Q_c). Several servers: waiting
behind m is divided by m, and of the own service an m-th is at the server (Seidmann). Exact for one customer, and equal
to Schweitzer-Bard where the network has a product form. Against simulations (`benches/approximations`): response times off by 11 %
(median), by more than 100 % with few customers of large c2. Better numbers (Linearizer, or all populations) change little:
what arrivals find is not what the theorem says. `random-order` is better where its chain is small enough.
Where a station would be more than busy, throughput is what it can do (`_within`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.model.network_arrays import Array, Network
from sojourn.solve.closed import approximate_mva, chain_arrays
from sojourn.solve.closed.closed_refusals import roughly_fcfs
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.product_form import SHARED
from sojourn.solve.solution import Solution


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    c = chain_arrays.of(networks)
    n = networks[0]
    ordered = np.array([k == "queue" and d not in SHARED for k, d in zip(n.kind, n.discipline, strict=True)])
    times = _FcfsArrays(c, networks, ordered)
    state, settled = approximate_mva.iterate(times.step, times.start())
    residence, x = _within(c, *times.residence(state))
    solved = chain_arrays.solution(c, x, np.zeros_like(c.demands_s))
    queue = (x @ c.member.T)[:, None, :] * residence
    solved.queue_length = np.where(c.delay[:, None], solved.queue_length, queue)
    solved.status = np.where(settled, "approximate", "not_converged").tolist()
    return solved


def _within(c: chain_arrays.ChainArrays, residence: Array, x: Array) -> tuple[Array, Array]:
    """No station works more than it can: chains are slowed to what the busiest lets pass, and wait there."""
    busy = (x[:, None, :] * c.demands_s).sum(axis=2) / np.where(c.delay, np.inf, c.servers)
    for p in np.flatnonzero(busy.max(axis=1) > 1):
        for k in np.argsort(-busy[p])[: int((busy[p] > 1).sum())]:
            over = (x[p] * c.demands_s[p, k]).sum() / c.servers[p, k]
            slowed = (c.demands_s[p, k] > 0) & (over > 1)
            longer = np.where(slowed, c.population[p] / np.where(x[p] > 0, x[p], 1.0) * (over - 1), 0.0)
            x[p] = np.where(slowed, x[p] / over, x[p])
            residence[p, k] += chain_arrays.by_classes(c, np.broadcast_to(longer, c.demands_s.shape))[p, k]
    return residence, x


class _FcfsArrays:
    """Arrays of one call: P points, K stations, C classes, R chains."""

    def __init__(self, c: chain_arrays.ChainArrays, networks: Sequence[Network], ordered: Array) -> None:
        self.c, self.ordered = c, ordered[:, None]
        self.visits = np.array([x.visits for x in networks])
        self.service = np.array([x.service_s for x in networks])
        scv = np.array([x.scv for x in networks])
        self.later = np.where(self.ordered, (scv - 1) / 2 * self.service, 0.0)  # rho_c times this, beyond Q_c s_c
        self.servers = np.where(c.delay, 1.0, c.servers)[:, :, None]
        population = c.population.astype(float)
        self.population = population
        self.of_class = population @ c.member.T
        self.share = np.where(self.of_class > 0, 1 / np.maximum(self.of_class, 1), 0.0)
        self.same = c.member @ c.member.T

    def start(self) -> Array:
        """The state: mean numbers P x K x C, and below them the throughput of each class's chain."""
        total = self.c.demands_s.sum(axis=1) + self.c.think_s
        rate = (self.population / np.where(total > 0, total, 1.0)) @ self.c.member.T
        return np.concatenate([self.c.by_class * rate[:, None, :], rate[:, None, :]], axis=1)

    def step(self, state: Array) -> Array:
        residence, x = self.residence(state)
        rate = (x @ self.c.member.T)[:, None, :]
        return np.concatenate([rate * residence, rate], axis=1)

    def residence(self, state: Array) -> tuple[Array, Array]:
        """Residence times P x K x C a pass of the chain, and throughput P x R."""
        queue, rate = state[:, :-1], state[:, -1:]
        busy = np.minimum(rate * self.c.by_class / self.servers, 1.0)
        # of those present, who are in the part of service that counts as a delay
        beside = np.minimum(busy * (self.servers - 1), queue)
        found, working = self._less(queue - beside), self._less(busy)
        # P x K x r (who comes) x c (who is there)
        work = np.where(self.ordered[..., None], self.service[:, :, None, :], self.service[:, :, :, None])
        wait = (found * work + working * self.later[:, :, None, :]).sum(axis=3) / self.servers
        residence = self.visits * (self.service + np.where(self.c.delay[:, None], 0.0, np.maximum(wait, 0.0)))
        return residence, approximate_mva.throughput(residence @ self.c.member, self.c.think_s, self.population)

    def _less(self, numbers: Array) -> Array:
        """What a customer of class r finds of class c: less an N-th of its own chain."""
        own = self.same[None, None] * self.share[:, None, None, :]
        return np.asarray(numbers[:, :, None, :] * (1 - own))


METHOD = Method(
    name="amva-fcfs",
    title="approximate mean value analysis, order of arrival with general service",
    exact=False,
    sources=(
        "M. Reiser: A Queueing Network Analysis of Computer Communication Networks with Window Flow Control. "
        "IEEE Trans. Commun. COM-27(8), 1979, pp. 1199-1209",
        "E. D. Lazowska, J. Zahorjan, G. S. Graham, K. C. Sevcik: Quantitative System Performance (1984), pp. 256-259",
    ),
    refuses=roughly_fcfs,
    run=run,
    rank=40,
    known_errors=(0.11, 1.45),
)
