"""Traces with a utilisation series: windows, and a fit that finds the service times that the traces were made of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from traces.otlp_spans import BEGIN_NS, CLIENT, SERVER, Spans, span, written

import sojourn as sj
from sojourn.errors import InputError
from sojourn.observe.observe_traces import observe_traces

BEGIN_S = BEGIN_NS * 1e-9
SITE_S, DB_S = 0.004, 0.010  # of a visit
WINDOW_S, VISITS = 10.0, {"story": 2, "home": 1}
RATES = [(6, 20), (10, 30), (14, 10), (20, 25), (8, 40), (24, 12), (16, 36), (12, 16)]  # of story and home, 1/s


def made(folder: Path, state: str = "", keep: int = 1) -> list[Path]:
    """A page asks the database once or twice. Both stations share their processor among all that are there, so that a visit takes
    S/(1 - U) in the mean (Kleinrock, Queueing Systems 2 (1976), section 4.4); here each takes just that."""
    lines: list[list[Spans]] = []
    rows, number = ["end_s,site,postgresql"], 0
    rng = np.random.default_rng(3)
    more = {"state": state} if state else {}
    for at, rates in enumerate(RATES):
        by = dict(zip(VISITS, rates, strict=True))
        busy = sum(rates) * SITE_S, sum(rate * VISITS[name] for name, rate in by.items()) * DB_S
        took = [1e3 * s / (1 - u) for s, u in zip((SITE_S, DB_S), busy, strict=True)]
        rows.append(f"{BEGIN_S + (at + 1) * WINDOW_S:.3f},{busy[0]:.6f},{busy[1]:.6f}")
        for name, rate in by.items():
            for came in np.sort(rng.uniform(at * WINDOW_S, (at + 1) * WINDOW_S, round(rate * WINDOW_S)))[::keep]:
                number += 1
                t, asks = came * 1e3, VISITS[name]
                end = t + took[0] + asks * took[1]
                calls = [(t + k * took[1], t + (k + 1) * took[1]) for k in range(asks)]
                lines.append([
                    span("site", number, 1, 0, (t, end), SERVER, name, **more),
                    *(span("site", number, 2 + k, 1, one, CLIENT, "SELECT", db_system="postgresql", **more) for k, one in enumerate(calls)),
                ])  # fmt: skip
    (folder / "cpu.csv").write_text("\n".join([rows[0], f"{BEGIN_S:.3f},0,0", *rows[1:]]) + "\n")
    return [written(folder / "traces.json", *lines), folder / "cpu.csv"]


def test_a_fit_finds_what_the_traces_were_made_of(tmp_path: Path) -> None:
    seen, service = observe_traces(made(tmp_path), window_s=WINDOW_S)
    service.write(tmp_path / "runs")
    assert len(service.windows) >= 7 and set(service.windows[0].busy) == {"site", "postgresql"}
    assert seen.classes["story"].visits["postgresql"].mean == 2.0
    # self time is residence: longer than the service time, as 20 to 56 % of the time they are busy
    assert seen.classes["home"].residence_s["postgresql"] > 1.2 * DB_S
    found = sj.fit(sj.fit.observe_runs([tmp_path / "runs"]), sj.Model.read(tmp_path / "runs/model.toml"))
    for station, truth in (("site", SITE_S), ("postgresql", DB_S)):
        for name in VISITS:
            value = found.estimates[f"service_s.{station}.{name}.mean"].value
            assert value == pytest.approx(truth, rel=0.05), (station, name)


def test_visits_alike_are_one_unknown_a_station(tmp_path: Path) -> None:
    _, service = observe_traces(made(tmp_path), window_s=WINDOW_S, alike=True)
    service.write(tmp_path / "runs")
    found = sj.fit(sj.fit.observe_runs([tmp_path / "runs"]), sj.Model.read(tmp_path / "runs/model.toml"))
    for name, truth in (("site_visit_s", SITE_S), ("postgresql_visit_s", DB_S)):
        assert found.estimates[f"parameters.{name}"].value == pytest.approx(truth, rel=0.05)


def test_a_sample_has_the_rates_of_all(tmp_path: Path) -> None:
    """Every second request, of which each says that it was kept with a probability of 1/2 (th:8)."""
    _, service = observe_traces(made(tmp_path, "ot=th:8", 2), window_s=WINDOW_S)
    for window, (story, home) in zip(service.windows, RATES, strict=False):
        assert window.classes["story"].rate_per_s == pytest.approx(story, rel=0.2)
        assert window.classes["home"].rate_per_s == pytest.approx(home, rel=0.2)


def test_a_request_log_has_the_rates_where_it_is_given(tmp_path: Path) -> None:
    paths, log = made(tmp_path), tmp_path / "requests.csv"
    times = [f"{BEGIN_S + k * 0.02:.3f},0.05,story" for k in range(3000)]
    log.write_text("\n".join(["arrival_s,response_s,class", *times]) + "\n")
    _, service = observe_traces([*paths, log], window_s=WINDOW_S)
    assert service.windows[1].classes["story"].rate_per_s == pytest.approx(50.0, rel=0.01)
    log.write_text("\n".join(["arrival_s,response_s,class", *(one.replace("story", "tale") for one in times)]) + "\n")
    with pytest.raises(
        InputError, match="class 'tale'.*name the classes of the request log as the traces do: home, story"
    ):
        observe_traces([*paths, log], window_s=WINDOW_S)
