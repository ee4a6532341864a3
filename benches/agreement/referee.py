"""Judges what `solve(model, "auto")` says of one model: against other methods, the simulator, and laws.

What is a finding: a number outside what its status promises; a law broken; a load at or above 1 that is not called
unstable, or the other way; an exception that is no refusal with value, place and remedy; a warning; an answer of one
method that `bound.verify` caught; a model that does not come back from its file.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import sojourn as sj
from agreement import laws, monotone, precise, product, simulated
from agreement.models import RandomModel
from agreement.rows import LargestDifference, Rows, missing, pairs, rows, worst
from agreement.tolerance import allowance, load
from sojourn.errors import MethodRefused, ModelError, SojournError
from sojourn.solve import registry
from sojourn.solve.method import Method, RequestedOutputs

WANTED = RequestedOutputs((0.5, 0.9, 0.99), 3)
DEAR_S = 0.3  # other methods are asked where they are estimated to cost no more
SURE = 1e-9  # a load this near to 1 may be called either way
BOUNDS = ("asymptotic-bounds", "balanced-job-bounds", "geometric-bounds", "kingman")


@dataclass
class Verdict:
    """What became of one model; `findings` are what must not be, each "kind: words"."""

    method: str = ""
    status: str = ""
    seconds: float = 0.0
    referees: list[str] = field(default_factory=list)
    compared: int = 0
    apart: LargestDifference | None = None  # the worst pair among all referees
    against: str = ""
    rough: LargestDifference | None = None  # how far an approximation is from an exact method, or the simulation
    findings: list[str] = field(default_factory=list)
    asking: Callable[[str], None] = lambda method: None  # is told whom the referee asks next

    def find(self, kind: str, words: str) -> None:
        self.findings.append(f"{kind}: {words}")


def judge(drawn: RandomModel, simulate: bool = True, asking: Callable[[str], None] | None = None) -> Verdict:
    """Everything that can be said of one model; raises nothing that the model or a method raises."""
    verdict = Verdict(asking=asking) if asking else Verdict()
    model = _made(drawn, verdict)
    if model is None:
        return verdict
    answer = _asked(model, "auto", verdict)
    if answer is None:
        return verdict
    verdict.method, verdict.status = answer.method, answer.status
    told = rows(answer)
    if again := len(answer) - len(told):
        verdict.find("twice", f"{again} rows of {answer.method} say again what others say")
    if "its answer failed a check" in answer.message:
        verdict.find("caught", answer.message.replace("\n", " | ")[:300])
    _stability(model, answer, verdict)
    for words in laws.broken(model, told, answer.status):
        verdict.find("law", f"{answer.method}: {words}")
    if answer.status in ("ok", "approximate"):
        _referees(model, answer, told, verdict, simulate, drawn)
    return verdict


def _made(drawn: RandomModel, verdict: Verdict) -> sj.Model | None:
    try:
        model = drawn.model()
        if sj.Model.parse(model.to_toml()) != model:
            verdict.find("file", "the model that comes back from its file is another")
    except ModelError as error:
        verdict.status = "refused"
        _worded(error, verdict)
        if drawn.stratum != "unconnected":
            verdict.find("refused", f"ModelError of a model that is right: {error}")
        return None
    except Exception as error:  # whatever else it raises is what we look for
        verdict.find("exception", f"sj.Model: {type(error).__name__}: {error}")
        return None
    if drawn.stratum == "unconnected":
        verdict.find("accepted", "a closed route in two parts that do not lead to each other is no ModelError")
    return model


def _asked(model: sj.Model, method: str, verdict: Verdict) -> sj.Metrics | None:
    """The answer with its rows made; None where it refuses."""
    verdict.asking(method)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("default")  # each once a place: loops may warn thousands of times
        try:
            answer = sj.solve(model, method, requested_outputs=WANTED)
            answer.frame  # noqa: B018  (rows are made when first asked for)
        except (MethodRefused, ModelError) as error:
            _worded(error, verdict)
            answer, verdict.status = None, verdict.status or "refused"
        except SojournError as error:
            verdict.find("caught", f"{method}: {type(error).__name__}: {error}"[:300])
            answer = None
        except Exception as error:  # whatever else it raises is what we look for
            verdict.find("exception", f"{method}: {type(error).__name__}: {error}"[:300])
            answer = None
    if method == "auto":
        verdict.seconds = time.perf_counter() - start
    for words in dict.fromkeys(f"{w.category.__name__} at {_short(w.filename)}:{w.lineno}: {w.message}" for w in heard):
        verdict.find("warning", f"{method}: {words}")
    return answer


def _short(path: str) -> str:
    return path.rpartition("/sojourn/")[2] or path.rpartition("/")[2]


def _worded(error: SojournError, verdict: Verdict) -> None:
    """A refusal has three parts, and none of them sends the user to us."""
    parts = [str(x).strip() for x in (error.value, error.place, error.remedy)]
    if not all(parts) or "to us" in parts[2]:
        verdict.find("words", f"{type(error).__name__}: {error}")


def _holds_servers(model: sj.Model) -> bool:
    """Closed customers that return at once to the top of a last-come stack keep servers from the open ones."""
    n = model.network
    return bool(
        n.closed.any()
        and not n.closed.all()
        and any(d in ("lcfs_pr", "priority_preemptive", "priority") for d in n.discipline)
    )


def _stability(model: sj.Model, answer: sj.Metrics, verdict: Verdict) -> None:
    found = load(model)
    if found is None or _holds_servers(model):
        return
    if found >= 1 + SURE and answer.status != "unstable":
        verdict.find("stability", f"{answer.method} says {answer.status} at a load of {found:.12g}")
    if found <= 1 - SURE and answer.status == "unstable":
        verdict.find("stability", f"{answer.method} says unstable at a load of {found:.12g}")


def _referees(
    model: sj.Model, answer: sj.Metrics, told: Rows, verdict: Verdict, simulate: bool, drawn: RandomModel
) -> None:
    exact = answer.status == "ok"
    for method in _others(model, answer.method):
        other = _asked(model, method.name, verdict)
        if other is None or other.status != "ok":
            continue
        theirs = rows(other)
        for words in laws.broken(model, theirs, other.status):
            verdict.find("law", f"{method.name}: {words}")
        allowed = allowance(model, answer, other)
        _met(verdict, answer, method.name, pairs(told, theirs, allowed), exact)
        if exact:
            for words in missing(told, theirs)[:3]:
                verdict.find("missing", f"{answer.method} against {method.name}: {words}")
    if exact:
        _enclosed(model, answer, told, verdict)
        allowed = allowance(model, answer, answer)
        _met(verdict, answer, "mpmath", pairs(told, precise.rows(model), allowed), True)
        _met(verdict, answer, "sums", pairs(told, product.rows(model), allowed), True)
        _more(model, answer, told, verdict)
    if simulate and simulated.can(model) and (not verdict.referees or not exact or drawn.index % 10 == 0):
        _simulated(model, answer, told, verdict, drawn.index)


def _others(model: sj.Model, taken: str) -> Iterable[Method]:
    for name, method in registry.all_methods().items():
        if name == taken or not method.exact or method.on_request_only:
            continue
        if registry.refusal(method, model.network) is None and method.cost_s(model.network) <= DEAR_S:
            yield method


def _met(verdict: Verdict, answer: sj.Metrics, name: str, found: Iterable[LargestDifference], exact: bool) -> None:
    """The worst pair; a finding where both are exact and they differ."""
    each = list(found)
    if not each:
        return
    verdict.referees.append(name)
    verdict.compared += len(each)
    far = worst(iter(each))
    assert far is not None
    if not exact:
        known = [verdict.rough] if verdict.rough else []
        means = [a for a in each if a.key.metric in ("response_time", "throughput", "queue_length")]
        verdict.rough = max([*means, *known], key=lambda a: a.difference, default=None)
        return
    if verdict.apart is None or far.difference / far.allowed > verdict.apart.difference / verdict.apart.allowed:
        verdict.apart, verdict.against = far, name
    if far.difference > far.allowed:
        more = sum(a.difference > a.allowed for a in each)
        verdict.find("differs", f"{answer.method} {far.ours:.12g}, {name} {far.theirs:.12g} at {far.key}: "
                     f"{far.difference:.2e} of {far.allowed:.0e} allowed; {more} of {len(each)} numbers")  # fmt: skip


def _more(model: sj.Model, answer: sj.Metrics, told: Rows, verdict: Verdict) -> None:
    """With more customers no line is shorter, and none are served fewer."""
    busier = monotone.busier(model)
    more = _asked(busier, answer.method, verdict) if busier is not None and verdict.seconds < DEAR_S else None
    if more is not None and more.status == "ok":
        for words in monotone.falls(told, rows(more), 1e-9 + 1e-15 / max(1 - (load(model) or 0.0), 1e-15)):
            verdict.find("law", f"{answer.method}: {words}")


def _enclosed(model: sj.Model, answer: sj.Metrics, told: Rows, verdict: Verdict) -> None:
    """Bounds hold what is exact."""
    for name in BOUNDS:
        if registry.refusal(registry.all_methods()[name], model.network) is not None:
            continue
        bounds = _asked(model, name, verdict)
        for key, row in (rows(bounds) if bounds is not None else {}).items():
            mine = told.get(key)
            if mine is None or mine.value is None or row.value is not None:
                continue
            slack = allowance(model, answer, answer)(key) * abs(mine.value)
            if (row.low is not None and mine.value < row.low - slack) or (
                row.high is not None and mine.value > row.high + slack
            ):
                verdict.find("bounds", f"{name} says {row.low} … {row.high} of {key}, which is {mine.value:.9g}")


def _simulated(model: sj.Model, answer: sj.Metrics, told: Rows, verdict: Verdict, seed: int) -> None:
    """Outside the interval of one run, and of a second with another seed that is longer."""
    verdict.asking("simulation")
    try:
        outside, met = simulated.outside(model, told, seed)
    except SojournError:  # what the simulator has no words for: orders at load-dependent stations, empty passes
        return
    except Exception as error:  # whatever else it raises is what we look for
        verdict.find("exception", f"simulate: {type(error).__name__}: {error}"[:300])
        return
    if not met:
        return
    verdict.referees.append("simulation")
    verdict.compared += len(met)
    if answer.status == "ok":
        for words in outside[:3]:
            verdict.find("simulation", f"{answer.method}: {words}; {len(outside)} of {len(met)} numbers")
    else:
        _met(verdict, answer, "simulation", met, False)
