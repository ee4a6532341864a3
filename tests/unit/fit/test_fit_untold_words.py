"""What formulas say and the runs do not tell: each word is refused by name, with what would tell it, and that does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pytest

import sojourn as sj
from sojourn.errors import FitError
from sojourn.fit.factor_mapping import applied, factors_of
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.model_fit import fit
from sojourn.model.unknown_parameters import replaced

ANY, ZERO = "{ free = true }", "{ free = true, low = 0 }"
OPEN = '[classes.user]\nkind = "open"\nrate_per_s = 1\n'
CLOSED = '[classes.user]\nkind = "closed"\npopulation = 1\nthink_s = 0.2\n'
Points = Sequence[Mapping[str, Any]]


class Word(NamedTuple):
    """`points` do not tell `names` apart, and `remedy` is said; with `more` they do. `watched`: stations that are busy in them then."""

    text: str
    truth: Mapping[str, float]
    points: Points
    names: Sequence[str]
    remedy: str
    more: Points
    watched: Sequence[str] = ()


def _queue(time: str, parameters: str, at: str = "servers = 2", load: str = OPEN) -> str:
    return f'[parameters]\n{parameters}\n[stations.cpu]\n{at}\n{load}[demands_s.cpu]\nuser = "{time}"\n'


def _rates(*rates: float, **rest: Any) -> list[dict[str, Any]]:
    return [{"rate_per_s": float(rate), **rest} for rate in rates]


def _users(*users: int, **rest: Any) -> list[dict[str, Any]]:
    return [{"users": n, **rest} for n in users]


USL = (
    f'[parameters]\nwork_s = {ANY}\ncontention = {ZERO}\ncoherency = {ZERO}\n[stations.cpu]\nkind = "load_dependent"\n'
    f'rates_per_s = "n / (work_s * (1 + contention*(n-1) + coherency*n*(n-1)))"\n{CLOSED}'
)
WORDS = {
    "a sum of parts": Word(
        _queue("request_s + key_s*keys", f"request_s = {ANY}\nkey_s = {ANY}\nkeys = 1"),
        {"request_s": 0.004, "key_s": 0.002}, _rates(20, 40, 60, 80, keys=4), ["request_s", "key_s"], "vary keys too",
        _rates(20, 60, keys=1)),
    "a part by kind of work": Word(
        _queue("read_s + store_s*stores", f"read_s = {ANY}\nstore_s = {ANY}\n"
               'stores = { factor = "work", value = "get", cases = { set = 1 }, otherwise = 0 }'),
        {"read_s": 0.004, "store_s": 0.002}, _rates(20, 40, 60, 80, work="set"), ["read_s", "store_s"], "vary work too",
        _rates(20, 60, work="get")),
    "a number that two stations share": Word(
        f'[parameters]\nparse_s = {ANY}\nrest_s = {ANY}\n[stations.cpu]\n[stations.disk]\n{OPEN}[demands_s]\n'
        'cpu = { user = "parse_s" }\ndisk = { user = "rest_s" }\n',
        {"parse_s": 0.006, "rest_s": 0.004}, _rates(20, 40, 60, 80), ["parse_s", "rest_s"], "station cpu or disk", [], ["cpu"]),
    "threads that get in each other's way": Word(
        _queue("work_s * (1 + crowd*log(workers))", f"work_s = {ANY}\ncrowd = {ANY}\nworkers = 2", 'servers = "workers"'),
        {"work_s": 0.01, "crowd": 0.2}, _rates(20, 60, 100, 140, workers=4), ["work_s", "crowd"], "vary workers too",
        _rates(20, 60, workers=1)),
    "the speed of the core": Word(
        _queue("work_s * slower**exponent", f"work_s = {ANY}\nexponent = {{ free = true, low = 0, high = 2, start = 1 }}\nslower = 1"),
        {"work_s": 0.01, "exponent": 0.7}, _rates(20, 60, 100, 140, slower=1.0), ["exponent"], "vary slower too",
        _rates(20, 60, slower=1.5)),
    "contention and coherency": Word(
        USL, {"work_s": 0.02, "contention": 0.1, "coherency": 0.01}, [*_users(1, 2, think_s=0.1), *_users(1, 2, think_s=0.3)],
        ["contention", "coherency"], "vary users.* further", _users(10, 20, 30, think_s=0.1)),
    "a retry share beside a time between requests": Word(
        _queue("work_s", f"work_s = {ANY}\nown_s = {ANY}\nagain = {ANY}\nretry_s = 0.1",
               load=CLOSED.replace("0.2", '"own_s + again*retry_s"')),
        {"work_s": 0.02, "own_s": 0.2, "again": 0.5}, _users(2, 6, 10, 14, 20, retry_s=0.1), ["own_s", "again"], "vary retry_s too",
        _users(2, 10, retry_s=0.4)),
}  # fmt: skip


def _runs(word: Word, points: Points, watched: Sequence[str] = ()) -> FitRuns:
    """What the true model says, without noise."""
    model = sj.Model.parse(word.text)
    found = []
    for i, point in enumerate(points):
        real = replaced(model, {f"parameters.{name}": value for name, value in word.truth.items()})
        told = sj.solve(applied(real, factors_of(model, points), point))
        means = {("", metric): (told.value(metric), 0.01) for metric in ("response_time", "throughput")}
        found.append(FitRun(f"run-{i}", dict(point), means, {s: told.value("utilisation", s) for s in watched}))
    return FitRuns(found)


@pytest.mark.parametrize("name", WORDS)
def test_what_is_not_told_is_named_with_what_would_tell_it_and_that_does(name: str) -> None:
    word = WORDS[name]
    model = sj.Model.parse(word.text)
    with pytest.raises(FitError, match=word.remedy) as caught:
        fit(_runs(word, word.points), model, draws=20)
    assert all(f"parameters.{one}" in str(caught.value) for one in word.names), str(caught.value)
    fitted = fit(_runs(word, [*word.points, *word.more], word.watched), model, draws=20)
    for one, value in word.truth.items():
        assert fitted.estimates[f"parameters.{one}"].value == pytest.approx(value, rel=0.05), one


MULTICORE = """
[stations.cpu]
kind = "multicore"
variant = "%s"
cores = 1
nics = 1
interrupt_s = { free = true }
crossing_s = { free = true, low = 0, start = 0.0001 }
p = "uniform"
[classes.user]
kind = "open"
rate_per_s = 1
[service_s.cpu]
user = { free = true }
[factors]
cores = "stations.cpu.cores"
nics = "stations.cpu.nics"
[observed]
cpu.leading = "leading"
"""
HOST = {"stations.cpu.interrupt_s": 0.0005, "stations.cpu.crossing_s": 0.0002, "service_s.cpu.user": 0.001}


def _host_runs(model: sj.Model, points: Points) -> FitRuns:
    """The first core is busy with all interrupts and its share of the pages, nics/cores of them."""
    found = []
    for i, point in enumerate(points):
        told = sj.solve(applied(replaced(model, HOST), factors_of(model, points), point))
        means = {("", metric): (told.value(metric), 0.01) for metric in ("response_time", "throughput")}
        busy = point["rate_per_s"] * (0.0005 + 0.001 * point["nics"] / point["cores"])
        found.append(FitRun(f"run-{i}", dict(point), means, {"leading": busy}))
    return FitRuns(found)


@pytest.mark.parametrize("variant", ["priority", "shared", "paper"])
def test_what_one_core_does_not_tell_of_several(variant: str) -> None:
    """No page crosses to another core where there is one; a second NIC needs a second core first."""
    model, points = sj.Model.parse(MULTICORE % variant), _rates(100, 200, 300, 400, cores=1, nics=1)
    with pytest.raises(FitError, match=r"do not determine stations\.cpu\.crossing_s; give it, or vary cores too"):
        fit(_host_runs(model, points), model, draws=20)
    fitted = fit(_host_runs(model, [*points, *_rates(100, 300, 600, cores=2, nics=1)]), model, draws=20)
    for path, value in HOST.items():
        assert fitted.estimates[path].value == pytest.approx(value, rel=0.05), path
