"""Trees of queries drawn at random, of every kind of node: for tests of what a tree can be written as."""

from __future__ import annotations

import random
from collections.abc import Callable

from sojourn.query import nodes as N  # noqa: N812
from sojourn.query.nodes import Node

CLASSES = ("", "", "user", "batch 1", "not")
STATIONS = ("", "cpu", "core 0", "it's", "in")
UNITS = {0: ("", "", "%"), 1: ("ns", "us", "ms", "s", "min", "h"), -1: ("/s", "/min", "/h")}


class Trees:
    """Draws trees whose types and units fit; deeper ones are rarer."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def one(self, *makers: Callable[[], Node]) -> Node:
        return self.random.choice(makers)()

    def result(self) -> N.Result:
        count = self.random.choice((1, 1, 1, 2, 3))
        macros = ()
        if self.random.random() < 0.2:
            body = N.ArithOp("*", N.Argument("x"), self.number(0, 2))
            macros = (N.Definition("part", ("x",), body), N.Definition("limit", (), self.number(1, 0)))
        items = [self.item(4) for _ in range(count)]
        if macros:
            items.append(N.ArithComp("<", N.Macro("part", (self.number(1, 2),)), N.Macro("limit")))
        return N.Result(items[0] if len(items) == 1 else N.Sequential(tuple(items)), macros)

    def item(self, depth: int) -> Node:
        return self.one(lambda: self.truth(depth), lambda: self.truth(depth), lambda: self.number(0, depth), lambda: self.law(1, depth),
                        lambda: self.states(depth), lambda: N.Distribution(self.density(1, depth)))  # fmt: skip

    def literal(self, dimension: int) -> N.Num:
        value = self.random.choice((0.5, 1.0, 50.0, 99.9, 0.001, 1e-9, 3e20, 123456.789, -7.0))
        return N.Num(value, self.random.choice(UNITS[dimension]))

    def number(self, dimension: int, depth: int) -> Node:
        r = self.random
        if depth <= 0 or r.random() < 0.25:
            return self.literal(dimension)
        makers: list[Callable[[], Node]] = [
            lambda: N.ArithOp(r.choice("+-"), self.number(dimension, depth - 1), self.number(dimension, depth - 1)),
            lambda: N.ArithOp("*", self.number(0, depth - 1), self.number(dimension, depth - 1)),
            lambda: N.ArithOp("/", self.number(dimension, depth - 1), self.number(0, depth - 1)),
        ]
        if dimension == 1:
            makers += [lambda: N.Percentile(N.Num(r.choice((0.5, 0.99, 0.999, 0.123456))), self.law(1, depth - 1)),
                       lambda: N.Moment(N.Num(1.0), self.law(1, depth - 1)), lambda: N.Deviation(self.law(1, depth - 1))]  # fmt: skip
        elif dimension == -1:
            makers += [
                lambda: N.FiringRate(self.events()),
                lambda: N.Measure("throughput", r.choice(STATIONS), r.choice(CLASSES)),
            ]
        else:
            makers += [
                lambda: N.ArithOp("^", self.number(0, depth - 1), self.number(0, depth - 1)),
                lambda: N.ProbInInterval(self.law(1, depth - 1), self.range(1, depth - 1)),
                lambda: N.ProbInStates(self.states(depth - 1)),
                lambda: N.ProbInStates(self.states(depth - 1), self.number(1, 1), self.states(depth - 1)),
                lambda: N.Measure("utilisation", r.choice(STATIONS), r.choice(CLASSES)),
                lambda: N.Moment(N.Num(float(r.randint(1, 4))), self.law(0, depth - 1)),
                lambda: N.Share(self.events(), self.events()),
            ]
        return self.one(*makers)

    def truth(self, depth: int) -> Node:
        r = self.random
        if depth <= 0:
            return N.Bool(r.random() < 0.5)
        dimension = r.choice((0, 1, -1))
        comparison = lambda: N.ArithComp(  # noqa: E731
            r.choice(("<", "<=", ">", ">=", "==", "!=")), self.number(dimension, depth - 1), self.number(dimension, depth - 1))  # fmt: skip
        return self.one(
            comparison, comparison,
            lambda: N.Discon(r.choice(("and", "or")), self.truth(depth - 1), self.truth(depth - 1)),
            lambda: N.Negation(self.truth(depth - 1)),
            lambda: N.InInterval(self.number(dimension, depth - 1), self.range(dimension, depth - 1)),
            lambda: N.Subset(self.states(depth - 1), self.states(depth - 1)),
            lambda: N.Subset(self.events(), self.events()),
            lambda: N.Slices(self.truth(depth - 1), N.Num(99.5, "%"), N.Num(10.0, "s")),
        )  # fmt: skip

    def events(self) -> Node:
        return N.Actions(self.random.choice(("arrivals", "answered", "failed")), self.random.choice(CLASSES))

    def range(self, dimension: int, depth: int) -> Node:
        ends: tuple[Node, Node] = N.Num(0.25, UNITS[dimension][0]), N.Num(0.75, UNITS[dimension][0])
        closed = (self.random.random() < 0.5, self.random.random() < 0.5)
        if depth > 1 and self.random.random() < 0.3:
            ends = ends[0], N.ArithOp("+", ends[1], self.number(dimension, 1))
        return N.Range(*ends, closed)

    def function(self, depth: int) -> Node:
        r = self.random
        if depth > 0 and r.random() < 0.3:
            return N.ArithOp(
                r.choice("+-*/"), self.function(depth - 1), N.Num(2.0) if r.random() < 0.5 else self.function(depth - 1)
            )
        if r.random() < 0.2:
            return N.StateFunction("busy", r.choice(STATIONS[1:]))
        station = r.choice(STATIONS)
        return N.StateFunction("n", station, r.choice(CLASSES) if station else "")

    def predicate(self, depth: int) -> Node:
        r = self.random
        if depth <= 0 or r.random() < 0.5:
            relation = r.choice(("<", "<=", ">", ">=", "==", "!="))
            return N.ArithComp(relation, self.function(1), N.Num(float(r.randint(0, 9))))
        return self.one(
            lambda: N.Discon(r.choice(("and", "or")), self.predicate(depth - 1), self.predicate(depth - 1)),
            lambda: N.Negation(self.predicate(depth - 1)),
            lambda: N.InInterval(self.function(1), N.Range(N.Num(1.0), N.Num(4.0), (True, False))),
            lambda: N.Bool(True),
        )

    def states(self, depth: int) -> Node:
        if depth > 1 and self.random.random() < 0.2:
            within = N.Range(N.Num(10.0, "%"), N.Num(1.0))
            return self.one(
                lambda: N.SteadyStateStates(within),
                lambda: N.StatesAtTime(within, self.number(1, 1), self.states(0)),
            )
        return N.States(self.predicate(depth - 1))

    def density(self, dimension: int, depth: int) -> Node:
        r = self.random
        if depth > 0 and r.random() < 0.3:
            return N.Convolution(self.density(dimension, depth - 1), self.density(dimension, depth - 1))
        if r.random() < 0.4:
            excluded = self.states(depth - 1) if r.random() < 0.5 else None
            return N.PassageTimeDensity(
                self.states(depth - 1), self.states(depth - 1), excluded, r.choice(("entering", "within"))
            )
        time = r.choice(("response_time", "waiting_time", "service_time"))
        return N.RequestTime(time, r.choice(STATIONS), r.choice(CLASSES))

    def law(self, dimension: int, depth: int) -> Node:
        if dimension == 0:
            return N.SteadyStateProb(
                self.function(depth), self.states(depth - 1) if self.random.random() < 0.5 else None
            )
        made = self.density(dimension, depth)
        return N.Distribution(made) if self.random.random() < 0.2 else made
