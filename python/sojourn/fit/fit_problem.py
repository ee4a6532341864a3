"""A fit from inside: the numbers that runs measured, beside what a model with given values of its unknowns says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import FitError
from sojourn.fit import common_start, meter_errors, nonlinear_least_squares, run_mean_error, window_errors
from sojourn.fit.fit_runs import FitRuns
from sojourn.fit.model_error import ModelErrorPosterior
from sojourn.fit.model_evaluation import ModelEvaluator, slower_clocks
from sojourn.fit.realised_rate import RealisedRates
from sojourn.fit.run_clusters import RunClusters
from sojourn.fit.run_mean_error import ErrorGrowth
from sojourn.fit.run_measurements import OF_ALL_TIMES, SATURATION, check_observed, measurements
from sojourn.fit.slow_episodes import slow_logarithms
from sojourn.fit.starting_values import starts
from sojourn.fit.untold_unknowns import names_of, not_varied, refusal, told_ever
from sojourn.fit.what_would_tell import to_watch, unwatched
from sojourn.model import Model

Array = NDArray[np.float64]
SMOOTHINGS, ROUNDS, CLOSE = 2, 12, 0.02  # CLOSE: of what a common start is off by, a logarithm
BUSY = "busy "  # before the resources of a station, in a row of what was left out
ASIDE = 6.0  # standard errors from one minimum at which another is looked for
APART = 1.5  # standard error of a logarithm, from which on an unknown is not told: 95 % between a twentieth and twenty times


class FitProblem:
    """One fit from inside: the numbers that were measured, beside what a model with given values says."""

    def __init__(self, runs: FitRuns, model: Model, by_run: Sequence[Mapping[str, float]] = ()) -> None:
        """`by_run`: of each run, parameters that have a value of their own in it."""
        self.runs, self.model = runs, model
        names = runs.configurations
        self.each = [next(r for r in runs.runs if r.configuration == name) for name in names]
        points = [{**run.factors, **own} for run, own in zip(runs.runs, by_run or [{}] * len(runs.runs), strict=True)]
        at = [repr(sorted(point.items())) for point in points]
        self.points = [points[at.index(name)] for name in dict.fromkeys(at)]
        self.evaluator = ModelEvaluator(model, self.points)
        self.paths = self.evaluator.paths
        self.seen = [one for i, run in enumerate(runs.runs) for one in measurements(i, run, model)]
        check_observed(runs, model)
        if len(names) < len(self.paths):
            value = f"{len(names)} configurations for {len(self.paths)} unknowns"
            raise FitError(value, "runs", "measure at more levels, or give some of the unknowns")
        self.log, self.error, self.floor, self.beside = (
            np.array([getattr(s, name) for s in self.seen]) for name in ("log", "error", "floor", "beside")
        )
        self.rates = RealisedRates.of([runs.runs[s.run] for s in self.seen], [s.key[2] for s in self.seen], model)
        self.slow = slow_logarithms([(runs.runs[s.run].slowness, s.key[2]) for s in self.seen])
        self.together = np.zeros(len(self.seen))  # logarithms, by which runs that began together are off the long run
        self._weigh(self.error, np.ones(len(self.seen)))
        self.run = np.array([s.run for s in self.seen], np.intp)
        self.of = np.array([names.index(runs.runs[s.run].configuration) for s in self.seen], np.intp)
        self.at = np.array([list(dict.fromkeys(at)).index(at[s.run]) for s in self.seen], np.intp)
        self.starts = starts(self.evaluator, runs)
        self.longest = 1.0
        self.far = window_errors.apart([run.observed for run in runs.runs])  # of windows that were observed
        self.neighbours = 0.0  # correlation of the errors of those beside each other
        self.block = self.run  # runs of one block go together
        self.scale = nonlinear_least_squares.ParameterScale.of(list(self.evaluator.unknowns.values()), self.starts[0])

    def meters(self, jacobian: Array, count: int, rng: np.random.Generator) -> Array:
        """count x unknowns, by how much what is searched moves with what meters may be off in all runs alike."""
        stations = list(dict.fromkeys(s.key[0] for s in self.seen))
        meter = np.array([stations.index(s.key[0]) for s in self.seen], np.intp)
        off = meter_errors.drawn(meter, np.array([s.bound for s in self.seen]), count, rng)
        return np.asarray((off * self.weight) @ np.linalg.pinv(self.weight[:, None] * jacobian).T)

    def predicted(self, values: Array) -> Array:
        """B x n, logarithms of what each measured number would be."""
        answers = self.evaluator.at(values)
        size = len(self.points)
        told = {**answers.values, SATURATION: answers.saturation}
        tables = {key: np.reshape(v, (-1, size)) for key, v in told.items()}
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.stack([np.log(tables[s.key][:, c]) for s, c in zip(self.seen, self.at, strict=True)], axis=1)
        return np.nan_to_num(found, nan=50.0, posinf=50.0, neginf=-50.0)

    def _weigh(self, error: Array, growth: Array) -> None:
        """Weights and corrected logarithms, where the means of runs have such relative errors and grow so with all times of service."""
        self.stated, self.within = error, self.rates.left(error, growth)
        self.weight = 1 / np.hypot(self.within, self.floor)
        longer = self.together + growth * self.slow
        self.measured = self.log + run_mean_error.shift(error) + self.rates.shift(growth) - longer

    def best(self) -> tuple[Array, Array]:
        """What is searched, at its best, and the slopes there: first with the errors that runs state, then with smooth ones."""
        x = nonlinear_least_squares.fitted(self.predicted, self.measured, self.weight, self.scale, self.starts)
        metrics = [s.key[2] for s in self.seen]
        for number in range(ROUNDS):
            before, self.together = self.together, self._together(x)
            if number >= SMOOTHINGS and np.abs(self.together - before).max() < CLOSE:
                break
            growth = self.growth(x)
            sampling = np.sqrt(np.maximum(self.error**2 - self.beside**2, 0.0))
            smooth = run_mean_error.smoothed(sampling, _sensitivity(growth), metrics)
            self._weigh(np.hypot(smooth, self.beside), growth)  # what is known of one run alone is not smoothed away
            begun = self._around(x) if number == 0 and self.paths else self.scale.outward(x)[None]
            x = nonlinear_least_squares.fitted(self.predicted, self.measured, self.weight, self.scale, begun)
        x = self._as_windows_differ(x)
        return x, nonlinear_least_squares.slopes(self.predicted, self.scale, x)

    def _as_windows_differ(self, x: Array) -> Array:
        """Windows that were observed differ by more than each says of itself: errors as large as that, and the best with them."""
        if self.far is None:
            return x
        longer = window_errors.excesses(self._off(x), [s.key for s in self.seen], len(x))
        whole = longer / self.weight
        self.within = np.where(longer > 1, np.sqrt(np.maximum(whole**2 - self.floor**2, 0.0)), self.within)
        self.stated, self.weight = np.maximum(self.stated, self.within), 1 / whole
        begun = self.scale.outward(x)[None]
        x = nonlinear_least_squares.fitted(self.predicted, self.measured, self.weight, self.scale, begun)
        self.neighbours = window_errors.correlation(self._off(x), [s.key for s in self.seen], self.run, self.far)
        if self.neighbours:
            self.block = window_errors.blocks(self.far, self.neighbours, len(x))[self.run]
        return x

    def _off(self, x: Array) -> Array:
        """n, what each number is off by, over its error."""
        return np.asarray((self.measured - self.predicted(self.scale.outward(x)[None])[0]) * self.weight)

    def _around(self, x: Array) -> Array:
        """Values at `x` and on both sides where the runs say least: there may be another minimum, and a lower one."""
        weighted = self.weight[:, None] * nonlinear_least_squares.slopes(self.predicted, self.scale, x)
        _, sizes, directions = np.linalg.svd(weighted, full_matrices=False)
        step = directions[-1] * min(ASIDE / max(sizes[-1], 1e-9), 1.0)
        points = np.clip(np.stack([x, x + step, x - step]), self.scale.low + 1e-9, self.scale.high - 1e-9)
        return self.scale.outward(points)

    def _together(self, x: Array) -> Array:
        """n, by how much the logarithm is larger than in the long run where all customers of a run begin at once."""
        lengths_s, metrics = [self.runs.runs[s.run].length_s for s in self.seen], [s.key[2] for s in self.seen]
        found, self.longest = common_start.logarithms(
            self.evaluator, self.scale.outward(x), self.at, metrics, lengths_s
        )
        return found

    def told_ever(self) -> None:
        """Raises FitError for unknowns that these runs never tell apart, as the model stands where the search begins, which would only
        wander among them."""
        first = self.weight[:, None] * nonlinear_least_squares.slopes(
            self.predicted, self.scale, self.scale.begun(self.starts[0])
        )
        keys = [s.key for s in self.seen if s.key != SATURATION]
        told_ever(self.model, self.points, keys, self.paths, first, self.starts[0])

    def told_apart(self, x: Array, jacobian: Array) -> None:
        """Raises FitError for unknowns that the runs do not tell apart where the search ended."""
        weighted = self.weight[:, None] * jacobian
        _, sizes, directions = np.linalg.svd(weighted, full_matrices=False)
        residual = self.weight * (self.measured - self.predicted(self.scale.outward(x)[None])[0])
        spread = max(np.sqrt((residual**2).sum() / max(len(residual) - len(x), 1)), 1.0)
        for size, direction in zip(sizes, directions, strict=True):
            may_be_0 = all(self.scale.linear[i] for i in np.flatnonzero(np.abs(direction) > 0.3))
            if size * APART < spread and not may_be_0:  # an unknown that may be 0, and is near it, is told well enough
                more = not_varied(self.model, self.points)
                vary = f"vary {' or '.join(more)} too" if more else "measure nearer to saturation"
                names = names_of(self.paths, weighted, direction)
                raise refusal(names, [*to_watch(unwatched(self.model, [s.key for s in self.seen], names)), vary])

    def model_error(
        self, x: Array, jacobian: Array, sensitivity: Array, draws: Array
    ) -> tuple[ModelErrorPosterior | None, list[dict[str, object]]]:
        """Each configuration left out: the spread of one factor on all demands that explains the errors there, beyond what is uncertain
        within its runs and what the unknowns vary by from draw to draw (`draws` x unknowns, as `x`): a prediction draws these too.
        None where the others are fewer than the unknowns, so that none of them can be foretold. And a row a configuration."""
        names = np.arange(len(self.each))
        weights = np.where(self.of[None] == names[:, None], 0.0, self.weight[None])
        sets = np.broadcast_to(self.measured, weights.shape)
        values = self.scale.outward(
            nonlinear_least_squares.refitted(self.predicted, sets, weights, self.scale, x, jacobian)
        )
        guess = self.predicted(values)
        known = self.within**2 + np.var((draws - draws.mean(axis=0)) @ jacobian.T, axis=0)
        rows, squares, knowns = [], [], []
        for number, run in enumerate(self.each):
            row: dict[str, object] = dict(run.factors)
            for metric in ("response_time", "throughput", "busy", "parameter"):
                own = (self.of == number) & np.array([s.key[2] == metric for s in self.seen])
                if not own.any():
                    continue
                error = guess[number, own] - self.measured[own]
                row[metric] = float(np.expm1(error.mean()))
                if metric == "busy":
                    row |= {f"{BUSY}{r}": e for r, e in self._by_resource(np.flatnonzero(own), error).items()}
                if metric == "response_time":
                    squares.append(float(np.mean((error / sensitivity[own]) ** 2)))
                    knowns.append(float(np.mean(known[own] / sensitivity[own] ** 2)))
            rows.append(row)
        told = squares and len(self.each) > len(x)
        return ModelErrorPosterior.of(np.array(squares), np.array(knowns), len(x)) if told else None, rows

    def _by_resource(self, own: NDArray[np.intp], error: Array) -> dict[str, float]:
        """Resources of a station → relative error, of the measured numbers `own` whose logarithms are off by `error`."""
        each: dict[str, list[float]] = {}
        for i, e in zip(own, error, strict=True):
            names = self.runs.runs[self.seen[i].run].watched(self.model)[self.seen[i].key[0]]
            each.setdefault(", ".join(names), []).append(float(e))
        return {names: float(np.expm1(np.mean(errors))) for names, errors in each.items()}

    def sensitivity(self, x: Array) -> Array:
        """n, by how much the logarithm of each measured number changes with the logarithm of all times of service; 0.5 or more."""
        return _sensitivity(self.growth(x))

    def growth(self, x: Array) -> Array:
        """n, the same as `sensitivity` with its sign and of any size."""
        step = 1e-3
        plain = self.evaluator.networks_at(self.scale.outward(x)[None])
        longer = slower_clocks(plain, np.full(len(plain), 1 + step))
        one, other = (self.evaluator.solved(networks).values for networks in (plain, longer))
        with np.errstate(divide="ignore", invalid="ignore"):
            found = [
                OF_ALL_TIMES[s.key[2]]
                if s.key[2] in OF_ALL_TIMES
                else np.log(other[s.key][c] / one[s.key][c]) / step + (1.0 if s.key[2] == "response_time" else 0.0)
                for s, c in zip(self.seen, self.at, strict=True)
            ]
        return np.nan_to_num(np.array(found), nan=1.0, posinf=1.0, neginf=1.0)

    def noise(self, x: Array, sensitivity: Array) -> tuple[dict[str, float], dict[str, float], ErrorGrowth]:
        """Of a new run about the mean of its configuration: what is uncertain within runs, or what repetitions differ by. And the degrees
        of freedom of what repetitions told; what runs state of themselves is taken as known.

        Of response times by what their errors grow with the sensitivity, the last of the three.
        Of busy resources: the work of a Poisson number of exponential services has twice the relative variance of their number.
        """
        counts = [r.means.get(("", "throughput"), (0.0, 0.0))[1] for r in self.runs.runs]
        beside = self.log - self.predicted(self.scale.outward(x)[None])[0]
        within = {"busy": float(np.sqrt(2) * np.median(counts))}
        degrees = {}
        times = np.array([s.key[2] == "response_time" for s in self.seen])
        growth = ErrorGrowth.of(self.stated[times], sensitivity[times]) if times.any() else ErrorGrowth()
        scales = {"response_time": growth.by(sensitivity)}
        for metric in ("response_time", "throughput"):
            own = np.array([s.key[2] == metric for s in self.seen])
            by = scales.get(metric, np.ones_like(sensitivity))
            within[metric] = float(np.median((self.stated / by)[own])) if own.any() else 0.0
        if self.far is not None:  # in windows nobody chose how many requests of each class there are
            own_errors = self.stated / scales["response_time"]
            within |= window_errors.by_class(own_errors, [s.key for s in self.seen])
        for metric in within:
            repeated, free = self._repeated(metric, beside / scales.get(metric, np.ones_like(sensitivity)))
            if repeated > within[metric]:
                within[metric], degrees[metric] = repeated, float(free)
        return within, degrees, growth

    def _repeated(self, metric: str, logs: Array) -> tuple[float, int]:
        """Standard deviation of `logs` between repetitions of one configuration, and its degrees of freedom; 0 without any."""
        groups: dict[tuple[int, str], list[float]] = {}
        for i, s in enumerate(self.seen):
            if s.key[1:] == ("", metric):
                groups.setdefault((self.of[i], s.key[0]), []).append(float(logs[i]))
        degrees = sum(len(own) - 1 for own in groups.values())
        squares = sum(float(np.var(own) * len(own)) for own in groups.values())
        return float(np.sqrt(squares / degrees)) if degrees else 0.0, degrees

    def notes(self, x: Array, clusters: RunClusters) -> list[str]:
        """What the reader of the values has to know."""
        found = [*self.runs.notes(), *common_start.notes(self.longest)]
        if not all(map(self.evaluator.method.exact_for, self.evaluator.networks)):
            name = self.evaluator.method.name
            found.append(f"{name} is an approximation: its error is in the values, but not in their intervals")
        own = np.array([s.key[2] == "response_time" for s in self.seen])
        if own.any():
            beside = self.measured - self.predicted(self.scale.outward(x)[None])[0]
            left, repeated = float(clusters.left[own].sum()), self._repeated("response_time", beside)
            found += run_mean_error.misfit(beside[own], self.within[own], 1 / self.weight[own], left, repeated)
            if self.far is not None:
                found += window_errors.notes(self.error[own], self.within[own], self.neighbours)
        if clusters.taken.all():
            found.append(
                "there are no more runs than unknowns: intervals include the sampling error within runs, but not the "
                "variation between runs; repeat runs"
            )
        elif len(self.each) == len(self.runs.runs):
            found.append(
                "no configuration was repeated: the variation between runs is estimated from the model's residuals"
            )
        return found


def _sensitivity(growth: Array) -> Array:
    return np.asarray(np.maximum(np.abs(growth), 0.5))
