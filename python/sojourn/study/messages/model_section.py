"""Sections of the report on the models: the best pool sizes, the database's curve, errors where nothing was fitted."""

from __future__ import annotations

from sojourn.report import Figure, Section, Series, Table
from sojourn.report.document import Cell
from sojourn.study.judged import Judgement
from sojourn.study.messages.modelled import Outcome
from sojourn.study.messages.models import Fitted
from sojourn.study.messages.run import MessagesFindings

MS, US = 1e3, 1e6
NAMES = {
    "network_s": "network, both ways", "dispatch_s": "dispatcher", "parse_s": "worker, before", "respond_s": "worker, after",
    "database_s": "database at the reference",
}  # fmt: skip


def best_section(found: MessagesFindings) -> Section:
    cells: list[tuple[Cell, ...]] = [
        (r.best.model, r.best.shape.workers, r.best.shape.connections, r.best.predicted.throughput_per_s, r.chosen_per_s,
         f"{r.shape.workers}, {r.shape.connections}", r.most_per_s, r.lost.value, r.lost.low, r.lost.high)
        for r in found.regrets
    ]  # fmt: skip
    lead = (
        "Each model's choice was written down before it was run: the fewest connections and workers within 1 % of the "
        "greatest predicted throughput. Regret is the throughput lost against the best of all measured configurations with "
        "as many clients; its interval is a bootstrap over repetitions."
    )
    columns = ("model", "workers", "connections", "predicted, 1/s", "measured, 1/s", "best measured", "1/s", "regret",
               "low", "high")  # fmt: skip
    formats = ("", ".0f", ".0f", ".0f", ".0f", "", ".0f", ".1%", ".1%", ".1%")
    return Section("Best pool sizes", lead, (Table("Workers and connections", columns, tuple(cells), formats=formats),))


def database_section(found: MessagesFindings) -> Section:
    assert found.fitted is not None
    lead = (
        "The calibration keeps a number of connections always busy, so that its throughput is what the database completes "
        "with that many requests in it. The document's rule has the time in the database at the reference run."
    )
    return Section("Database", lead, (_curve(found.fitted), _parameters(found.fitted), _checked(found.fitted)))


def _checked(fitted: Fitted) -> Table:
    """What the models suppose, against the reference run."""
    cells: list[tuple[Cell, ...]] = [
        (
            name,
            MS * fitted.response_s.value,
            MS * (fitted.response_s.value - extra),
            MS * extra,
            extra / fitted.response_s.value,
        )
        for name, extra in fitted.unexplained_s.items()
        if name != "document"
    ]
    columns = ("model", "client saw, ms", "of it explained", "left", "share")
    note = (
        "The models suppose that the database's rate depends on the number in it alone, and that sleeping threads wake at "
        "once. What the reference run needs beyond that is taken as a delay beside the network."
    )
    return Table("Response time of the reference run", columns, tuple(cells), note, ("", ".3f", ".3f", "+.3f", "+.0%"))


def _curve(fitted: Fitted) -> Figure:
    points = sorted(fitted.curve, key=lambda p: p.size.value)
    x, y = [p.size.value for p in points], [p.rate_per_s.value for p in points]
    low, high = [p.rate_per_s.low for p in points], [p.rate_per_s.high for p in points]
    series = [Series("measured", x, y, low, high, "points")]
    most = max(2, round(1.5 * max(x)))
    for name, database in fitted.parallelisms.items():
        rates = [database.rates(c)[-1] for c in range(1, most + 1)]
        style = "dashed" if name == "document" else "line"
        series.append(Series(f"{name} model", list(range(1, most + 1)), rates, style=style))  # type: ignore[arg-type]
    note = "95 % intervals (Student's t over repetitions). The measured model runs through the points."
    label = "completions/s"
    return Figure("database-curve", "Completions of the database", "busy connections", label, tuple(series), note)


def _parameters(fitted: Fitted) -> Table:
    cells: list[tuple[Cell, ...]] = [
        (text, US * fitted.times[name].value, US * fitted.times[name].low, US * fitted.times[name].high)
        for name, text in NAMES.items()
    ]
    empty = fitted.times["empty_share"]
    note = f"At {fitted.clients} clients, in µs. Empty takes: {empty.value:.1%} [{empty.low:.1%}, {empty.high:.1%}] of the requests."
    return Table(
        "Parameters", ("time of a request", "µs", "low", "high"), tuple(cells), note, ("", ".1f", ".1f", ".1f")
    )


def models_section(found: MessagesFindings) -> Section:
    lead = (
        "Parameters are those of the reference run and the calibration; every other configuration is predicted. `document`: "
        "the document's network and its rule of parallelism. `measured` and `usl`: a request holds a worker while it is in "
        "the database or waits for a connection; the database has its measured curve, or the law fitted to it. With N clients "
        "that wait Z in the mean, R = N/X - Z: an error of the throughput is one of the response time 1 + Z/R times as large."
    )
    return Section("Models", lead, (_summary(found.models), *(_points(j) for j in found.models if j.points)))


def _summary(models: list[Judgement[Outcome]]) -> Table:
    cells: list[tuple[Cell, ...]] = [
        (j.model, len(j.points), *j.median_error(), *j.median_error("response_error"), _covered(j))
        for j in models
        if j.points
    ]
    columns = ("model", "configurations", "throughput", "low", "high", "response time", "low ", "high ", "inside")
    note = (
        "Median of the absolute relative errors, 95 % bootstrap intervals. Inside: share of configurations whose measured "
        "throughput is in the predicted interval, which has the parameters' errors alone, not the model's."
    )
    return Table("Errors where nothing was fitted", columns, tuple(cells), note, ("", ".0f", *[".1%"] * 6, ".0%"))


def _covered(j: Judgement[Outcome]) -> float:
    inside = [p.predicted.low_per_s <= p.throughput_per_s <= p.predicted.high_per_s for p in j.points]
    return sum(inside) / len(inside)


def _points(j: Judgement[Outcome]) -> Table:
    cells = tuple(
        (p.configuration, p.throughput_per_s, p.predicted.throughput_per_s, p.throughput_error, MS * p.response_s,
         MS * p.predicted.response_s, p.response_error, p.predicted.bottleneck)
        for p in j.points
    )  # fmt: skip
    columns = ("configuration", "1/s", "model", "error", "ms", "model ", "error ", "limited by")
    return Table(j.model, columns, cells, formats=("", ".0f", ".0f", "+.1%", ".3f", ".3f", "+.1%", ""))
