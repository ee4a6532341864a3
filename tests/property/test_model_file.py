"""A model's file says everything that the object says: writing and reading is the identity, over all nouns and kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import sojourn as sj
from sojourn.model.distribution_registry import KINDS

quick = settings(max_examples=80, deadline=None, derandomize=True)
names = st.text("abcXYZ019_-. äλ\"'\\#=[]", min_size=1, max_size=8).filter(lambda s: s.strip() == s)
positive = st.floats(1e-9, 1e6, allow_subnormal=False)
counts = st.integers(1, 9)
probabilities = st.lists(st.integers(1, 9), min_size=1, max_size=4).map(lambda w: tuple(x / sum(w) for x in w))


def phases(weights: tuple[float, ...]) -> sj.PhaseType:
    n = len(weights)
    rates = tuple(tuple(-2.0 if i == j else 1.0 if j == i + 1 else 0.0 for j in range(n)) for i in range(n))
    return sj.PhaseType(weights, rates)


times: dict[str, st.SearchStrategy[Any]] = {
    "exponential": st.builds(sj.Exponential, positive),
    "deterministic": st.builds(sj.Deterministic, positive),
    "erlang": st.builds(sj.Erlang, positive, counts),
    "hyperexponential": probabilities.flatmap(
        lambda p: st.tuples(*[positive] * len(p)).map(lambda m: sj.Hyperexponential(p, m))
    ),
    "uniform": st.tuples(positive, positive).map(lambda x: sj.Uniform(min(x), max(x))),
    "lognormal": st.builds(sj.Lognormal, positive, positive),
    "weibull": st.builds(sj.Weibull, positive, st.floats(0.02, 100)),
    "pareto": st.builds(sj.Pareto, positive, st.floats(1.001, 9)),
    "phase_type": probabilities.map(phases),
    "empirical": st.lists(positive, min_size=1, max_size=4).map(sj.Empirical),
}
processes: dict[str, st.SearchStrategy[Any]] = {
    "map": st.tuples(positive, positive).map(
        lambda r: sj.MAP(((-r[0] - r[1], r[1]), (0.0, -r[0])), ((r[0], 0.0), (0.0, r[0])))
    ),
    "steps": st.lists(st.tuples(positive, positive), min_size=1, max_size=3).map(sj.Steps),
    "trace": st.lists(positive, min_size=1, max_size=4).map(sorted).map(sj.Trace)
    | names.map(lambda s: sj.Trace(run=s)),
}
time = positive | st.one_of(*times.values())
capacities = st.none() | st.integers(9, 99)
breakdowns = st.none() | st.builds(sj.Breakdowns, st.one_of(*times.values()), st.one_of(*times.values()))
disciplines = st.sampled_from(("fcfs", "ps", "lcfs_pr", "siro", "priority", "priority_preemptive"))


@st.composite
def queues(draw: st.DrawFn, name: str) -> sj.Queue:
    at = sorted(draw(st.sets(st.integers(0, 99), max_size=3)))
    schedule = tuple((float(t), draw(counts)) for t in at)
    period = draw(st.none() | st.just(100.0)) if schedule else None
    full = draw(st.sampled_from(("lose", "block")))
    return sj.Queue(name, draw(counts), draw(disciplines), draw(capacities), full, schedule, period, draw(breakdowns))


@st.composite
def stations(draw: st.DrawFn, name: str) -> Any:
    others = [
        queues(name), st.just(sj.Delay(name)), st.builds(sj.ForkJoin, st.just(name), counts),
        st.builds(sj.LoadDependent, st.just(name), st.lists(positive, min_size=1, max_size=4), disciplines),
        st.builds(sj.Multicore, st.just(name), st.just(9), counts, positive, st.sampled_from(("priority", "shared", "paper")),
                  st.floats(0, 1) | st.sampled_from(("uniform", "inverse-utilisation")), counts),
    ]  # fmt: skip
    return draw(st.one_of(*others))


@st.composite
def classes(draw: st.DrawFn, name: str, first: str) -> Any:
    if draw(st.booleans()):
        reference = draw(st.sampled_from(("", first)))
        return sj.Closed(name, draw(st.integers(0, 99)), draw(time), draw(st.integers(0, 3)), reference)
    arrivals = draw(st.none() | st.one_of(*times.values(), *processes.values()))
    return sj.Open(name, 0.0 if arrivals else draw(positive), arrivals, draw(st.integers(0, 3)))


@st.composite
def models(draw: st.DrawFn) -> sj.Model:
    labels = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    visited = [draw(stations(name)) for name in labels]
    pools = [sj.Pool(f"pool{draw(counts)}*", draw(counts), labels[:1])] if draw(st.booleans()) else []
    users = [draw(classes(name, labels[0])) for name in draw(st.lists(names, min_size=1, max_size=3, unique=True))]
    timed = [s.name for s in visited if not isinstance(s, sj.LoadDependent)]
    given_times: dict[str, Any] = {s: {c.name: draw(time) for c in users} for s in timed}
    more: dict[str, Any] = {"service_s": given_times}
    if draw(st.booleans()):
        more["visits"] = {s: {c.name: draw(st.floats(0.01, 9)) for c in users} for s in labels}
    else:
        more["routing"] = {c.name: draw(routes(labels, isinstance(c, sj.Closed))) for c in users[:1]}
    regions = [sj.Region("region", draw(counts), labels, draw(st.sampled_from(("wait", "lose"))))]
    regions = regions if draw(st.booleans()) else []
    return sj.Model([*visited, *pools], users, regions=regions, name=draw(st.just("") | names), **more)


@st.composite
def routes(draw: st.DrawFn, labels: list[str], closed: bool) -> dict[str, Any]:
    """From the first station by chance or by choice to all, from all of these out."""
    outside = "think" if closed else "exit"
    to = (*labels[1:], outside)
    share = draw(st.floats(0.01, 0.99))
    by_chance: Any = (
        {**dict.fromkeys(to[1:-1], 0.0), to[0]: share, to[-1]: 1 - share} if len(to) > 1 else {outside: 1.0}
    )
    choice = st.builds(sj.Choice, st.sampled_from(("round_robin", "jsq", "random", "power")), st.just(to), counts)
    start = {"think" if closed else "source": {labels[0]: 1.0}}
    return {**start, labels[0]: draw(st.just(by_chance) | choice), **{s: {outside: 1.0} for s in labels[1:]}}


@given(models())
@quick
def test_writing_and_reading_is_the_identity(model: sj.Model) -> None:
    text = model.to_toml()
    again = sj.Model.parse(text)
    assert again == model
    assert [s.name for s in again.stations] == [s.name for s in model.stations]  # the order is kept
    assert again.to_toml() == text


def test_every_kind_of_distribution_is_drawn() -> None:
    assert {*times, *processes} == set(KINDS)


@given(st.one_of(*times.values()))
@quick
def test_a_distribution_is_a_table_and_back(value: sj.Distribution) -> None:
    model = sj.Model([sj.Queue("q")], [sj.Open("c", 1.0)], {"q": {"c": value}})
    assert sj.Model.parse(model.to_toml()).demands_s["q"]["c"] == value


def test_a_file_on_disk(tmp_path: Path) -> None:
    model = sj.Model([sj.Queue("q")], [sj.Open("c", 1.0)], {"q": {"c": 0.5}}, name="café")
    model.write(tmp_path / "m.toml")
    assert sj.Model.read(tmp_path / "m.toml") == model


def test_the_file_of_the_design() -> None:
    """The example of the design: a load-dependent disk, a closed class by routes and an open one by a distribution."""
    text = """
    name = "shop"
    [stations.cpu]
    servers = 2
    discipline = "ps"
    capacity = 100
    [stations.disk]
    kind = "load_dependent"
    rates_per_s = [100, 180, 240]
    [classes.user]
    kind = "closed"
    population = 50
    think_s = 1.0
    [classes.api]
    kind = "open"
    rate_per_s = 3.0
    priority = 1
    [demands_s.cpu]
    user = 0.02
    api = { kind = "erlang", mean = 0.01, shape = 4 }
    [routing.user.cpu]
    disk = 0.5
    think = 0.5
    [routing.user.disk]
    think = 1
    """
    model = sj.Model.parse(text)
    assert model.stations[0] == sj.Queue("cpu", servers=2, discipline="ps", capacity=100)
    assert model.demands_s["cpu"]["api"] == sj.Erlang(0.01, 4)
    assert model.network.demands_s[:, 0].tolist() == [0.02, 0.5 / 100]


def test_lists_and_arrays_are_kept_as_tuples() -> None:
    import numpy as np

    station = sj.LoadDependent("disk", np.array([1.0, 2.0]))  # type: ignore[arg-type]
    assert station == sj.LoadDependent("disk", (1.0, 2.0)) and hash(station)
