"""The model files of the web case, through the general fit: on a virtual host whose demands are known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import sojourn as sj
from sojourn.errors import FitError, InputError
from sojourn.fit import FitRuns, with_saturation
from sojourn.fit.fit_runs import FitRun
from sojourn.model.unknown_parameters import unknowns
from sojourn.runs.run_folder import RunFolder
from sojourn.study.fit_templates import ComparedTemplate, RivalModels
from sojourn.study.system import Point
from sojourn.table import Metrics
from sojourn_cases.web.fitted_web import parameters
from sojourn_cases.web.model_files import (
    NAMES,
    TEMPLATE,
    UNKNOWN,
    WebModelsTemplate,
    fit_for,
    known_of_nics,
    model_file,
)
from sojourn_cases.web.web_shop_simulated import WebVirtualOptions, WebVirtualSystem

INTERRUPT_S, PAGE_S = 5e-4, 3e-3
FULL = 1 / (INTERRUPT_S + PAGE_S / 4)  # of the core with interrupts, 1/s: 4 cores, one NIC


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[RunFolder]:
    options = WebVirtualOptions(interrupt_s=INTERRUPT_S, page_s=PAGE_S, crossing_s=2e-4)
    system = WebVirtualSystem(
        options, WebVirtualSystem.load_type.model_validate({"for": 60, "rate_per_s": 300}), Path()
    )
    out, found = tmp_path_factory.mktemp("runs"), []
    with system.open() as session:
        for number, share in enumerate((0.2, 0.35, 0.5, 0.65, 0.8)):
            factors = system.settled({"cores": 4, "nics": 1, "rate_per_s": share * FULL}, "x")
            point = Point("fitted", factors)
            found.append(session.run(point, out / point.name, seed=60 + number))
    return found


def test_demands_of_the_host_are_found_and_two_nics_are_predicted(runs: list[RunFolder], tmp_path: Path) -> None:
    rivals = TEMPLATE.fit(runs, 1, {})
    priority = rivals.fitted["priority"]
    for name, truth in (("interrupt_s", INTERRUPT_S), ("page_s", PAGE_S)):
        found = priority.estimates[name]
        assert found.low <= truth <= found.high and found.value == pytest.approx(truth, rel=0.03)
    point = {**runs[0].manifest["factors"], "nics": 2}
    told = rivals.first.predict(point, 0.9)
    full = 2 / (INTERRUPT_S + PAGE_S / 2)  # m/(S + p A), p = m/n
    assert told.value("saturation_rate") == pytest.approx(full, rel=0.03)
    low, high = told.interval("saturation_rate")
    assert low is not None and high is not None and low <= full <= high
    mmm = rivals.fitted["mmm"].predict(point, 0.9).value("saturation_rate")
    one = rivals.fitted["mmm"].predict(runs[0].manifest["factors"], 0.9).value("saturation_rate")
    assert mmm == one  # which knows no interrupts
    priority.write(tmp_path / "fitted.toml")
    again = TEMPLATE.read(tmp_path / "fitted.toml").predict(point, 0.9)
    assert again.value("response_time") == pytest.approx(priority.predict(point, 0.9).value("response_time"), rel=1e-6)


def test_what_is_refused(runs: list[RunFolder]) -> None:
    with pytest.raises(InputError, match="variants"):
        TEMPLATE.fit(runs, 1, {"variants": ["fair"]})
    with pytest.raises(InputError, match="give variants, group_by, unknown"):
        TEMPLATE.fit(runs, 1, {"group": "cores"})
    with pytest.raises(InputError, match="unknown: .* give some of handoff_s, page_scv, saved"):
        TEMPLATE.fit(runs, 1, {"unknown": ["speed"]})
    with pytest.raises(FitError, match="no run at a known rate"):
        TEMPLATE.fit([], 1, {})


def test_every_file_is_a_model_by_its_name() -> None:
    assert [model_file(name).name for name in NAMES] == list(NAMES)


def law_runs(cores: int, nics: int, interrupts: bool = True) -> FitRuns:
    """As the priority variant has them: response times by its law, busy cores by the utilisation law."""
    runs = []
    for rate in (100.0, 200.0, 300.0, 400.0, 500.0):
        soft = INTERRUPT_S if interrupts else 0.0
        told = sj.two_class(
            rate,
            mu1_per_s=1 / soft if soft else math.inf,
            mu2_per_s=2 / PAGE_S,
            cores=cores,
            nics=nics,
            variant="priority",
        )
        means = {("", "response_time"): (told.value("response_time"), 0.01), ("", "throughput"): (rate, 0.005)}
        busy = {"leading": rate * (soft + nics / cores * PAGE_S / 2), "leading interrupts": rate * soft}
        factors = {"cores": cores, "nics": nics, "rate_per_s": rate}
        runs.append(FitRun(f"rate-{rate:g}", factors, means, {name: value for name, value in busy.items() if value}))
    return FitRuns(runs)


def test_where_every_core_takes_interrupts_the_delay_is_that_of_all_requests() -> None:
    runs = law_runs(2, 2)
    fitted = sj.fit(runs, fit_for(model_file("priority"), runs), draws=20)
    assert "stations.cpu.crossing_s" not in fitted.paths
    assert fitted.estimates["stations.cpu.handoff_s"].value < 1e-5
    assert fitted.estimates["service_s.cpu.user"].value == pytest.approx(PAGE_S / 2, rel=0.01)


def test_interrupts_that_nobody_measured_cost_nothing() -> None:
    runs = law_runs(1, 1, interrupts=False)
    fitted = sj.fit(runs, fit_for(model_file("priority"), runs), draws=20)
    assert set(fitted.paths) == {"stations.cpu.handoff_s", "service_s.cpu.user"}
    assert fitted.estimates["service_s.cpu.user"].value == pytest.approx(PAGE_S / 2, rel=0.01)


@pytest.mark.parametrize("scv", [0.0, 0.5])
def test_a_delay_and_the_variance_of_a_page_are_found_where_asked_for(scv: float) -> None:
    """One core without interrupts is M/G/1: T = A + l A² (1 + scv) / 2 (1 - l A) (Pollaczek and Khinchine: Kleinrock, Queueing Systems 1,
    1975, p. 187), here with a delay of 2 ms behind it."""
    runs, page_s, delay_s = [], 1e-3, 2e-3
    for rate in (100.0, 250.0, 400.0, 550.0, 700.0, 800.0):
        mean_s = delay_s + page_s + rate * page_s**2 * (1 + scv) / 2 / (1 - rate * page_s)
        means = {("", "response_time"): (mean_s, 0.01), ("", "throughput"): (rate, 0.005)}
        runs.append(FitRun(f"{rate:g}", {"cores": 1, "nics": 1, "rate_per_s": rate}, means, {"leading": rate * page_s}))
    seen = FitRuns(runs)
    fitted = sj.fit(seen, fit_for(model_file("priority"), seen, unknown=UNKNOWN[:2]), draws=20)
    found = parameters(fitted)
    assert set(found) == {"page_s", "page_scv", "handoff_s"}
    assert found["page_s"].value == pytest.approx(page_s, rel=0.01)
    assert found["page_scv"].value == pytest.approx(scv, abs=0.05)
    assert found["handoff_s"].value == pytest.approx(delay_s, rel=0.03)
    shared = fit_for(model_file("shared"), seen, unknown=UNKNOWN[:2])
    assert set(unknowns(shared)) == {"stations.cpu.handoff_s", "service_s.cpu.user"}, "exponential"


def test_times_that_fall_with_the_load_need_the_saturation_rate(tmp_path: Path) -> None:
    """One core, M/D/1 (Kleinrock, as above) with A (1 + saved (1 - l A)²): the closed loop says what A is."""
    page_s, delay_s, saved, runs = 1.6e-3, 2e-3, 0.4, []
    for share in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75):
        rate, own_s = share / page_s, page_s * (1 + saved * (1 - share) ** 2)
        mean_s = delay_s + own_s + rate * own_s**2 / 2 / (1 - rate * own_s)
        means = {("", "response_time"): (mean_s, 0.01), ("", "throughput"): (rate, 0.005)}
        factors = {"cores": 1, "nics": 1, "rate_per_s": rate}
        runs.append(FitRun(f"{rate:g}", factors, means, {"leading": rate * own_s}))
    said = {
        "factors": {"cores": 1, "nics": 1, "users": 16},
        "resources": {},
        "valid": True,
        "status": "complete",
        "reasons": [],
    }
    closed = RunFolder.create(tmp_path / "full", said)
    Metrics.of([{"metric": "throughput", "value": 1 / page_s}], "measured", "ok", "").write(
        closed.path / "metrics.parquet"
    )
    seen = with_saturation(FitRuns(runs), [closed])
    fitted = sj.fit(seen, fit_for(model_file("priority"), seen, unknown=UNKNOWN), draws=60)
    found = parameters(fitted)
    assert found["page_s"].value == pytest.approx(page_s, rel=0.02)
    assert found["saved"].value == pytest.approx(saved, abs=0.05)
    rate = fitted.predict({"cores": 1, "nics": 1, "rate_per_s": 300.0}, 0.9)
    assert rate.value("saturation_rate") == pytest.approx(1 / page_s, rel=0.02)
    assert TEMPLATE.takes_saturation({"unknown": ["saved"]}) and not TEMPLATE.takes_saturation({})


def test_saved_is_left_out_without_the_saturation_rate_and_that_is_told(runs: list[RunFolder]) -> None:
    found = TEMPLATE.fit(runs, 1, {"unknown": ["saved"], "variants": ["priority"]})
    assert "saved" not in found.fitted["priority"].estimates
    assert any(line.startswith("saved is left out: no valid run told the saturation rate") for line in found.notes)


def test_models_beside_others_get_no_closed_loops(runs: list[RunFolder], tmp_path: Path) -> None:
    """Their own models ask for them (`saved`); M/M/m beside them does not, and would take them for one more load."""
    closed = RunFolder.create(tmp_path / "full", {**runs[0].manifest, "section": "saturation", "configuration": "full"})
    seen: dict[str, list[str]] = {}

    class RunRecordingTemplate(WebModelsTemplate):
        def __init__(self, name: str) -> None:
            self.name = name

        def fit(self, runs: list[RunFolder], seed: int, options: Mapping[str, Any]) -> RivalModels:
            seen[self.name] = [run.path.name for run in runs]
            return RivalModels({self.name: None}, self.name, "", ())  # type: ignore[dict-item]

    both = ComparedTemplate(RunRecordingTemplate("own"), RunRecordingTemplate("other"))
    assert both.takes_saturation({"unknown": ["saved"]}) and not both.takes_saturation({})
    both.fit([*runs[:2], closed], 1, {"unknown": ["saved"]})
    names = [run.path.name for run in runs[:2]]
    assert seen == {"own": [*names, "full"], "other": names}


def test_what_the_client_takes_is_given() -> None:
    model = fit_for(model_file("shared"), law_runs(2, 1), client_s=4e-5)
    assert model.stations[0].client_s == 4e-5  # type: ignore[attr-defined]


def test_the_error_of_the_models_does_not_grow_with_nics_that_no_run_had() -> None:
    """What is believed of any factor that was not varied makes an interval wider; what is known of this one does not."""
    runs = law_runs(4, 1)
    fitted = sj.fit(runs, fit_for(model_file("shared"), runs), draws=60)
    widths = []
    for model in (fitted, known_of_nics(fitted)):
        low, high = model.predict({"cores": 4, "nics": 2, "rate_per_s": 300.0}, 0.9).interval("saturation_rate")
        assert low is not None and high is not None
        widths.append(high / low)
    assert widths[1] < widths[0]
    assert known_of_nics(fitted).demand_error_growth["nics"] == (0.0,) * 60
