"""The Markov chain of a network: its states as numbers present, its stationary law, passages and probabilities at a time.

Source: W. J. Stewart, Introduction to the Numerical Solution of Markov Chains (1994), chapters 1 and 8; the chain is that of
`solve.markov.ctmc`. A passage from *entering* A begins in state j of A with probability in proportion to the flow into it,
sum over i outside A of pi_i q_ij; from *within* A in proportion to pi_j. Transitions into the target from outside it end the
passage, so that one that begins in the target ends when it comes back.

Limits: `MOST_STATES`, because the numbers present are asked of the chain state by state.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from sojourn.errors import MethodRefused, SourceRefused
from sojourn.model import Network
from sojourn.query.sources.phase_law import PhaseLaw, essential
from sojourn.query.values import Array, Flags
from sojourn.solve.markov.chain_applicability import refuses
from sojourn.solve.markov.network_chain import CYCLES, TOLERANCE, network_chain
from sojourn.solve.markov.network_spec import UNLIMITED
from sojourn.solve.markov.open_truncation import wanted_bound
from sojourn.solve.markov.stability import unstable
from sojourn.solve.markov.state_count import states

MOST_STATES = 5000
PIECE, MOST_S, REST = 1e10, 60.0, 1e-15  # moves of probability at a time, some ten seconds
TAILS = (1e-18, 1e-14, 1e-11)  # probability beyond the bound on open customers: the first that leaves few states


@dataclass(eq=False)
class StateChain:
    """`present`, `busy` (S, K, C): customers, and servers that work; `law` (S,); `rates` (S, S) from row to column, 1/s;
    `most_open`: open customers at once."""

    present: Array
    busy: Array
    law: Array
    rates: sparse.csr_array
    most_open: int

    def begin(self, start: Flags, mode: str) -> Array:
        """The law over states in which a passage begins."""
        weights = np.where(start, self.law, 0.0)
        if mode == "entering":
            weights = np.where(start, np.where(start, 0.0, self.law) @ self.rates, 0.0)
        total = float(weights.sum())
        if not total > 0:
            said = "the start set is never entered" if start.any() else "no state is in the start set"
            raise SourceRefused(f"passage: {said}", "analytic source", "choose another start")
        return weights / total

    def passage(self, start: Flags, target: Flags, excluded: Flags | None, mode: str) -> PhaseLaw:
        """Raises SourceRefused where the start set is never entered, or nothing is in the target."""
        if not target.any():
            beyond = f" with up to {self.most_open} open customers" if 0 < self.most_open < UNLIMITED else ""
            raise SourceRefused(
                f"passage: no state{beyond} is in the target", "analytic source", "choose another target"
            )
        alive = np.ones(len(self.law), bool) if excluded is None else ~excluded
        arrow = self.rates.tocoo()
        ends = ~target[arrow.row] & target[arrow.col] & alive[arrow.col]
        goes_on = ~(~target[arrow.row] & target[arrow.col]) & alive[arrow.col]
        lost = ~alive[arrow.col]
        shape, count = self.rates.shape, len(self.law)
        among = sparse.csr_array((arrow.data[goes_on], (arrow.row[goes_on], arrow.col[goes_on])), shape=shape)
        exit_, lost_ = (np.bincount(arrow.row[which], arrow.data[which], count).astype(float) for which in (ends, lost))
        begin = self.begin(start, mode)
        never = float(begin[~alive].sum())
        return essential(PhaseLaw(np.where(alive, begin, 0.0), among, exit_, lost_, "the passage", never=never))

    def later(self, begin: Array, time_s: float) -> Array:
        """The law over states `time_s` after one, by uniformisation."""
        from sojourn._native import chain_transient

        if time_s <= 0:
            return begin
        rows = self.rates
        chain = (rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data)
        moves_per_s = float(self.rates.sum(axis=1).max()) * (rows.nnz + len(begin))
        law, left_s, ends = begin, float(time_s), time.monotonic() + MOST_S
        while left_s > 0:
            step_s = min(left_s, PIECE / moves_per_s)
            before, left_s = law, left_s - step_s
            law = np.asarray(chain_transient(*chain, law, np.array([step_s]), 1e-15)).reshape(-1)[-len(begin) :]
            if np.abs(law - before).max() <= REST:
                break  # once at rest, more time changes nothing
            if left_s > 0 and time.monotonic() > ends:
                said = f"{time_s:.4g} s are {moves_per_s * time_s:.2g} moves of its chain, which take longer than {MOST_S:g} s"
                raise SourceRefused(said, "analytic source", "ask for an earlier time, or for the steady state")
        return law


def state_chain(network: Network, most_open: int | None = None) -> StateChain:
    """With at most `most_open` open customers at once (None: as many as count). Raises MethodRefused where there is no such
    chain, or none that is small."""
    reason = refuses(network) or unstable(network)
    if not reason and network.limits:
        reason = "it has a pool or a region, and customers wait outside of it"
    if reason:
        raise MethodRefused(reason, "states", "simulate")
    most = _most(network) if most_open is None else most_open
    chain = network_chain(network, most, MOST_STATES)
    law = np.asarray(chain.steady(TOLERANCE, CYCLES)[0])
    start, from_, rate, _ = chain.generator()
    into = sparse.csr_array((rate, from_, start), shape=(len(law), len(law)))
    present, busy = _numbers(chain, len(law), network)
    return StateChain(present, busy, law, into.T.tocsr(), most)


def _most(network: Network) -> int:
    """Open customers at once."""
    if network.closed.all():
        count = states(network, UNLIMITED)
    else:
        for tail in TAILS:
            most = wanted_bound(network, tail)
            if (count := states(network, most)) <= MOST_STATES:
                return most
    if count > MOST_STATES:
        raise MethodRefused(
            f"it has about {count:.3g} states, more than the limit of {MOST_STATES}", "states", "simulate"
        )
    return UNLIMITED


def _numbers(chain: Any, count: int, network: Network) -> tuple[Array, Array]:
    """What the chain measures of each state alone."""
    shape = (-1, len(network.classes))
    present, busy = [], []
    one = np.zeros(count)
    for i in range(count):
        one[i] = 1.0
        measured = chain.measure(one)
        present.append(np.rint(np.reshape(measured["present"], shape)[: len(network.stations)]))
        busy.append(np.rint(np.reshape(measured["busy"], shape)[: len(network.stations)]))
        one[i] = 0.0
    return np.stack(present), np.stack(busy)
