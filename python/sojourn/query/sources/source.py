"""What evaluators ask of a source. What it cannot give it refuses by name: `SourceRefused`, whose remedy says what helps."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NoReturn

from sojourn.errors import SourceRefused
from sojourn.query.nodes import StateFunction
from sojourn.query.values import Array, Estimate, Events, Flags, Law


class Source:
    """A source refuses all; each kind gives what it can. Sets of states are flags over its states, in an order of its own."""

    name = "source"
    kind = "source"
    valid: bool | None = None  # what the judge of a run said; None: it is no run
    invalid_reasons: tuple[str, ...] = ()

    def refuse(self, what: str, remedy: str) -> NoReturn:
        """Raises SourceRefused."""
        raise SourceRefused(f"{what}: not known", f"{self.kind} source {self.name}", remedy)

    def with_states_of(self, stations: Collection[str]) -> Source:
        """The source for a query that asks for the states of these stations: one that counts them, where that is another."""
        return self

    def measure(self, metric: str, station: str, cls: str) -> Estimate:
        """A row of Metrics."""
        self.refuse(_of(metric, station, cls), "use a run folder or a model file that has it")

    def time(self, time: str, station: str, cls: str) -> Law:
        """The time of a request."""
        self.refuse(_of(time, station, cls), "give a model file, or a run folder with requests.parquet")

    def convolution(self, a: Law, b: Law) -> Law:
        """Of the sum of two times, supposed to be independent."""
        self.refuse("convolve", "give a model file of one M/M/m station, or a run folder")

    def states(self, function: StateFunction) -> Array:
        """The value of a function of the state in each state of the source."""
        self.refuse(
            "states", "give a run folder with requests.parquet, or a model that is small enough for a Markov chain"
        )

    def named(self, flags: Flags) -> str:
        """States as a person reads them."""
        self.refuse(
            "states", "give a run folder with requests.parquet, or a model that is small enough for a Markov chain"
        )

    def occupancy(self, observed: Flags) -> Estimate:
        """The share of time in a set of states."""
        self.refuse(
            "probability of states",
            "give a run folder with requests.parquet, or a model that is small enough for a Markov chain",
        )

    def state_probabilities(self, time_s: float | None, start: Flags | None) -> tuple[Array, Array, Array]:
        """Of each state: probability, its low and high bound; in the steady state, or at a time after a start."""
        self.refuse(
            "probabilities of states",
            "give a run folder with requests.parquet, or a model that is small enough for a Markov chain",
        )

    def at_time(self, observed: Flags, time_s: float, start: Flags) -> Estimate:
        """The probability of a set of states at a time after entering `start`."""
        self.refuse(
            "probability at a time",
            "give a run folder with requests.parquet, or a model that is small enough for a Markov chain",
        )

    def distribution(self, values: Array, over: Flags | None) -> Law:
        """The law of a function of the state (`values` in each state) over time, or over the time in a set of states."""
        self.refuse(
            "distribution of states",
            "give a run folder with requests.parquet, or a model that is small enough for a Markov chain",
        )

    def passage(self, start: Flags, target: Flags, excluded: Flags | None, mode: str) -> Law:
        """The law of the time from `start` to the next entry into `target`; infinite where `excluded` comes first."""
        self.refuse(
            "a passage between states",
            "give a run folder with requests.parquet, or a model that is small enough for a Markov chain",
        )

    def rate(self, events: Events) -> Estimate:
        """How often events happen, 1/s."""
        self.refuse(f"rate of {events}", "give a run folder, or a model file")

    def share(self, part: Events, whole: Events) -> Estimate:
        """How many of `whole` are of `part`."""
        self.refuse(f"share of {part}", "give a run folder, or a model file")

    def windows(self, length_s: float) -> Iterator[Source]:
        """This source, window by window."""
        self.refuse("windows of time", "give a run folder: a steady state has no windows")


def _of(what: str, station: str, cls: str) -> str:
    return what + "".join(f" of {kind} {name}" for kind, name in (("station", station), ("class", cls)) if name)
