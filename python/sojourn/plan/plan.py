"""`plan`: every configuration on the model, the objective as a constraint, cost as an expression; what to choose, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import InputError
from sojourn.former_keyword import former_keyword
from sojourn.parallel import On, open_workers
from sojourn.plan.choices import cheapest, front, least, regrets, shortlist
from sojourn.plan.cost import Cost
from sojourn.plan.load import Load
from sojourn.plan.objective import Objective, Quantity
from sojourn.plan.plan_result import CheapestAtLoad, Plan, PlannedConfiguration, Step, TermValue
from sojourn.plan.predictor import Predictor, predictor_of
from sojourn.plan.staffing import SquareRootCheck
from sojourn.units import USUAL_LEVEL, percent

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
MOST = 100_000  # configurations
DRAWS = 200
LEAST_LISTED = 20  # configurations that are asked for each draw
LONG_RUN = "they are of the mean over a long time, those of predict of a new run, which varies more"
DEFAULT_PRICE = 5.0  # of a missed objective, over the cost of the cheapest choice


@former_keyword(on="parallel", price="miss_price")
def plan(
    model: Any,
    vary: Mapping[str, Iterable[Any]],
    objective: str,
    cost: str = "",
    *,
    load: float | str | Path | None = None,
    draws: Any = None,
    miss_price: float | None = None,
    level: float = USUAL_LEVEL,
    parallel: On = None,
) -> Plan:
    """The cheapest of all combinations of `vary` that meets `objective` at every load, the Pareto front, and the least regret.

    `model`: a Model, FittedModel, or the path of a file of one; `draws`: the fit that stands for it, where it is given apart.
    `vary`: factor or path of the model → values; nothing: the model unchanged. `objective`: in the query language. `cost`: arithmetic of
    what is varied; without one every configuration is told, in the order given, and the first that meets the objective is named.
    `load`: 1/s or users; a number, `200..900`, `600+5%*12`, or a .csv; None: what the model has. `miss_price`: of a missed objective, in
    the unit of the cost (None: five times the cheapest choice). `level` of the intervals, in (0, 1). On the workers `parallel`
    (`sojourn.parallel`) configurations are solved in blocks. Raises InputError, ModelError,
    QueryError, FitError, MethodRefused.
    """
    if not 0 < level < 1:
        raise InputError(level, "level", "give a number between 0 and 1, like 0.9")
    if miss_price is not None and not miss_price > 0:
        raise InputError(miss_price, "miss_price", "give a cost above 0")
    lists = {name: list(dict.fromkeys(values)) for name, values in vary.items()}
    if empty := [name for name, values in lists.items() if not values]:
        raise InputError(f"no value of {empty[0]}", "vary", "give at least one")
    if miss_price is not None and not cost:
        raise InputError(miss_price, "miss_price", "it needs a cost: the price has the same unit")
    wanted = Objective.read(objective)
    asked = predictor_of(model if draws is None else draws, lists)
    priced = Cost.read(cost, lists) if cost else None
    with nullcontext() if parallel is None else open_workers(parallel) as asked.workers:
        return _Planning(
            asked, lists, wanted, priced, None if load is None else Load.read(load), miss_price, level
        ).plan()


@dataclass(frozen=True)
class _Drawn:
    """Of listed configurations (indices into all): whether each draw meets the objective, and the intervals of terms."""

    listed: NDArray[np.int64]
    met: Flags  # draws x listed
    terms: tuple[tuple[Array, Array], ...]  # by term: low, high of the listed
    regret: Array  # draws x listed


def _is_load(path: str) -> bool:
    return path.startswith("classes.") and path.endswith((".rate_per_s", ".population"))


class _Planning:
    """One plan; the steps of `plan` share its configurations, costs and judgements."""

    def __init__(
        self, asked: Predictor, lists: Mapping[str, list[Any]], objective: Objective, cost: Cost | None, load: Load | None,
        price: float | None, level: float,
    ) -> None:  # fmt: skip
        self.asked, self.lists, self.objective, self.level, self.given_price = asked, lists, objective, level, price
        varied = [name for name in lists if name == asked.load_name or _is_load(name)]
        if varied and load is not None:
            raise InputError(f"{varied[0]} is varied, but a load is also given", "--load", "leave one of them out")
        self.load = load.whole if load is not None and asked.load_name == "users" else load
        count = math.prod(len(values) for values in lists.values())
        if count > MOST:
            raise InputError(f"{count} configurations", "--vary", f"ask for at most {MOST}")
        every = [dict(zip(lists, values, strict=True)) for values in product(*lists.values())]
        told = [asked.impossible(one) for one in every]
        self.all = [one for one, why in zip(every, told, strict=True) if why is None]
        self.left_out = [(one, why) for one, why in zip(every, told, strict=True) if why is not None]
        if not self.all:
            raise self.left_out[0][1]
        self.priced = cost is not None
        columns = {name: np.array([one[name] for one in self.all]) for name in lists}
        self.cost = np.arange(float(len(self.all))) if cost is None else cost.of(columns)  # without: the order given
        self.levels = np.array([]) if self.load is None else self.load.levels
        found = {q: v[0] for q, v in asked.values(self.all, self.levels, objective.quantities).items()}
        self._judge(found)
        drawn = self._values_of_draws() if asked.draws else None
        if drawn is not None and asked.averages:  # a value is then the median of the mixture, as in predictions
            for q, values in drawn[1].items():
                middle = np.quantile(np.where(np.isnan(values), np.inf, values), 0.5, axis=0, method="inverted_cdf")
                found[q][drawn[0]] = np.where(np.isfinite(middle), middle, np.nan)
            self._judge(found)
        current = None if varied else asked.current_load()
        ends = [current] if load is None else [float(self.levels[0]), float(self.levels[-1])]
        within = [[asked.inside(one, at) for at in ends] for one in self.all]
        self.known = within[0][0] is not None
        self.inside = np.array([all(one) for one in within]) if self.known else np.ones(len(self.all), bool)
        base = cheapest(self.cost, self.met, -self.violation)
        usual = abs(float(self.cost[base if base is not None else int(np.argmax(self.cost))]))
        self.price = price or DEFAULT_PRICE * (usual or 1.0)
        self.drawn = None if drawn is None else self._drawn(*drawn)

    def _judge(self, found: Mapping[Quantity, Array]) -> None:
        """`found`: C x L."""
        self.judged = self.objective.judge(found)
        self.worst = np.argmax(self.judged.violation, axis=1)
        self.violation = self.judged.violation.max(axis=1)
        self.met = np.asarray(self.judged.met.all(axis=1))

    def _values_of_draws(self) -> tuple[NDArray[np.int64], dict[Quantity, Array]]:
        """The listed configurations, and each quantity, draws x listed x levels."""
        draws = min(DRAWS, self.asked.draws)
        most = max(LEAST_LISTED, self.asked.affordable(self.objective.quantities) // (draws * max(1, len(self.levels))))
        listed = np.arange(len(self.all)) if len(self.all) <= most else shortlist(self.cost, self.violation, most)
        return listed, self.asked.values([self.all[i] for i in listed], self.levels, self.objective.quantities, draws)

    def _drawn(self, listed: NDArray[np.int64], found: Mapping[Quantity, Array]) -> _Drawn:
        judged = self.objective.judge(found)  # D x C x L
        at = self.worst[listed][None, :, None]
        tail = [(1 - self.level) / 2, (1 + self.level) / 2]
        ends = []
        for term in judged.terms:
            values = np.take_along_axis(term.value, np.broadcast_to(at, (*term.value.shape[:2], 1)), 2)[..., 0]
            low, high = np.quantile(np.where(np.isnan(values), np.inf, values), tail, axis=0, method="nearest")
            ends.append((low, high))
        met = np.asarray(judged.met.all(axis=2))
        return _Drawn(listed, met, tuple(ends), regrets(self.cost[listed], met, self.price))

    def plan(self) -> Plan:
        first = cheapest(self.cost, self.met & self.inside, -self.violation)
        outside = cheapest(self.cost, self.met & ~self.inside, -self.violation)
        if first is not None and outside is not None and self.cost[outside] >= self.cost[first]:
            outside = None
        nearest = self._nearest() if first is None and outside is None else None
        mean, most = self._least_regret()
        chosen = next(i for i in (None if first is None else mean, first, outside, nearest) if i is not None)
        return Plan(
            self.objective.text, None if self.load is None else self.load.text, self.asked.load_name, len(self.all),
            self._choice(first), self._choice(outside), self._choice(nearest), self._choice(mean), self._choice(most),
            tuple(self._choice(i) for i in self._front()), self._steps(chosen), self._binds(chosen), self._by_level(),
            self.price if self.drawn and self.priced else None, 0 if self.drawn is None else len(self.drawn.met), self.level,
            tuple(self._notes(chosen)), self.priced, tuple(self.asked.cautions),
        )  # fmt: skip

    def _nearest(self) -> int:
        """The least violation, of equal ones the cheapest; where none carries the load, the dearest."""
        cost = np.where(np.isfinite(self.violation), self.cost, -self.cost)
        return int(np.lexsort((cost, self.violation))[0])

    def _least_regret(self) -> tuple[int | None, int | None]:
        """Of the mean and of the maximum, inside the validated range, of those that meet the objective in some draw."""
        if self.drawn is None or not self.priced:
            return None, None
        listed, regret = self.drawn.listed, self.drawn.regret
        among = self.inside[listed] & self.drawn.met.any(axis=0)
        found = (least(r, self.cost[listed], among) for r in (regret.mean(axis=0), regret.max(axis=0)))
        mean, most = (None if i is None else int(listed[i]) for i in found)
        return mean, most

    def _front(self) -> list[int]:
        if not self.priced:
            return list(range(len(self.all)))
        listed = np.arange(len(self.all)) if self.drawn is None else self.drawn.listed
        robust = np.maximum(-self.violation[listed], 0.0) if self.drawn is None else self.drawn.met.mean(axis=0)
        found = front(self.cost[listed], np.maximum(self.violation[listed], 0.0), robust)
        return [int(listed[i]) for i in found if np.isfinite(self.violation[listed[i]])]

    def _choice(self, i: int | None) -> Any:
        if i is None:
            return None
        at = int(self.worst[i])
        place = None if self.drawn is None else np.flatnonzero(self.drawn.listed == i)
        k = int(place[0]) if place is not None and len(place) else None
        terms = []
        for j, term in enumerate(self.judged.terms):
            low, high = (None, None) if k is None or self.drawn is None else (float(e[k]) for e in self.drawn.terms[j])
            terms.append(TermValue(term.text, term.shown, term.dimension, float(term.value[i, at]), low, high))
        chance = mean = most = None
        if k is not None and self.drawn is not None:
            chance = float(self.drawn.met[:, k].mean())
        if k is not None and self.drawn is not None and self.priced:
            mean, most = float(self.drawn.regret[:, k].mean()), float(self.drawn.regret[:, k].max())
        share = None
        if self.load is not None and self.load.kind == "trace":
            share = float(self.load.share[self.judged.met[i]].sum())
        return PlannedConfiguration(
            self.all[i], float(self.cost[i]) if self.priced else None, bool(self.met[i]), float(self.violation[i]), tuple(terms),
            chance, mean, most, bool(self.inside[i]) if self.known else None, share,
        )  # fmt: skip

    def _steps(self, chosen: int) -> tuple[Step, ...]:
        """One level up and down of each factor, the others as they are."""
        where = {tuple(one.values()): i for i, one in enumerate(self.all)}
        found = []
        for name, values in self.lists.items():
            at = values.index(self.all[chosen][name])
            for by in (1, -1):
                if 0 <= at + by < len(values):
                    i = where.get(tuple({**self.all[chosen], name: values[at + by]}.values()))
                    if i is not None:
                        found.append(Step(name, values[at], values[at + by], self._choice(i)))
        return tuple(found)

    def _binds(self, chosen: int) -> str:
        """The comparison that is nearest to its limit, at which load, and the busiest station there."""
        at = int(self.worst[chosen])
        term = max(self.judged.terms, key=lambda t: t.violation[chosen, at])
        load = f" at {self.asked.load_name} = {self.levels[at]:g}" if len(self.levels) else ""
        busy = self.asked.busiest(self.all[chosen], float(self.levels[at]) if len(self.levels) else None)
        station = f"; the busiest station is {busy[0][0]}, {100 * busy[0][1]:.0f} % busy" if busy else ""
        return f"{term.text}{load}{station}"

    def _by_level(self) -> tuple[CheapestAtLoad, ...]:
        """The cheapest at each load by itself, inside the validated range first."""
        if len(self.levels) < 2:
            return ()
        found = []
        for k, level in enumerate(self.levels):
            met, room = np.asarray(self.judged.met[:, k]), -self.judged.violation[:, k]
            i = cheapest(self.cost, met & self.inside, room)
            i = cheapest(self.cost, met, room) if i is None else i
            found.append(
                CheapestAtLoad(
                    float(level),
                    None if i is None else self.all[i],
                    None if i is None or not self.priced else float(self.cost[i]),
                )
            )
        return tuple(found)

    def _notes(self, chosen: int) -> Iterable[str]:
        yield from self.asked.notes
        if self.left_out:
            first, why = self.left_out[0]
            settings = ", ".join(f"{name}={value}" for name, value in first.items())
            count = len(self.left_out) + len(self.all)
            yield f"{len(self.left_out)} of {count} configurations are impossible and were left out; the first {settings}: {why}"
        if not self.known:
            yield "nothing was measured: there is no validated range, and the error of the model is unknown"
        if self.drawn is None:
            yield "no draws: a model file has one value for each parameter; fit the model to get probabilities and regret"
        else:
            price = "--miss-price" if self.given_price else "five times the cheapest choice; --miss-price changes it"
            yield (
                f"{len(self.drawn.met)} draws of the fitted parameters and of the model's own "
                f"error; intervals at {percent(self.level, 0)}; {LONG_RUN}"
            )
            if self.met.any() and self.priced:
                yield f"in regret a missed objective counts {self.price:.4g} ({price})"
            if len(self.drawn.listed) < len(self.all):
                of = "are cheapest for their performance" if self.priced else "come first by performance"
                yield f"probabilities and regret are computed for the {len(self.drawn.listed)} configurations that {of}"
        if self.load is None and (at := self.asked.current_load()) is not None:
            yield f"the load is that of the model, {self.asked.load_name} = {at:g}; --load sets another"
        if self.load is not None and self.load.kind == "range":
            yield f"the objective was checked at {len(self.levels)} loads from {self.levels[0]:g} to {self.levels[-1]:g}"
        if self.met[chosen]:
            yield from map(str, self._square_root(chosen))

    def _square_root(self, chosen: int) -> list[SquareRootCheck]:
        most = float(self.levels[-1]) if len(self.levels) else None
        busy = self.asked.busiest(self.all[chosen], most)
        return [SquareRootCheck.of(s, share * m, m) for s, share, m in busy[:1] if 0 < share < 1 and m > 1]
