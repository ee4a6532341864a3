"""The n-tier template on runs made of demands that are known."""

from __future__ import annotations

from pathlib import Path

import pytest
from ntier_runs import FACTORS, TRUE_S, run, runs

from sojourn.errors import FitError, InputError
from sojourn_cases.ntier import ntier_template as template
from sojourn_cases.ntier.ntier_template import CONSTANT, HAND_OVER, TEMPLATE, NtierModel


def test_terms_are_found_again(tmp_path: Path) -> None:
    found = TEMPLATE.fit(runs(), 1, {})
    assert found.best == HAND_OVER and found.why.startswith("fixed demands do not hold: ")
    told = found.first.estimates
    for tier, (full, idle) in TRUE_S.items():
        assert told[f"browse.{tier}.fixed"].value == pytest.approx(full, rel=1e-6)
        assert told[f"browse.{tier}.hand_over"].value == pytest.approx(idle, rel=1e-6)
    found.first.write(tmp_path / "f.toml")
    assert TEMPLATE.read(tmp_path / "f.toml") == found.first


def test_one_core_has_no_client_and_no_background_and_two_cores_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of saturated cores: c, less what the machine does beside, over the sum of the demands there."""
    monkeypatch.setattr(template, "split_cores", lambda n, placement: ([0], [1]) if n == 1 else ([0, 1], [0, 1]))
    model = TEMPLATE.fit(runs(background_cores=0.08), 1, {}).first
    full = {name: value for name, (value, _) in TRUE_S.items()}
    most = {
        cores: model.predict({**FACTORS, "cores": cores, "users": 500}, 0.9).value("saturation_rate")
        for cores in (1, 2)
    }
    assert most[1] == pytest.approx(1 / (sum(full.values()) - full["client"]), rel=1e-6)
    assert most[2] == pytest.approx((2 - 0.08) / sum(full.values()), rel=1e-6)


def test_the_utilisation_that_is_predicted_has_the_demand_that_belongs_to_it() -> None:
    """The utilisation law: U c = X D(U)."""
    model = TEMPLATE.fit(runs(), 1, {}).fitted[HAND_OVER]
    told = model.predict({**FACTORS, "users": 20}, 0.9)
    u, x = told.value("utilisation", "cpu"), told.value("throughput")
    demand_s = sum(full + idle * (1 - u) ** 2 for name, (full, idle) in TRUE_S.items() if name != "client")
    assert u == pytest.approx(x * demand_s, rel=1e-3) and 0.2 < u < 0.6


def test_constant_demands_are_those_of_the_saturated_runs() -> None:
    told = TEMPLATE.fit(runs(noise=0.01), 1, {}).fitted[CONSTANT].estimates
    assert told["browse.application.fixed"].value == pytest.approx(2.1e-3, rel=0.01)
    assert set(told) == {f"browse.{tier}.fixed" for tier in TRUE_S}


def test_runs_that_are_all_as_busy_have_constant_demands() -> None:
    found = TEMPLATE.fit([run(0.97, 0.01, k) for k in range(3)], 1, {})
    assert list(found.fitted) == [CONSTANT] and "all as busy" in found.why


def test_what_cannot_be_fitted_or_predicted_is_refused() -> None:
    with pytest.raises(FitError, match="2 valid runs of mix 'browse'"):
        TEMPLATE.fit([run(0.97), run(0.98)], 1, {})
    with pytest.raises(FitError, match="leave it out"):
        TEMPLATE.fit(runs(), 1, {"level": 1})
    with pytest.raises(InputError, match="pinned = true"):
        TEMPLATE.fit(runs(), 1, {}).first.predict({**FACTORS, "pinned": True}, 0.9)
    with pytest.raises(InputError, match=r"page_work_s = 0; give what was fitted \(0.002\)"):
        TEMPLATE.fit(runs(), 1, {}).first.predict({**FACTORS, "page_work_s": 0.0}, 0.9)
    model = TEMPLATE.fit(runs(), 1, {}).fitted[HAND_OVER]
    assert isinstance(model, NtierModel) and model.knows(FACTORS) and not model.knows({**FACTORS, "mix": "readwrite~3"})
    with pytest.raises(InputError, match="'brows'.*browse"):
        TEMPLATE.fit(runs(), 1, {}).first.predict({**FACTORS, "mix": "brows"}, 0.9)
