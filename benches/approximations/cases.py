"""Models without a formula, as pure functions of a seed and a number: seed 1 is for training, seed 2 for judging."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import sojourn as sj

P = (1 + 0.6**0.5) / 2  # balanced means, scv 4
Law = Callable[[float], object]  # a mean, s → a distribution
LAWS: dict[str, Law] = {
    "E4": lambda mean: sj.Erlang(mean, 4),
    "E2": lambda mean: sj.Erlang(mean, 2),
    "D": sj.Deterministic,
    "U": lambda mean: sj.Uniform(0.5 * mean, 1.5 * mean),
    "M": sj.Exponential,
    "LN(.1)": lambda mean: sj.Lognormal(mean, 0.1),
    "LN(1)": lambda mean: sj.Lognormal(mean, 1.0),
    "LN(4)": lambda mean: sj.Lognormal(mean, 4.0),
    "W(.7)": lambda mean: sj.Weibull(mean, 0.7),
    "H2(4)": lambda mean: sj.Hyperexponential((P, 1 - P), (mean / (2 * P), mean / (2 - 2 * P))),
}
FAMILIES = ("closed", "single", "several", "row")


def case(family: str, seed: int, number: int) -> tuple[str, sj.Model]:
    """A short description, and the model."""
    rng = np.random.default_rng([seed, FAMILIES.index(family), number])
    return {"closed": closed, "single": single, "several": several, "row": row}[family](rng)


def closed(rng: np.random.Generator) -> tuple[str, sj.Model]:
    """1-3 queues in the order of arrival, 2-3 classes whose means differ 2-20 times, 2-40 customers in all."""
    stations, classes = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    names = "abc"[:classes]
    total = round(2 ** rng.uniform(1, np.log2(40)))
    share = rng.dirichlet(np.full(classes, 2.0))
    population = np.maximum(1, np.round(share * total)).astype(int)
    ratio = 2 ** rng.uniform(1, np.log2(20))
    general = rng.uniform() < 0.3
    times: dict[str, dict[str, object]] = {}
    for k in range(stations):
        means = 0.1 * ratio ** rng.permutation(np.linspace(0, 1, classes)) * 2 ** rng.uniform(-1, 1)
        laws = rng.choice(["E4", "E2", "M", "LN(1)", "H2(4)"], classes) if general else ["M"] * classes
        times[f"s{k}"] = {c: LAWS[law](float(m)) for c, law, m in zip(names, laws, means, strict=True)}
    demand = sum(sum(d.first for d in row.values()) for row in times.values()) / classes
    think = float(demand * rng.choice([0.0, 1.0, 4.0]) * total / 4)
    servers = [int(rng.choice([1, 1, 1, 2])) for _ in times]
    model = sj.Model(
        stations=[sj.Queue(name, servers=m) for name, m in zip(times, servers, strict=True)],
        classes=[sj.Closed(c, int(n), think_s=think) for c, n in zip(names, population, strict=True)],
        service_s=times,
    )
    kinds = "general" if general else "exponential"
    return (
        f"{stations} stations, servers {servers}, population {population.tolist()}, means 1:{ratio:.1f}, {kinds}",
        model,
    )


def single(rng: np.random.Generator, servers: int = 1) -> tuple[str, sj.Model]:
    """GI/G/1."""
    gap, service = (
        rng.choice([name for name in LAWS if name != "M"]),
        rng.choice([name for name in LAWS if name != "M"]),
    )
    if gap == service == "D":
        gap = "E4"
    load = float(rng.choice([0.3, 0.5, 0.7, 0.8, 0.9, 0.95]))
    law = LAWS[gap](1 / (load * servers))
    model = sj.Model(
        stations=[sj.Queue("q", servers=servers)], classes=[sj.Open("c", arrivals=law)],
        service_s={"q": {"c": LAWS[service](1.0)}},
    )  # fmt: skip
    return f"{gap}/{service}/{servers}, load {load:g}", model


def several(rng: np.random.Generator) -> tuple[str, sj.Model]:
    """GI/G/m."""
    return single(rng, int(rng.choice([2, 3, 4, 8, 16])))


def row(rng: np.random.Generator) -> tuple[str, sj.Model]:
    """2-3 queues in a row."""
    stations = int(rng.integers(2, 4))
    laws = [str(x) for x in rng.choice(list(LAWS), stations + 1)]
    loads = [float(x) for x in rng.choice([0.3, 0.5, 0.7, 0.9], stations)]
    model = sj.Model(
        stations=[sj.Queue(f"q{k}") for k in range(stations)], classes=[sj.Open("c", arrivals=LAWS[laws[0]](1.0))],
        service_s={f"q{k}": {"c": LAWS[laws[k + 1]](loads[k])} for k in range(stations)},
    )  # fmt: skip
    return f"{'/'.join(laws)}, loads {loads}", model
