"""The model files of the bulletin board: what they say with numbers by hand, and whether numbers that were put in are found again."""

from __future__ import annotations

from pathlib import Path

import pytest
from ntier_runs import run

import sojourn as sj
import sojourn_cases.ntier
from sojourn.errors import FitError
from sojourn.model.unknown_parameters import replaced
from sojourn.runs import MeasuredResource
from sojourn.simulate.simulated_run import as_run
from sojourn_cases.ntier.tier_demands import background_cores

FILES = Path(sojourn_cases.ntier.__file__).parent
PUT_IN = {"browse_s": 0.35e-3, "readwrite_s": 0.6e-3, "hand_over_s": 0.4e-3}
BESIDE = {"client_s": 60e-6, "background": 0.08}


def model(name: str, **numbers: float) -> sj.Model:
    return replaced(
        sj.Model.read(FILES / f"{name}.toml"), {f"parameters.{key}": value for key, value in numbers.items()}
    )


def known(name: str, **numbers: float) -> sj.Model:
    own = {key: value for key, value in PUT_IN.items() if name != "constant" or key != "hand_over_s"}
    return model(name, **own, **BESIDE, **numbers)


@pytest.mark.parametrize("name", ["hand-over", "constant"])
def test_one_core_has_no_client_and_no_background_and_two_cores_have(name: str) -> None:
    """Of saturated cores: c, less what the machine does beside, over the sum of the demands there."""
    tiers_s, client_s = 2e-3 + PUT_IN["browse_s"], BESIDE["client_s"]
    for cores, there, most in (
        (1, 2, 1 / tiers_s),
        (2, 2, (2 - BESIDE["background"]) / (tiers_s + client_s)),
        (2, 3, 2 / tiers_s),
    ):
        full = replaced(known(name, cores=cores, machine_cores=there), {"classes.user.population": 2000})
        assert sj.solve(full).value("throughput") == pytest.approx(most, rel=1e-6)


def test_writes_and_the_work_of_a_page_are_in_the_demand() -> None:
    full = replaced(
        known("constant", page_work_s=0.0005),
        {"classes.user.population": 2000, "parameters.writing.value": "readwrite"},
    )
    assert sj.solve(full).value("throughput") == pytest.approx(1 / (0.5e-3 + PUT_IN["readwrite_s"]), rel=1e-6)


def test_the_demand_falls_with_the_utilisation_that_it_makes() -> None:
    """The utilisation law: U c = X D(U)."""
    told = sj.solve(replaced(known("hand-over"), {"classes.user.population": 20}))
    u, x = told.value("utilisation", "cpu"), told.value("throughput")
    assert u == pytest.approx(x * (2.35e-3 + PUT_IN["hand_over_s"] * (1 - u) ** 2), rel=1e-4) and 0.3 < u < 0.7


def test_what_was_put_in_is_found_again(tmp_path: Path) -> None:
    site = known("hand-over")
    for number, (users, mix) in enumerate((n, m) for n in (5, 15, 30, 60, 120) for m in ("browse", "readwrite")):
        there = replaced(site, {"classes.user.population": users, "parameters.writing.value": mix})
        folder = as_run(there, tmp_path / str(number), until_s=60, seed=number)
        folder.manifest["factors"] |= {"users": users, "mix": mix}
        folder.save()
    fitted = sj.fit(sj.fit.observe_runs([tmp_path]), model("hand-over", **BESIDE), level=0.99)
    for name, value in PUT_IN.items():
        low, high = fitted.estimates[f"parameters.{name}"][1:3]
        assert low <= value <= high and high - low < 0.3e-3
    assert fitted.knows({"users": 7, "mix": "browse", "cores": 2})
    with pytest.raises(FitError, match=r"users = '40\.\.300:20'.*give a whole number"):
        fitted.predict({"users": "40..300:20", "mix": "browse"})
    assert not fitted.knows({"users": 7, "mix": "readwrite~3"}) and not fitted.knows(
        {"users": 7, "mix": "browse", "pinned": True}
    )


def test_what_the_machine_does_beside_tiers_and_client_is_told_by_the_counters_of_the_host() -> None:
    seen = run(0.8, background_cores=0.08)
    parts = [MeasuredResource(1.0, pids=tuple(one["pids"])) for one in seen.manifest["resources"].values() if one]
    assert background_cores(seen, parts) == pytest.approx(0.08, abs=1e-9)
    seen.manifest["simulated"] = True
    assert background_cores(seen, parts) is None
