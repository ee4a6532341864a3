"""Chen et al.'s figures on our data: what was measured as points with intervals, models as curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from sojourn import Metrics
from sojourn.report import Figure, Series, Style
from sojourn.solve import two_class
from sojourn.study import BLIND
from sojourn.units import per_second, seconds
from sojourn_cases.web.fitted_web import FittedWeb, cores_of, parameters
from sojourn_cases.web.leading_core_chain import mean_requests
from sojourn_cases.web.web_configurations import WebConfiguration, measured_means

RATE = "requests per second"
CURVE_POINTS = 24
CORE = "core "  # of a run: a station each
TOGETHER = 3  # configurations in a figure of all
BY_KIND = (
    ("utilisation", "leading", "leading cores"),
    ("utilisation", "trailing", "trailing cores"),
    ("softirq_utilisation", "leading", "interrupts, leading"),
)
# metric, title, label of its axis, scale
AGAINST_RATE = (
    ("throughput", "Throughput", "answers per second", 1.0),
    ("response_time", "Response time", "mean response time, ms", 1e3),
)
ROOMS = (1, 2, 3, 5, 8, 12, 20, 30, 45, 60)  # N, for requests at a core


def models_against(part: WebConfiguration, rivals: Mapping[str, FittedWeb], best: str, written: str) -> Figure:
    """Each model as a curve, the best with its band, and what was measured."""
    seen = _series("measured", part.measured, "response_time", scale=1e3)
    highest = max((v for v in (seen.high or seen.y) if v is not None), default=1.0)
    most = 1.05 * float(part.measured.frame["rate_per_s"].max() or 1.0)  # type: ignore[arg-type]
    rates = np.linspace(most / CURVE_POINTS, most, CURVE_POINTS).tolist()
    blind = part.kind == BLIND
    curves = [
        _series(
            "predicted, " * blind + name, model.predict({**part.factors, "rate_per_s": rates}, model.level), "response_time",
            style="line" if name == best else "dashed", scale=1e3, band=name == best,
        )
        for name, model in rivals.items()
    ]  # fmt: skip
    title = f"{'Blind prediction' if blind else 'Model'} against measurement: {part.name}"
    note = f"The predictions were written to disk at {written}, before this configuration was run." if blind else ""
    lines = (*curves, seen)
    return Figure(title, title, RATE, "mean response time, ms", lines, note=note, y_limits=(0.0, 1.4 * highest))


def measured(parts: Sequence[WebConfiguration]) -> Iterator[Figure]:
    """Utilisation by kind of core with the share of soft interrupts, then throughput and response time (Chen et al.'s Figures 3 and 4),
    each against the rate. Of more than `TOGETHER` configurations utilisation has a figure each, the others one for each number of NICs."""
    seen = [part for part in parts if part.seen]
    several = len(seen) > TOGETHER
    for own in [[part] for part in seen] if several else [seen]:
        title = "Utilisation of the cores and share of soft interrupts" + (f": {own[0].name}" if several else "")
        yield Figure(title, title, RATE, "busy share of a core", _by_kind(own, named=not several), y_limits=(0.0, 1.0))
    for nics in sorted({part.size[1] for part in seen}) if several else (None,):
        where = "" if nics is None else f": {nics} NIC{'s' * (nics > 1)}"
        for metric, name, label, scale in AGAINST_RATE:
            own = [part for part in seen if nics in (None, part.size[1])]
            series = tuple(_series(part.name, part.measured, metric, scale=scale) for part in own)
            yield Figure(f"{name}{where}", f"{name}{where}", RATE, label, series)


def _by_kind(parts: Sequence[WebConfiguration], named: bool) -> tuple[Series, ...]:
    """Busy shares of leading and trailing cores, and soft interrupts of the leading ones; `named`: with the configuration."""
    found = (
        _series(f"{part.name}: {what}" if named else what, part.measured, metric, station)
        for metric, station, what in BY_KIND
        for part in parts
    )
    return tuple(series for series in found if series.x)


def _series(
    name: str, metrics: Metrics, metric: str, station: str = "", *, style: Style = "points", scale: float = 1.0,
    band: bool = True,
) -> Series:  # fmt: skip
    """One metric against the rate, scaled to the unit of the axis; with its interval where `band`."""
    rows = metrics.frame.filter((pl.col("metric") == metric) & (pl.col("station") == station)).sort("rate_per_s")
    value, low, high = ([None if v is None else v * scale for v in rows[k]] for k in ("value", "low", "high"))
    known = band and any(v is not None for v in low)
    return Series(
        name, rows["rate_per_s"].to_list(), value, low if known else None, high if known else None, style, name
    )


def interrupts_by_core(part: WebConfiguration) -> Figure | None:
    """The share of each core's time in soft interrupts against the rate (Chen et al.'s Figure 3); None where no valid run has it."""
    told = measured_means(part.runs, _of_a_core)
    names = sorted(set(told.frame["station"]), key=lambda name: int(name.removeprefix(CORE)))
    if not names:
        return None
    title = f"Soft interrupts of each core: {part.name}"
    series = tuple(_series(name, told, "softirq_utilisation", name) for name in names)
    return Figure(title, title, RATE, "share of the core's time", series, "Means of the valid runs at a rate.")


def _of_a_core(station: str, metric: str) -> bool:
    return station.startswith(CORE) and metric == "softirq_utilisation"


def closed_form_and_chain(part: WebConfiguration, paper: FittedWeb) -> Figure | None:
    """The mean number of requests at a leading core against its room N, by the closed form and from the balance equations of the chain
    (Chen et al.'s Figure 7), with the times that the model `paper` was fitted with and the highest measured rate; None where it has
    no such times."""
    fitted = paper.of(part.factors)
    station, page = cores_of(fitted), parameters(fitted).get("page_s")
    interrupt_s = 0.0 if station is None else float(station.interrupt_s) + float(station.client_s)
    if page is None or not (interrupt_s > 0 and page.value > 0 and part.seen):
        return None
    cores, nics = part.size
    rate = float(part.measured.frame["rate_per_s"].max()) / nics  # type: ignore[arg-type]
    mu1_per_s, mu2_per_s, p = 1 / interrupt_s, 1 / page.value, nics / cores
    alone = _closed_form(rate, mu1_per_s, mu2_per_s, p, cores)
    chain = [mean_requests(rate, mu1_per_s, mu2_per_s, p, room) for room in ROOMS]
    note = (
        f"At {per_second(rate)} for each leading core, with {seconds(interrupt_s)} in interrupts (and in the client, where it shares the "
        f"core), pages of {seconds(page.value)} and p = {p:.3g}."
    )
    title = f"Mean number of requests at a leading core: {part.name}"
    series = (
        Series("closed form (Proposition 2)", ROOMS, alone),
        Series("chain, solved numerically", ROOMS, chain, style="points"),
    )
    return Figure(title, title, "room for requests at the core, N", "requests, E(k)", series, note)


def _closed_form(rate: float, mu1_per_s: float, mu2_per_s: float, p: float, cores: int) -> list[float]:
    """E(k) of the closed form, for each of `ROOMS`."""
    found = [
        two_class(rate, mu1_per_s=mu1_per_s, mu2_per_s=mu2_per_s, p=p, capacity=room, cores=1 if p == 1 else cores)
        for room in ROOMS
    ]
    return [one.value("queue_length", "leading") for one in found]
